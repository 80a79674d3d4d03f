package bindings

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

// powerOf estimates the exponent p of generalised Gaussian noise from the residuals x.
// parts are the fractions of the residual variances that remain after a fit (absent:
// all 1). The report has p, p_error (null if unknown) and scale.
func powerOf(in *input) work {
	e, parts := in.residuals()
	return func(*job) (*outcome, error) {
		power, err := losses.EstimatePower(e.X, parts)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", err, framework.ErrInvalid)
		}
		report := map[string]any{"p": power.P, "p_error": power.PError, "scale": power.Scale}
		if math.IsInf(power.PError, 0) {
			report["p_error"] = nil
		}
		return &outcome{report: report}, nil
	}
}

// choiceOf chooses a loss from the residuals x of a fit with d latent coordinates per row. parts has
// the meaning that it has in powerOf. The report has loss (name and params), decided and reason.
func choiceOf(in *input) work {
	var s struct {
		Latent int `json:"d"`
	}
	in.decode(&s)
	e, parts := in.residuals()
	return func(*job) (*outcome, error) {
		c, err := losses.Choose(e.X, parts, e.D, s.Latent)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", err, framework.ErrInvalid)
		}
		loss := scqm.LossMeta{Name: c.Loss.Name(), Params: paramsOf(c.Loss)}
		return &outcome{report: map[string]any{"loss": loss, "decided": c.Decided, "reason": c.Reason}}, nil
	}
}

// residuals returns the rows x and the array parts of the same shape, or nil if parts is absent.
func (in *input) residuals() (e scqm.Data, parts []float64) {
	e = in.data()
	parts, _ = in.optional("parts", e.N, e.D)
	return e, parts
}
