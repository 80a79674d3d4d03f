package bindings

import (
	"errors"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/mean"
	"github.com/scqm/scqm/models/scqm"
)

// meanSettings are the settings of [StartMean].
type meanSettings struct {
	Loss    lossChoice `json:"loss"`
	Threads int        `json:"threads"`
}

// meanInput is what a job on a mean is given: the rows, and where their mean and
// its moves go.
type meanInput struct {
	meanSettings
	data          scqm.Data
	center, moves []float64
}

// meanResult is the result of a job that computed a mean.
type meanResult struct {
	*mean.Mean
	rounding float64
	note     string // why there is no influence
}

// StartMean begins to compute the mean of the rows x under a loss, with one
// weight per row at weights (0: all 1) and the precision matrix of the loss at
// precision (0: none). The destination c receives the mean, and influence, of the
// shape of x, how the mean moves when each row is left out, where the loss tells;
// [MeanReport] says the rest. It returns 1.
func StartMean(number int64, settings string, x uint64, rows, columns int64, weights, precision, c, influence uint64) (int64, error) {
	return guarded("mean", func() (int64, error) {
		var s meanInput
		if err := decode(settings, &s.meanSettings); err != nil {
			return 0, err
		}
		var err error
		if s.data, err = readData(x, rows, columns, weights); err != nil {
			return 0, err
		}
		if s.center, err = view("c", c, s.data.D); err != nil {
			return 0, err
		}
		if s.moves, err = view("influence", influence, len(s.data.X)); err != nil {
			return 0, err
		}
		return start(number, "mean", func(j *job) (any, error) {
			loss, err := s.loss(j, precision)
			if err != nil {
				return nil, err
			}
			return s.compute(j, loss)
		})
	})
}

// loss makes the loss; a width that is left out is taken from the rows.
func (s meanInput) loss(j *job, precision uint64) (framework.Loss, error) {
	if s.Loss.asksData() && s.Loss.Name != huberEntries {
		return mean.DefaultLoss(j.ctx, s.Loss.Name, s.data, s.Threads)
	}
	return s.Loss.buildFor(j, precision, s.data, scqm.Config{Latent: 1})
}

func (s meanInput) compute(j *job, loss framework.Loss) (*meanResult, error) {
	m, err := mean.Of(j.ctx, s.data, mean.Config{Loss: loss, Threads: s.Threads})
	if err != nil {
		return nil, err
	}
	if m.Run.Status == framework.Cancelled {
		return nil, j.ctx.Err()
	}
	copy(s.center, m.C)
	found := &meanResult{Mean: m}
	answer, err := m.Sensitivity(j.ctx, s.data, s.Threads)
	if errors.Is(err, mean.ErrNoCurvature) || errors.Is(err, scqm.ErrInput) {
		found.note = err.Error()
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	found.rounding = answer.Rounding
	influence, err := answer.Influence()
	copy(s.moves, influence)
	return found, err
}

// MeanReport describes the result of such a job as a JSON object: objective,
// status, message, iterations, the parameters of the loss, the length over which
// kinks were rounded for the influence (0: not at all), and a note where there
// is no influence.
func MeanReport(number int64) (string, error) {
	return onResult("mean report", number, func(m *meanResult) (string, error) {
		params := map[string]float64{}
		if l, ok := m.Loss.(rowloss.Parametric); ok {
			params = l.Params()
		}
		return encode(struct {
			Objective  float64            `json:"objective"`
			Status     string             `json:"status"`
			Message    string             `json:"message"`
			Iterations int                `json:"iterations"`
			Params     map[string]float64 `json:"params"`
			Rounding   float64            `json:"rounding"`
			Note       string             `json:"note"`
		}{m.Objective, m.Run.Status.String(), m.Run.Message, m.Run.Iterations, params, m.rounding, m.note})
	})
}
