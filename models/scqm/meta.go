package scqm

import (
	"github.com/scqm/scqm/framework"
)

// Version is the version of the module that writes files.
const Version = "0.1.0"

// Meta describes a fit: what was asked, what came out, how well. It is what
// `scqm fit --json` prints and what a model file carries. It depends on the
// data, the settings and the seed only, not on time or threads.
type Meta struct {
	Format       int       `json:"format"`
	Version      string    `json:"version"`
	Objective    float64   `json:"objective"` // sum of weighted losses, unsmoothed, without penalty
	Penalty      float64   `json:"penalty"`
	MeanLoss     float64   `json:"mean_loss"` // Objective divided by the sum of weights
	Loss         LossMeta  `json:"loss"`
	N            int       `json:"n"`
	D            int       `json:"D"`
	Latent       int       `json:"d"`
	Curvature    int       `json:"s"`
	Effective    int       `json:"s_effective"` // curvature columns that were fitted
	Linear       bool      `json:"linear"`
	Ridge        float64   `json:"ridge"`
	Solver       string    `json:"solver"`
	Status       string    `json:"status"`
	Message      string    `json:"message"`
	Iterations   int       `json:"iterations"`
	Evaluations  int       `json:"evaluations"`
	KKT          *KKT      `json:"kkt"`          // nil where a cancelled run left no time for it
	Stationarity []float64 `json:"stationarity"` // scale-free residual of c, Q, Theta, tau; see Problem.Stationarity
	Inits        int       `json:"n_init"`
	Seed         uint64    `json:"seed"`
	Notes        []string  `json:"notes"`
}

// LossMeta names a loss and its parameters.
type LossMeta struct {
	Name   string             `json:"name"`
	Params map[string]float64 `json:"params,omitempty"`
	// Plugin identifies the program of a loss that is computed elsewhere.
	Plugin *framework.Program `json:"plugin,omitempty"`
}

func describeLoss(l framework.Loss) LossMeta {
	m := LossMeta{Name: l.Name()}
	if p, ok := l.(framework.Parametric); ok {
		m.Params = p.Params()
	}
	if e, ok := l.(framework.Identified); ok {
		m.Plugin = new(e.Program())
	}
	return m
}

func (p *Problem) meta(c Config, solver framework.Solver, run *framework.Result, notes []string) Meta {
	theta := run.Point[BlockTheta]
	penalty := p.Penalty(nil, theta)
	total := 0.0
	for i := range p.Data().N {
		total += p.Data().Weight(i)
	}
	meta := Meta{
		Format: FormatVersion, Version: Version,
		Objective: run.Cost - penalty, Penalty: penalty, MeanLoss: (run.Cost - penalty) / total,
		Loss: describeLoss(c.Loss), N: p.Data().N, D: p.Data().D,
		Latent: p.Shape().Latent, Curvature: p.Shape().S, Effective: p.Shape().S, Linear: c.Linear, Ridge: c.Ridge,
		Solver: solver.Name(), Status: run.Status.String(), Message: run.Message,
		Iterations: run.Iterations, Evaluations: run.Counts.Evaluations,
		Stationarity: run.Stationarity, Inits: max(c.Inits, 1), Seed: c.Seed, Notes: notes,
	}
	if run.Stationarity != nil {
		if kkt, err := p.KKT(run.Point); err == nil {
			meta.KKT = &kkt
		}
	}
	return meta
}
