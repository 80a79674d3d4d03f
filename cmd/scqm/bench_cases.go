package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

const (
	benchLatent = 2

	regimeSphere = "r1"
	regimeDigits = "r2"
	regimeSheet  = "r3"

	spherePoints     = 300
	sphereNeighbours = 30
	sphereNoise      = 0.06
	sphereRidge      = 10

	sheetColumns = 50
	sheetOutlier = 50 // one row in so many is an outlier
	sheetNoise   = 0.1
	fewestRows   = 100
)

// regime is a kind of fit that the solvers are compared on.
type regime struct {
	name, title string
	losses      []string // compared by default
	sets        func(cmd *cobra.Command, f *benchFlags) ([]rowSets, error)
	ridge       float64
	fitter      bool // many small fits: how many a second
	roofline    bool // time of a sweep against the bounds of the machine
}

// rowSets are sets of rows of one kind and shape.
type rowSets []scqm.Data

var regimes = []regime{
	{
		name: regimeSphere, title: fmt.Sprintf("neighbourhoods of %d of %d noisy points on a sphere", sphereNeighbours, spherePoints),
		losses: []string{"l2", "squared_l2"}, ridge: sphereRidge, fitter: true, sets: sphereSets,
	},
	{
		name: regimeDigits, title: "handwritten fours and nines",
		losses: []string{"l2", "squared_l2", "huber", "l1", "lp"}, sets: digitSets,
	},
	{
		name: regimeSheet, title: "a sheet with 2 % outliers",
		losses: []string{"l2", "squared_l2"}, roofline: true, sets: sheetSets,
	},
}

func regimeNames() []string {
	var names []string
	for _, r := range regimes {
		names = append(names, r.name)
	}
	return names
}

// benchLossNames lists the losses that regimes are compared on.
func benchLossNames() []string {
	var names []string
	for _, r := range regimes {
		for _, name := range r.losses {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// benchCase is one fit, or several of the same kind, that all solvers do.
type benchCase struct {
	regime
	lossName string
	sets     rowSets
	losses   []framework.Loss // of each set
}

// cases lists the comparisons of a regime.
func (r regime) cases(cmd *cobra.Command, f *benchFlags) ([]*benchCase, error) {
	kinds, err := r.sets(cmd, f)
	if err != nil {
		return nil, err
	}
	names := r.losses
	if len(f.losses) > 0 {
		names = f.losses
	}
	var list []*benchCase
	for _, sets := range kinds {
		for _, name := range names {
			c := &benchCase{regime: r, lossName: name, sets: sets}
			for _, x := range sets {
				loss, err := benchLoss(name, x)
				if err != nil {
					return nil, err
				}
				c.losses = append(c.losses, loss)
			}
			list = append(list, c)
		}
	}
	return list, nil
}

// benchLoss makes a loss with default parameters, lp with p = 1.5.
func benchLoss(name string, x scqm.Data) (framework.Loss, error) {
	var params losses.Params
	switch name {
	case "lp":
		params.P = new(1.5)
	case huber:
		norms, err := scqm.ResidualNorms(x, benchLatent)
		if err != nil {
			return nil, err
		}
		params.Delta = new(losses.DefaultHuberDelta(norms))
	}
	return losses.ByName(name, params)
}

// config is the fit of set k without a solver.
func (c *benchCase) config(k int, f *benchFlags) scqm.Config {
	return scqm.Config{
		Latent: benchLatent, Loss: c.losses[k], Ridge: c.ridge, Threads: f.threads,
		Options: framework.Options{TimeLimit: f.timeLimit},
	}
}

// digitSets is the set of digits that scqm demo learns.
func digitSets(cmd *cobra.Command, f *benchFlags) ([]rowSets, error) {
	digits, err := f.digits.read(cmd)
	if err != nil {
		return nil, err
	}
	return []rowSets{{digits.learned}}, nil
}

// sphereSets are the nearest points of some noisy points on the unit sphere.
func sphereSets(_ *cobra.Command, f *benchFlags) ([]rowSets, error) {
	var sets rowSets
	for seed := range f.fits {
		sets = append(sets, neighbours(uint64(seed)))
	}
	return []rowSets{sets}, nil
}

// neighbours returns the points nearest to the first of a noisy cloud around
// the unit sphere.
func neighbours(seed uint64) scqm.Data {
	const D = 3
	rng := rand.New(rand.NewPCG(seed, 11))
	cloud := make([][]float64, spherePoints)
	for i := range cloud {
		p := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		floats.Scale(1/floats.Norm(p, 2), p)
		for j := range p {
			p[j] += sphereNoise * rng.NormFloat64()
		}
		cloud[i] = p
	}
	at := cloud[0]
	slices.SortFunc(cloud, func(a, b []float64) int {
		return cmp.Compare(floats.Distance(a, at, 2), floats.Distance(b, at, 2))
	})
	return scqm.Data{N: sphereNeighbours, D: D, X: slices.Concat(cloud[:sphereNeighbours]...)}
}

func sheetSets(_ *cobra.Command, f *benchFlags) ([]rowSets, error) {
	var list []rowSets
	for _, n := range f.rows {
		list = append(list, rowSets{noisySheet(n)})
	}
	return list, nil
}

// noisySheet returns rows near a sheet of two dimensions that bends into three
// more, with outliers far from it.
func noisySheet(n int) scqm.Data {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	axes := make([][]float64, 5)
	for k := range axes {
		axes[k] = make([]float64, sheetColumns)
		for j := range axes[k] {
			axes[k][j] = rng.NormFloat64() / math.Sqrt(sheetColumns)
		}
	}
	x := scqm.Data{N: n, D: sheetColumns, X: make([]float64, n*sheetColumns)}
	for i := range n {
		row, noise := x.Row(i), sheetNoise
		if i%sheetOutlier == 0 {
			noise = 1
		}
		s, t := rng.NormFloat64(), rng.NormFloat64()
		for k, v := range []float64{3 * s, 3 * t, s*s - 1, s * t, t*t - 1} {
			floats.AddScaled(row, v, axes[k])
		}
		for j := range row {
			row[j] += noise * rng.NormFloat64()
		}
	}
	return x
}
