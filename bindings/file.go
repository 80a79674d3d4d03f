package bindings

import (
	"errors"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
)

// saveOf writes a model with its meta to the file path.
func saveOf(in *input) work {
	var s struct {
		modelSettings
		Path string `json:"path"`
	}
	in.decode(&s)
	m := in.model(&s.modelSettings)
	return func(j *job) (_ *outcome, err error) {
		if !s.Loss.elsewhere() { // the file stores only the name of a Python or plugin loss
			if m.Loss, err = s.Loss.build(j); err != nil {
				return nil, err
			}
		}
		if err = m.Save(s.Path); err != nil && !errors.Is(err, scqm.ErrInput) {
			err = fileError{err}
		}
		return &outcome{}, err
	}
}

// loadOf reads a model from the file path. The outcome has the form of a fit. It
// includes the precision matrix of the loss, if any.
func loadOf(in *input) work {
	var s struct {
		Path string `json:"path"`
	}
	in.decode(&s)
	return func(*job) (*outcome, error) {
		m, err := scqm.Load(s.Path)
		if err != nil {
			return nil, err
		}
		o := fitted(&scqm.Fit{Model: m})
		if q, ok := m.Loss.(framework.Quadratic); ok {
			o.arrays["precision"] = q.Matrix()
		}
		return o, nil
	}
}
