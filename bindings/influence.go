package bindings

import (
	"github.com/scqm/scqm/models/scqm"
)

// influenceOf computes the influence of each row of data on the fit, with its meta, to
// that data. The columns of out are move, residual, residual without the row, and
// leverage. The report has the fields remaining, rounding and notes of scqm.Influence.
func influenceOf(in *input) work {
	var s modelSettings
	in.decode(&s)
	m, data := in.model(&s), in.data()
	return func(j *job) (_ *outcome, err error) {
		if m.Loss, err = s.Loss.build(j); err != nil {
			return nil, err
		}
		found, err := m.Influence(j.ctx, data, s.Threads)
		if err != nil {
			return nil, err
		}
		report := map[string]any{"remaining": found.Remaining, "rounding": found.Rounding, "notes": append([]string{}, found.Notes...)}
		return &outcome{report: report, arrays: map[string][]float64{"out": influences(nil, found.Rows)}}, nil
	}
}

// influences appends the columns that influenceOf returns for rows.
func influences(to []float64, rows []scqm.RowInfluence) []float64 {
	for _, r := range rows {
		to = append(to, r.Move, r.Residual, r.Without, r.Leverage)
	}
	return to
}

// responseOf computes the data needed to find how a fit, with its meta, changes when one row is
// omitted. Python sums over the rows and answers questions like those of streamOf. The bytes are the
// input of responsesOf, and the report is the field remaining of scqm.Response.
func responseOf(in *input) work {
	var s struct {
		modelSettings
		tableSettings
	}
	in.decode(&s)
	m := in.model(&s.modelSettings)
	return func(j *job) (_ *outcome, err error) {
		if m.Loss, err = s.Loss.build(j); err != nil {
			return nil, err
		}
		r, err := m.ResponseFrom(j.ctx, &pythonEngine{j, s.tableSettings})
		if err != nil {
			return nil, err
		}
		b, err := r.MarshalBinary()
		return &outcome{report: r.Remaining, bytes: b}, err
	}
}

// responsesOf computes the influences of some rows of a fit, with its meta, from response, the bytes
// that responseOf returned. out has the columns that influenceOf returns.
func responsesOf(in *input) work {
	var s struct {
		modelSettings
		First int `json:"first"`
	}
	in.decode(&s)
	m := in.model(&s.modelSettings)
	p := in.part()
	response := in.bytes("response")
	return func(j *job) (_ *outcome, err error) {
		if m.Loss, err = s.Loss.build(j); err != nil {
			return nil, err
		}
		r, err := m.ReadResponse(j.ctx, response)
		if err != nil {
			return nil, err
		}
		out := make([]float64, 4*p.n)
		_, err = r.LeaveOut(j.ctx, p.source(), s.First, threads(s.Threads), func(at int, rows []scqm.RowInfluence) error {
			copy(out[4*(at-s.First):], influences(nil, rows))
			return nil
		})
		return &outcome{arrays: map[string][]float64{"out": out}}, err
	}
}
