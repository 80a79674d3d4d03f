package bindings

import (
	"github.com/scqm/scqm/models/scqm"
)

// influenceColumns is the number of columns that [StartInfluence] writes: move,
// residual, residual without the row, and leverage.
const influenceColumns = 4

// influenceSettings are the settings of [StartInfluence].
type influenceSettings struct {
	savedModel
	// LeftOut lists rows to be left out by fitting anew; nil stands for all rows,
	// without.
	LeftOut []int `json:"left_out"`
}

// StartInfluence begins to compute how much each row of x drives a fit. The
// settings are those of [StartSave], and parts is as there; x holds the rows, with
// one weight per row at weights (0: all 1), that the model was fitted to. out
// receives the numbers, one row of 4 for each row of x; [InfluenceReport] has the
// rest. With the setting left_out, a list of rows, it fits anew without each of
// these, and out receives a row for each. It returns 1.
func StartInfluence(number int64, settings string, parts, x uint64, rows int64, weights, out uint64) (int64, error) {
	return guarded("influence", func() (int64, error) {
		var s influenceSettings
		if err := decode(settings, &s); err != nil {
			return 0, err
		}
		addresses, err := addressList("parts", parts, modelArrays)
		if err != nil {
			return 0, err
		}
		data, err := readData(x, rows, s.D, weights)
		if err != nil {
			return 0, err
		}
		entries := rows
		if s.LeftOut != nil {
			entries = int64(len(s.LeftOut))
		}
		n, err := product("out", entries, influenceColumns)
		if err != nil {
			return 0, err
		}
		to, err := view("out", out, n)
		if err != nil {
			return 0, err
		}
		addresses = append([]uint64(nil), addresses...)
		return start(number, "influence", func(j *job) (any, error) {
			m, err := s.withLoss(j, addresses)
			if err != nil {
				return nil, err
			}
			influence := &scqm.Influence{}
			if s.LeftOut == nil {
				influence, err = m.Influence(j.ctx, data, s.Threads)
			} else {
				influence.Rows, err = m.LeaveOut(j.ctx, data, s.LeftOut, s.Threads)
			}
			if err != nil {
				return nil, err
			}
			for i, r := range influence.Rows {
				copy(to[influenceColumns*i:], []float64{r.Move, r.Residual, r.Without, r.Leverage})
			}
			return influence, nil
		})
	})
}

// InfluenceReport describes the result of such a job as a JSON object:
// remaining, rounding and notes of scqm.Influence.
func InfluenceReport(number int64) (string, error) {
	return withJob("influence report", number, func(j *job) (string, error) {
		o, err := resultOf[*scqm.Influence](j)
		if err != nil {
			return "", err
		}
		return encode(struct {
			Remaining float64  `json:"remaining"`
			Rounding  float64  `json:"rounding"`
			Notes     []string `json:"notes"`
		}{o.Remaining, o.Rounding, append([]string{}, o.Notes...)})
	})
}
