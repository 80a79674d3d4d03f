package bindings

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/experiments"
	"github.com/scqm/scqm/models/scqm"
)

// experimentSettings are the settings of [StartExperiment]; what is left out has
// the default of the experiment.
type experimentSettings struct {
	Seed    uint64    `json:"seed"`
	Reps    int       `json:"reps"`
	Quick   bool      `json:"quick"`
	Sigmas  []float64 `json:"sigmas"`
	Threads int       `json:"threads"`
}

// StartExperiment begins an experiment, one of [Experiments]; [ExperimentReport]
// and [ExperimentArray] have the outcome. Those that need digits take images from
// x, rows x columns, with a label for each, a whole number, at labels. It returns
// 1.
func StartExperiment(number int64, name, settings string, x uint64, rows, columns int64, labels uint64) (int64, error) {
	return guarded("experiment", func() (int64, error) {
		var s experimentSettings
		if err := decode(settings, &s); err != nil {
			return 0, err
		}
		images, err := readData(x, rows, columns, 0)
		if err != nil {
			return 0, err
		}
		kinds, err := view("labels", labels, images.N)
		if err != nil {
			return 0, err
		}
		digits := experiments.Digits{X: images}
		for _, kind := range kinds {
			digits.Labels = append(digits.Labels, strconv.Itoa(int(kind)))
		}
		return start(number, "experiment", func(j *job) (any, error) {
			common := experiments.Settings{Seed: s.Seed, Reps: s.Reps, Quick: s.Quick, Threads: s.Threads, Progress: j.part()}
			outcome, err := experiments.Run(j.ctx, name, common, s.Sigmas, digits)
			if errors.Is(err, experiments.ErrDigits) || errors.Is(err, experiments.ErrName) {
				err = fmt.Errorf("%w: %w", err, framework.ErrInvalid)
			}
			return outcome, err
		})
	})
}

// Experiments lists the experiments as JSON objects with the entries name, reps,
// quick_reps and needs_digits.
func Experiments() (string, error) {
	return guarded("experiments", func() (string, error) { return encode(experiments.Specs) })
}

// experimentReport is what [ExperimentReport] returns.
type experimentReport struct {
	Table    experiments.Table `json:"table"`
	CSV      string            `json:"csv"`
	Markdown string            `json:"markdown"`
	Arrays   []arrayReport     `json:"arrays"`
	Settings any               `json:"settings"`
	Version  string            `json:"version"`
}

type arrayReport struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
}

// ExperimentReport is the outcome of such a job as a JSON object: its table (title,
// keys, values, rows and notes), the same as csv and markdown, the names and
// shapes of its arrays, the settings that were used, and the version.
func ExperimentReport(number int64) (string, error) {
	return withJob("experiment report", number, func(j *job) (string, error) {
		o, err := resultOf[*experiments.Outcome](j)
		if err != nil {
			return "", err
		}
		return encodeExperiment(o)
	})
}

func encodeExperiment(o *experiments.Outcome) (string, error) {
	r := experimentReport{Table: o.Table, Settings: o.Settings, Version: scqm.Version}
	for _, a := range o.Arrays {
		r.Arrays = append(r.Arrays, arrayReport{a.Name, a.Shape})
	}
	var csv, markdown strings.Builder
	if err := o.Table.WriteCSV(&csv); err != nil {
		return "", err
	}
	if err := o.Table.WriteMarkdown(&markdown); err != nil {
		return "", err
	}
	r.CSV, r.Markdown = csv.String(), markdown.String()
	return encode(r)
}

// ExperimentArray copies array k of the report to the destination to. It returns
// 1.
func ExperimentArray(number, k int64, to uint64) (int64, error) {
	return withJob("experiment array", number, func(j *job) (int64, error) {
		o, err := resultOf[*experiments.Outcome](j)
		if err != nil {
			return 0, err
		}
		if k < 0 || k >= int64(len(o.Arrays)) {
			return 0, fmt.Errorf("no array %d: %w", k, framework.ErrInvalid)
		}
		return 1, deliver("array", to, o.Arrays[k].Data)
	})
}
