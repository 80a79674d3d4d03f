package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

const (
	demoSide    = 28 // of an image, in pixels
	demoPerKind = 50 // digits of each kind to learn from
	demoLatent  = 2
	demoTime    = 10 * time.Second // for each fit, many times what it takes
)

var demoKinds = []string{"4", "9"}

// demoDigits are labelled images, one a row.
type demoDigits struct {
	learned, held scqm.Data
	kinds         []string // of the rows of learned
}

// newDemoDigits takes the first digits of each kind to learn from and holds the
// others back.
func newDemoDigits(m *dataset.Matrix, labels []string) (*demoDigits, error) {
	if err := checkDigits(m, labels); err != nil {
		return nil, err
	}
	digits := &demoDigits{learned: scqm.Data{D: m.Cols}, held: scqm.Data{D: m.Cols}}
	count := map[string]int{}
	for i, kind := range labels {
		if !slices.Contains(demoKinds, kind) {
			continue
		}
		group := &digits.held
		if count[kind]++; count[kind] <= demoPerKind {
			group = &digits.learned
			digits.kinds = append(digits.kinds, kind)
		}
		group.X = append(group.X, m.Row(i)...)
		group.N++
	}
	for _, kind := range demoKinds {
		if count[kind] <= demoPerKind {
			return nil, usagef("%d images of a %s, want more than %d", count[kind], kind, demoPerKind)
		}
	}
	return digits, nil
}

// demoModel is one model of the comparison.
type demoModel struct {
	name           string
	fit            *scqm.Fit
	learned, held  float64 // mean residual norms
	reconstruction []float64
}

// demoStudy is what the demo computes.
type demoStudy struct {
	*demoDigits
	pca, linear, quadratic *demoModel
}

func newDemoStudy(cmd *cobra.Command, digits *demoDigits) (*demoStudy, error) {
	study := &demoStudy{demoDigits: digits}
	for _, m := range []struct {
		into **demoModel
		name string
		scqm.Config
	}{
		{&study.pca, "principal components", scqm.Config{Loss: losses.SquaredL2(), Linear: true}},
		{&study.linear, "linear", scqm.Config{Loss: losses.L2(), Linear: true}},
		{&study.quadratic, "quadratic", scqm.Config{Loss: losses.L2()}},
	} {
		m.Latent = demoLatent
		m.Options = framework.Options{TimeLimit: demoTime}
		model, err := digits.model(cmd, m.Config)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		model.name = m.name
		*m.into = model
	}
	return study, nil
}

// model learns one model and measures it.
func (d *demoDigits) model(cmd *cobra.Command, c scqm.Config) (*demoModel, error) {
	ctx := cmd.Context()
	fit, err := learnWatched(cmd, progressAuto, d.learned, c)
	if err != nil {
		return nil, err
	}
	if fit.Run.Status == framework.Cancelled {
		return nil, context.Canceled
	}
	m := &demoModel{fit: fit}
	if m.reconstruction, err = fit.Model.Reconstruct(ctx, fit.Model.Tau, c.Threads); err != nil {
		return nil, err
	}
	projected, err := fit.Model.Project(ctx, d.held, c.Threads)
	if err != nil {
		return nil, err
	}
	m.learned = meanDistance(d.learned, m.reconstruction)
	m.held = meanDistance(d.held, projected)
	return m, nil
}

// meanDistance returns the mean Euclidean distance of the rows of x from those
// of y.
func meanDistance(x scqm.Data, y []float64) float64 {
	var sum float64
	for i := range x.N {
		sum += floats.Distance(x.Row(i), y[i*x.D:(i+1)*x.D], 2)
	}
	return sum / float64(x.N)
}

// rows are the table of the demo.
func (s *demoStudy) rows() [][]string {
	rows := [][]string{{"MODEL", "LOSS", "MEAN RESIDUAL", "HELD OUT", "ITERATIONS", "SECONDS"}}
	for _, m := range []*demoModel{s.pca, s.linear, s.quadratic} {
		rows = append(rows, []string{
			m.name, m.fit.Model.Meta.Loss.Name,
			fmt.Sprintf("%.4f", m.learned), fmt.Sprintf("%.4f", m.held),
			fmt.Sprint(m.fit.Run.Iterations), fmt.Sprintf("%.2f", m.fit.Run.Elapsed.Seconds()),
		})
	}
	return rows
}
