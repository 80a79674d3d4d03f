package bindings

import (
	"errors"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
)

// saveOf writes a model to the file path, with meta.
func saveOf(in *input) work {
	var s struct {
		modelSettings
		Path string `json:"path"`
	}
	in.decode(&s)
	m := in.model(&s.modelSettings)
	return func(j *job) (_ *outcome, err error) {
		if !s.Loss.elsewhere() { // else the file names it; nothing of it is stored
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

// loadOf reads a model from the file path. The outcome is that of a fit, with the precision of its
// loss where it has one.
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
