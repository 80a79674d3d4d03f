// Package demo compares what a flat and a quadratic model learn from a few
// handwritten digits: the study behind scqm demo. [Split] divides the digits,
// [NewStudy] fits and measures; package figures draws.
package demo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/experiments"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

const (
	// Latent is the number of latent dimensions of the models.
	Latent = 2

	perKind   = 50               // digits of each kind to learn from
	timeLimit = 10 * time.Second // for each fit, many times what it takes
)

// Kinds are the labels of the digits that are learned.
var Kinds = []string{"4", "9"}

// Digits are images to learn from, each with its kind, and others of the same
// kinds that are held out.
type Digits struct {
	Learned, HeldOut scqm.Data
	Kinds            []string // of the rows of Learned
}

// Split takes the first digits of each kind to learn from and holds the others
// out. Where there are none to hold out, the error matches
// [experiments.ErrDigits].
func Split(all experiments.Digits) (*Digits, error) {
	digits := &Digits{Learned: scqm.Data{D: all.X.D}, HeldOut: scqm.Data{D: all.X.D}}
	count := map[string]int{}
	for i, kind := range all.Labels {
		if !slices.Contains(Kinds, kind) {
			continue
		}
		group := &digits.HeldOut
		if count[kind]++; count[kind] <= perKind {
			group = &digits.Learned
			digits.Kinds = append(digits.Kinds, kind)
		}
		group.X = append(group.X, all.X.Row(i)...)
		group.N++
	}
	for _, kind := range Kinds {
		if count[kind] <= perKind {
			return nil, fmt.Errorf("%d images of a %s, want more than %d: %w", count[kind], kind, perKind, experiments.ErrDigits)
		}
	}
	return digits, nil
}

// Learner fits a model as [scqm.Learn] does.
type Learner func(ctx context.Context, x scqm.Data, c scqm.Config) (*scqm.Fit, error)

// Model is one model of the comparison.
type Model struct {
	Name string
	Fit  *scqm.Fit
	// Reconstruction holds the digits learned from as the model makes them.
	Reconstruction []float64
	// Learned and HeldOut are the mean distances of digits from what the model makes
	// of them.
	Learned, HeldOut float64
}

// Study is what the demo computes.
type Study struct {
	*Digits
	PCA, Linear, Quadratic *Model
}

// NewStudy fits principal components, a linear and a quadratic model by learn
// and measures them.
func NewStudy(ctx context.Context, digits *Digits, learn Learner) (*Study, error) {
	study := &Study{Digits: digits}
	for _, m := range []struct {
		into **Model
		name string
		scqm.Config
	}{
		{&study.PCA, "principal components", scqm.Config{Loss: losses.SquaredL2(), Linear: true}},
		{&study.Linear, "linear", scqm.Config{Loss: losses.L2(), Linear: true}},
		{&study.Quadratic, "quadratic", scqm.Config{Curvature: scqm.FullCurvature, Loss: losses.L2()}},
	} {
		m.Latent = Latent
		m.Options = framework.Options{TimeLimit: timeLimit}
		model, err := digits.model(ctx, m.Config, learn)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		model.Name = m.name
		*m.into = model
	}
	return study, nil
}

// Models lists the models in the order of the comparison.
func (s *Study) Models() []*Model { return []*Model{s.PCA, s.Linear, s.Quadratic} }

// model learns one model and measures it.
func (d *Digits) model(ctx context.Context, c scqm.Config, learn Learner) (*Model, error) {
	fit, err := learn(ctx, d.Learned, c)
	if err != nil {
		return nil, err
	}
	if fit.Run.Status == framework.Cancelled {
		return nil, context.Canceled
	}
	m := &Model{Fit: fit}
	if m.Reconstruction, err = fit.Model.Reconstruct(ctx, fit.Model.Tau, c.Threads); err != nil {
		return nil, err
	}
	projected, err := fit.Model.Project(ctx, d.HeldOut, c.Threads)
	if err != nil {
		return nil, err
	}
	m.Learned = experiments.MeanDistance(d.Learned, m.Reconstruction)
	m.HeldOut = experiments.MeanDistance(d.HeldOut, projected)
	return m, nil
}
