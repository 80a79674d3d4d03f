package bindings

import (
	"strings"

	"github.com/scqm/scqm/models/page"
)

// pageOf returns, as the report, the HTML page that models/page makes of a fit, with its meta, and the rows x.
func pageOf(in *input) work {
	var s struct {
		modelSettings
		Page page.Config `json:"page"`
	}
	in.decode(&s)
	m, x := in.model(&s.modelSettings), in.data()
	return func(j *job) (_ *outcome, err error) {
		if m.Loss, err = s.Loss.build(j); err != nil {
			return nil, err
		}
		x.Missing = m.Meta.Missing != nil
		s.Page.Threads = threads(s.Threads)
		var text strings.Builder
		err = page.Write(j.ctx, &text, m, x, s.Page)
		return &outcome{report: text.String()}, err
	}
}
