package bindings

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
)

// savedModel is a model with what a file says about it, if Meta is there.
type savedModel struct {
	modelSettings
	Meta json.RawMessage `json:"meta"`
	Rows int64           `json:"rows"`
	// Hidden is the part of the entries that the act hidden hides, Seed that of their order.
	Hidden float64 `json:"hidden"`
	Seed   uint64  `json:"seed"`
}

// StartSave begins to write a model file. The settings are those of [StartMap],
// rows (of tau) and meta, the report of the fit; parts is as there. It returns 1.
func StartSave(number int64, path, settings string, parts uint64) (int64, error) {
	return guarded("save", func() (int64, error) {
		var s savedModel
		if err := decode(settings, &s); err != nil {
			return 0, err
		}
		addresses, err := addressList("parts", parts, modelArrays)
		if err != nil {
			return 0, err
		}
		addresses = append([]uint64(nil), addresses...)
		return start(number, "save", func(j *job) (any, error) {
			m, err := s.model(j, addresses)
			if err != nil {
				return nil, err
			}
			err = m.Save(path)
			if err != nil && !errors.Is(err, scqm.ErrInput) {
				err = fileError{err}
			}
			return nil, err
		})
	})
}

func (s savedModel) model(j *job, parts []uint64) (*scqm.Model, error) {
	if s.Loss.elsewhere() {
		j = nil // the file names the loss; nothing of it is stored
	}
	return s.withLoss(j, parts)
}

// withLoss puts the model together with the loss, where job is not nil.
func (s savedModel) withLoss(j *job, parts []uint64) (*scqm.Model, error) {
	m, err := s.build(j, parts, s.Rows)
	if err != nil || s.Meta == nil {
		return m, err
	}
	if err := json.Unmarshal(s.Meta, &m.Meta); err != nil {
		return nil, fmt.Errorf("meta: %w: %w", err, framework.ErrInvalid)
	}
	return m, nil
}

// StartLoad begins to read a model file; [FitReport], [FitArrays] and
// [LoadedPrecision] have the result. It returns 1.
func StartLoad(number int64, path string) (int64, error) {
	return guarded("load", func() (int64, error) {
		return start(number, "load", func(*job) (any, error) {
			m, err := scqm.Load(path)
			if err != nil {
				return nil, err
			}
			return &scqm.Fit{Model: m}, nil
		})
	})
}

// LoadedPrecision copies the matrix of the loss of a model, D x D, to the
// destination and returns 1, or returns 0 where the loss has none.
func LoadedPrecision(number int64, precision uint64) (int64, error) {
	return onResult("precision", number, func(fit *scqm.Fit) (int64, error) {
		q, ok := fit.Model.Loss.(framework.Quadratic)
		if !ok {
			return 0, nil
		}
		return 1, deliver("precision", precision, q.Matrix())
	})
}
