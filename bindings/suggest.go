package bindings

import (
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/models/selection"
)

// suggestOf compares models of data, with a loss whose precision may be an array. A setting that is
// absent has the default of selection.SuggestConfig. The report is that of the command scqm suggest.
func suggestOf(in *input) work {
	var s struct {
		MaxLatent int        `json:"max_components"`
		Folds     int        `json:"folds"`
		MaxRows   int        `json:"max_rows"`
		Loss      lossChoice `json:"loss"`
		Seed      uint64     `json:"seed"`
		Threads   int        `json:"threads"`
	}
	in.decode(&s)
	in.loss(&s.Loss)
	data := in.data()
	return func(j *job) (*outcome, error) {
		loss, err := s.Loss.buildFor(j, data, scqm.Config{Latent: 1})
		if err != nil {
			return nil, err
		}
		found, err := selection.Suggest(j.ctx, data, selection.SuggestConfig{
			MaxLatent: s.MaxLatent, Loss: loss, Folds: s.Folds, MaxRows: s.MaxRows, Seed: s.Seed,
			Threads: s.Threads, Progress: j.part(),
		})
		return &outcome{report: found}, err
	}
}
