package bindings

import (
	"strings"

	"github.com/scqm/scqm/models/page"
)

// StartReport begins to write the page of models/page on a fit and rows x. The settings are those of [StartSave]
// and, at page, those of page.Config; parts is as there. [ReportPage] has the page. It returns 1.
func StartReport(number int64, settings string, parts, x uint64, rows int64) (int64, error) {
	return guarded("report", func() (int64, error) {
		var s struct {
			savedModel
			Page page.Config `json:"page"`
		}
		if err := decode(settings, &s); err != nil {
			return 0, err
		}
		addresses, err := addressList("parts", parts, modelArrays)
		if err != nil {
			return 0, err
		}
		data, err := readData(x, rows, s.D, 0)
		if err != nil {
			return 0, err
		}
		addresses = append([]uint64(nil), addresses...)
		return start(number, "report", func(j *job) (any, error) {
			m, err := s.withLoss(j, addresses)
			if err != nil {
				return nil, err
			}
			data := data
			data.Missing = m.Meta.Missing != nil
			s.Page.Threads = threads(s.Threads)
			var text strings.Builder
			return &text, page.Write(j.ctx, &text, m, data, s.Page)
		})
	})
}

// ReportPage is the page of such a job.
func ReportPage(number int64) (string, error) {
	return onResult("report page", number, func(text *strings.Builder) (string, error) {
		return text.String(), nil
	})
}
