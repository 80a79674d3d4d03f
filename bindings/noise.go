package bindings

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

// StartPower begins to estimate the power of generalised Gaussian noise from
// count residuals, with the parts of their variances that a fit has left at parts
// (0: all 1); [NoiseReport] has the outcome. It returns 1.
func StartPower(number int64, residuals uint64, count int64, parts uint64) (int64, error) {
	return guarded("estimate power", func() (int64, error) {
		e, h, err := readResiduals(residuals, parts, count)
		if err != nil {
			return 0, err
		}
		return start(number, "estimate power", func(*job) (any, error) {
			power, err := losses.EstimatePower(e, h)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", err, framework.ErrInvalid)
			}
			r := powerReport{P: power.P, Scale: power.Scale}
			if !math.IsInf(power.PError, 0) {
				r.PError = &power.PError
			}
			return r, nil
		})
	})
}

// powerReport is what [NoiseReport] says of [StartPower].
type powerReport struct {
	P      float64  `json:"p"`
	PError *float64 `json:"p_error"` // nil where it is not known
	Scale  float64  `json:"scale"`
}

// StartChoice begins to choose a loss by residuals, rows x columns, of a fit with
// d latent coordinates for each row, with parts as in [StartPower]. [NoiseReport]
// has the outcome. It returns 1.
func StartChoice(number int64, residuals uint64, rows, columns, d int64, parts uint64) (int64, error) {
	return guarded("choose loss", func() (int64, error) {
		count, err := product("residuals", rows, columns)
		if err != nil {
			return 0, err
		}
		e, h, err := readResiduals(residuals, parts, int64(count))
		if err != nil {
			return 0, err
		}
		return start(number, "choose loss", func(*job) (any, error) {
			c, err := losses.Choose(e, h, int(columns), int(d))
			if err != nil {
				return nil, fmt.Errorf("%w: %w", err, framework.ErrInvalid)
			}
			r := choiceReport{Decided: c.Decided, Reason: c.Reason}
			r.Loss.Name = c.Loss.Name()
			if p, ok := c.Loss.(rowloss.Parametric); ok {
				r.Loss.Params = p.Params()
			}
			return r, nil
		})
	})
}

// choiceReport is what [NoiseReport] says of [StartChoice].
type choiceReport struct {
	Loss    scqm.LossMeta `json:"loss"`
	Decided bool          `json:"decided"`
	Reason  string        `json:"reason"`
}

// NoiseReport is the outcome of [StartPower], a JSON object with the entries p,
// p_error (null where it is not known) and scale, or of [StartChoice], one with
// the entries loss (name and params), decided and reason.
func NoiseReport(number int64) (string, error) {
	return withJob("noise report", number, func(j *job) (string, error) {
		if r, err := resultOf[powerReport](j); err == nil {
			return encode(r)
		}
		r, err := resultOf[choiceReport](j)
		if err != nil {
			return "", err
		}
		return encode(r)
	})
}

func readResiduals(residuals, parts uint64, count int64) (e, h []float64, err error) {
	n, err := product("residuals", count)
	if err != nil {
		return nil, nil, err
	}
	if e, err = view("residuals", residuals, n); err != nil {
		return nil, nil, err
	}
	h, err = optionalView("parts", parts, n)
	return e, h, err
}
