package bindings

import (
	"errors"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/mean"
	"github.com/scqm/scqm/models/scqm"
)

// meanSettings are the settings of meanOf.
type meanSettings struct {
	Loss    lossChoice `json:"loss"`
	Threads int        `json:"threads"`
}

// meanOf computes the mean c of data under a loss, whose precision may be an array. If the loss allows
// it, the array influence, of the shape of x, says how the mean moves when each row is omitted. The
// report has objective, status, the loss parameters, the length over which kinks were smoothed for the
// influence (0: none), and a note if there is no influence.
func meanOf(in *input) work {
	var s meanSettings
	in.decode(&s)
	in.loss(&s.Loss)
	data := in.data()
	return func(j *job) (*outcome, error) {
		loss, err := s.loss(j, data)
		if err != nil {
			return nil, err
		}
		m, err := mean.Of(j.ctx, data, mean.Config{Loss: loss, Threads: s.Threads})
		if err != nil {
			return nil, err
		}
		if m.Run.Status == framework.Cancelled {
			return nil, j.ctx.Err()
		}
		return s.outcome(j, m, data)
	}
}

// loss returns the loss. It chooses a missing width from the rows.
func (s meanSettings) loss(j *job, data scqm.Data) (framework.Loss, error) {
	if s.Loss.asksData() && s.Loss.Name != huberEntries {
		return mean.DefaultLoss(j.ctx, s.Loss.Name, data, s.Threads)
	}
	return s.Loss.buildFor(j, data, scqm.Config{Latent: 1})
}

func (s meanSettings) outcome(j *job, m *mean.Mean, data scqm.Data) (*outcome, error) {
	report := map[string]any{"objective": m.Objective, "status": m.Run.Status.String(), "params": paramsOf(m.Loss), "rounding": 0, "note": ""}
	arrays := map[string][]float64{"c": m.C}
	answer, err := m.Sensitivity(j.ctx, data, s.Threads)
	switch {
	case errors.Is(err, mean.ErrNoCurvature) || errors.Is(err, scqm.ErrInput):
		report["note"] = err.Error()
	case err != nil:
		return nil, err
	default:
		report["rounding"] = answer.Rounding
		if arrays["influence"], err = answer.Influence(); err != nil {
			return nil, err
		}
	}
	return &outcome{report: report, arrays: arrays}, nil
}
