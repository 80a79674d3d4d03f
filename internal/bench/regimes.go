package bench

import (
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

// Names of regimes.
const (
	RegimeDigits = "digits"
	RegimeSheet  = "sheet"
)

// Regime is a kind of fit on which solvers are compared.
type Regime struct {
	Name, Title string

	losses []string // compared by default
	rows   func(o Options) ([]scqm.Data, error)
}

// Regimes lists the regimes in the order of a comparison.
var Regimes = []Regime{
	{
		Name: RegimeDigits, Title: "handwritten fours and nines",
		losses: []string{"l2", "squared_l2", "huber", "l1", "lp"}, rows: digits,
	},
	{
		Name: RegimeSheet, Title: "a sheet with 2 % outliers",
		losses: []string{"l2", "squared_l2"}, rows: sheets,
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

// Problem is one fit on which all solvers run.
type Problem struct {
	// LossName is the name of the loss that the caller requested.
	LossName string

	regime Regime
	x      scqm.Data
	loss   framework.Loss
}

// Problems makes the test problems of a regime.
func (r Regime) Problems(o Options) ([]*Problem, error) {
	tables, err := r.rows(o)
	if err != nil {
		return nil, err
	}
	names := r.losses
	if len(o.Losses) > 0 {
		names = o.Losses
	}
	var list []*Problem
	for _, x := range tables {
		for _, name := range names {
			loss, err := defaultLoss(name, x)
			if err != nil {
				return nil, err
			}
			list = append(list, &Problem{LossName: name, regime: r, x: x, loss: loss})
		}
	}
	return list, nil
}

// defaultLoss returns a loss with default parameters; lp has p = 1.5.
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

// config returns the settings of the fit without a solver, which the caller sets.
func (p *Problem) config(o Options) scqm.Config {
	return scqm.Config{
		Latent: Latent, Curvature: scqm.FullCurvature, Loss: p.loss, Ridge: scqm.NoRidge, Threads: o.Threads,
		Options: framework.Options{TimeLimit: o.TimeLimit},
	}
}
