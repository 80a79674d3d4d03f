package bindings

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	datarows "github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm"
)

// influenceColumns is the number of columns that [StartInfluence] writes: move,
// residual, residual without the row, and leverage.
const influenceColumns = 4

// influenceSettings are the settings of [StartInfluence].
type influenceSettings struct {
	savedModel
	// Single says that rows are of float32, for [StartResponses].
	Single bool `json:"single"`
	// First is the number of the first row, for [StartResponses].
	First int `json:"first"`
}

// StartInfluence begins to compute how much each row of x drives a fit. The
// settings are those of [StartSave], and parts is as there; x holds the rows, with
// one weight per row at weights (0: all 1), that the model was fitted to. out
// receives the numbers, one row of 4 for each row of x; [InfluenceReport] has the
// rest. It returns 1.
func StartInfluence(number int64, settings string, parts, x uint64, rows int64, weights, out uint64) (int64, error) {
	return guarded("influence", func() (int64, error) {
		w, err := newInfluenceWork(settings, parts)
		if err != nil {
			return 0, err
		}
		data, err := readData(x, rows, w.D, weights)
		if err != nil {
			return 0, err
		}
		if err := w.writeTo(out, rows); err != nil {
			return 0, err
		}
		return start(number, "influence", func(j *job) (any, error) {
			m, err := w.withLoss(j, w.parts)
			if err != nil {
				return nil, err
			}
			influence, err := m.Influence(j.ctx, data, w.Threads)
			if err != nil {
				return nil, err
			}
			return influence, w.take(0, influence.Rows)
		})
	})
}

// StartResponse begins to find how a fit answers to single rows that are left out, from
// rows x columns numbers that Python can sum over, by questions as those of [StartStream].
// The settings and parts are those of [StartSave]. [ResultBytes] has what [StartResponses]
// takes, and [ResponseRemaining] a number of it. It returns 1.
func StartResponse(number int64, settings string, parts uint64, rows, columns int64) (int64, error) {
	return guarded("influence", func() (int64, error) {
		w, err := newInfluenceWork(settings, parts)
		if err != nil {
			return 0, err
		}
		if _, err := product("shape", rows, columns); err != nil {
			return 0, err
		}
		return start(number, "influence", func(j *job) (any, error) {
			m, err := w.withLoss(j, w.parts)
			if err != nil {
				return nil, err
			}
			r, err := m.ResponseFrom(j.ctx, &pythonEngine{job: j, rows: int(rows), columns: int(columns)})
			if err != nil {
				return nil, err
			}
			return r.MarshalBinary()
		})
	})
}

// ResponseRemaining is remaining of scqm.Response, from its bytes.
func ResponseRemaining(response uint64, length int64) (float64, error) {
	var remaining float64
	_, err := guarded("influence", func() (int64, error) {
		b, err := readBytes("response", response, length)
		if err != nil {
			return 0, err
		}
		remaining, err = scqm.ResponseRemaining(b)
		return 1, err
	})
	return remaining, err
}

// StartResponses begins to compute the influences of some rows of a fit, by the bytes of
// a response. The other arguments are those of [StartInfluence]; rows may be of float32.
// It returns 1.
func StartResponses(number int64, settings string, parts, response uint64, length int64, x uint64, rows int64, weights, out uint64) (int64, error) {
	return guarded("influence", func() (int64, error) {
		w, err := readInfluence(settings, parts, x, rows, weights, out)
		if err != nil {
			return 0, err
		}
		b, err := readBytes("response", response, length)
		if err != nil {
			return 0, err
		}
		return start(number, "influence", func(j *job) (any, error) {
			m, err := w.withLoss(j, w.parts)
			if err != nil {
				return nil, err
			}
			r, err := m.ReadResponse(j.ctx, b)
			if err != nil {
				return nil, err
			}
			_, err = r.LeaveOut(j.ctx, w.rows, w.First, threads(w.Threads), w.take)
			return nil, err
		})
	})
}

// influenceWork is what the influences of rows are computed from, and where they go.
type influenceWork struct {
	influenceSettings
	parts []uint64
	rows  datarows.Source
	to    []float64
}

func newInfluenceWork(settings string, parts uint64) (*influenceWork, error) {
	w := &influenceWork{}
	if err := decode(settings, &w.influenceSettings); err != nil {
		return nil, err
	}
	addresses, err := addressList("parts", parts, modelArrays)
	w.parts = append(w.parts, addresses...)
	return w, err
}

// writeTo says where as many influences go.
func (w *influenceWork) writeTo(out uint64, entries int64) error {
	n, err := product("out", entries, influenceColumns)
	if err == nil {
		w.to, err = view("out", out, n)
	}
	return err
}

// readInfluence is the work on rows that are read block by block.
func readInfluence(settings string, parts, x uint64, rows int64, weights, out uint64) (*influenceWork, error) {
	w, err := newInfluenceWork(settings, parts)
	if err != nil {
		return nil, err
	}
	if rows < 1 || w.D < 1 || rows > math.MaxInt64/w.D {
		return nil, fmt.Errorf("%d x %d rows: %w", rows, w.D, framework.ErrInvalid)
	}
	p := &part{n: int(rows), d: int(w.D)}
	single := uint64(0)
	if w.Single {
		single = 1
	}
	if err := p.append([chunkNumbers]uint64{x, uint64(rows), weights, single, 0}); err != nil {
		return nil, err
	}
	w.rows = p.source()
	return w, w.writeTo(out, rows)
}

// take writes influences from a row of the fit on.
func (w *influenceWork) take(first int, list []scqm.RowInfluence) error {
	for i, r := range list {
		copy(w.to[influenceColumns*(first-w.First+i):], []float64{r.Move, r.Residual, r.Without, r.Leverage})
	}
	return nil
}

// InfluenceReport describes the result of such a job as a JSON object:
// remaining, rounding and notes of scqm.Influence.
func InfluenceReport(number int64) (string, error) {
	return onResult("influence report", number, func(o *scqm.Influence) (string, error) {
		return encode(struct {
			Remaining float64  `json:"remaining"`
			Rounding  float64  `json:"rounding"`
			Notes     []string `json:"notes"`
		}{o.Remaining, o.Rounding, append([]string{}, o.Notes...)})
	})
}
