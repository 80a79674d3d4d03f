package bench

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

// Names of regimes.
const (
	RegimeSphere = "r1"
	RegimeDigits = "r2"
	RegimeSheet  = "r3"
)

// Regime is a kind of fit that the solvers are compared on.
type Regime struct {
	Name, Title string

	losses []string // compared by default
	sets   func(o Options) ([]rowSets, error)
	ridge  float64 // 0 is none
	fitter bool    // many small fits: how many a second
}

// rowSets are sets of rows of one kind and shape.
type rowSets []scqm.Data

// Regimes lists the regimes in the order of a comparison.
var Regimes = []Regime{
	{
		Name: RegimeSphere, Title: fmt.Sprintf("neighbourhoods of %d of %d noisy points on a sphere", sphereNeighbours, spherePoints),
		losses: []string{"l2", "squared_l2"}, ridge: sphereRidge, fitter: true, sets: sphereSets,
	},
	{
		Name: RegimeDigits, Title: "handwritten fours and nines",
		losses: []string{"l2", "squared_l2", "huber", "l1", "lp"}, sets: digitSets,
	},
	{
		Name: RegimeSheet, Title: "a sheet with 2 % outliers",
		losses: []string{"l2", "squared_l2"}, sets: sheetSets,
	},
}

// RegimeNames lists the names of the regimes.
func RegimeNames() []string {
	var names []string
	for _, r := range Regimes {
		names = append(names, r.Name)
	}
	return names
}

// LossNames lists the losses that regimes are compared on.
func LossNames() []string {
	var names []string
	for _, r := range Regimes {
		for _, name := range r.losses {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Problem is one fit, or several of the same kind, that all solvers do.
type Problem struct {
	// LossName is the loss as it was asked for.
	LossName string

	regime Regime
	sets   rowSets
	losses []framework.Loss // of each set
}

// Problems makes the test problems of a regime.
func (r Regime) Problems(o Options) ([]*Problem, error) {
	kinds, err := r.sets(o)
	if err != nil {
		return nil, err
	}
	names := r.losses
	if len(o.Losses) > 0 {
		names = o.Losses
	}
	var list []*Problem
	for _, sets := range kinds {
		for _, name := range names {
			p := &Problem{regime: r, LossName: name, sets: sets}
			for _, x := range sets {
				loss, err := defaultLoss(name, x)
				if err != nil {
					return nil, err
				}
				p.losses = append(p.losses, loss)
			}
			list = append(list, p)
		}
	}
	return list, nil
}

// defaultLoss makes a loss with default parameters, lp with p = 1.5.
func defaultLoss(name string, x scqm.Data) (framework.Loss, error) {
	var params losses.Params
	switch name {
	case "lp":
		params.P = new(1.5)
	case "huber":
		norms, err := scqm.ResidualNorms(x, Latent)
		if err != nil {
			return nil, err
		}
		params.Delta = new(losses.DefaultDelta("huber", norms))
	}
	return losses.ByName(name, params)
}

// config returns the settings of the fit of set k; the solver is still to be set.
func (p *Problem) config(k int, o Options) scqm.Config {
	return scqm.Config{
		Latent: Latent, Curvature: scqm.FullCurvature, Loss: p.losses[k], Ridge: cmp.Or(p.regime.ridge, scqm.NoRidge), Threads: o.Threads,
		Options: framework.Options{TimeLimit: o.TimeLimit},
	}
}
