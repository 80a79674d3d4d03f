package bindings

import (
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/models/selection"
)

// suggestSettings are the settings of [StartSuggest]; what is left out has the
// default of selection.SuggestConfig.
type suggestSettings struct {
	MaxLatent int        `json:"max_components"`
	Folds     int        `json:"folds"`
	MaxRows   int        `json:"max_rows"`
	Loss      lossChoice `json:"loss"`
	Seed      uint64     `json:"seed"`
	Threads   int        `json:"threads"`
}

// StartSuggest begins to compare models of the rows x, with one weight per row at
// weights (0: all 1) and the precision matrix of the loss at precision (0: none);
// [SuggestReport] has the outcome. It returns 1.
func StartSuggest(number int64, settings string, x uint64, rows, columns int64, weights, precision uint64) (int64, error) {
	return guarded("suggest", func() (int64, error) {
		var s suggestSettings
		if err := decode(settings, &s); err != nil {
			return 0, err
		}
		data, err := readData(x, rows, columns, weights)
		if err != nil {
			return 0, err
		}
		return start(number, "suggest", func(j *job) (any, error) {
			loss, err := s.Loss.buildFor(j, precision, data, scqm.Config{Latent: 1})
			if err != nil {
				return nil, err
			}
			return selection.Suggest(j.ctx, data, selection.SuggestConfig{
				MaxLatent: s.MaxLatent, Loss: loss, Folds: s.Folds, MaxRows: s.MaxRows, Seed: s.Seed,
				Threads: s.Threads, Progress: j.part(),
			})
		})
	})
}

// SuggestReport is the outcome of such a job as a JSON object, that of the
// program scqm.
func SuggestReport(number int64) (string, error) {
	return onResult("suggest report", number, func(s *selection.Suggestion) (string, error) {
		return encode(s)
	})
}
