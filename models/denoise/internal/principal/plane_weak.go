package principal

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

const (
	// beyondChance is the number of standard deviations from which on an effect is significant.
	beyondChance = 3
)

// addWeak adds weak axes: along them the rows vary by less than noise alone may, but in the same way as their
// neighbours on the plane. The residual of a row off the plane is then correlated with those of its neighbours.
// Permuted residuals show the correlation by chance.
func (f *planeFit) addWeak(p *Plane, weights []float64) error {
	if !(p.Noise > 0) || p.R > f.most {
		return nil
	}
	list := someOf(weights)
	if len(list) < 3*core.DefaultNeighbors {
		return nil
	}
	x := f.x.Select(list)
	x.Weights = nil
	for range 3 {
		found, err := f.weakAxes(p, x)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			break
		}
		p.Axes = append(p.Axes, found...)
		if !dense.OrthonormalizeRows(p.Axes, p.D) {
			p.Axes = p.Axes[:p.R*p.D]
			return nil
		}
		p.R = len(p.Axes) / p.D
		for len(p.Gain) < p.R {
			p.Gain = append(p.Gain, 0) // nothing that a linear model could tell from noise
		}
		p.Reach = p.Noise * p.tail(1-core.TukeyTail)
		if p.R > f.most {
			return nil
		}
	}
	return nil
}

// someOf lists up to mostRows of the rows of positive weight.
func someOf(weights []float64) []int {
	list := positive(weights)
	if len(list) <= mostRows {
		return list
	}
	some := make([]int, mostRows)
	for k := range some {
		some[k] = list[core.SomeRow(k, len(list), mostRows)]
	}
	return some
}

// weakAxes returns further axes of the rows of x.
func (f *planeFit) weakAxes(p *Plane, x rows.Data) ([]float64, error) {
	z, _ := p.Coordinates(x, f.threads)
	rest := rows.Data{N: x.N, D: x.D, X: make([]float64, len(x.X))}
	p.Each(x.N, f.threads, func(diff []float64, i int) {
		p.split(z[i*p.R:(i+1)*p.R], diff, x.Row(i))
		copy(rest.Row(i), diff)
	})
	near := neighborsOf(z, x.N, p.R, min(core.DefaultNeighbors, x.N/3), f.threads)
	order := make([]int, x.N)
	for i := range order {
		order[i] = i
	}
	values, axes, err := f.together(p, rest, order, near)
	if err != nil {
		return nil, err
	}
	var chance []float64
	for draw := range 5 { // rows change places to see what chance does
		rng := rand.New(rand.NewPCG(core.PerturbationSeed, uint64(draw)))
		largest, _, err := f.together(p, rest, rng.Perm(x.N), near)
		if err != nil {
			return nil, err
		}
		chance = append(chance, largest[0])
	}
	mean, deviation := stat.MeanStdDev(chance, nil)
	count := 0
	for count < len(values) && values[count] > mean+beyondChance*deviation {
		count++
	}
	return axes[:count*p.D], nil
}

// together returns the largest mean products of residuals of rows with the mean residuals of their neighbours,
// descending, and the corresponding axes. Row i has the residual of row order[i].
func (f *planeFit) together(p *Plane, rest rows.Data, order []int, near [][]int) (values, axes []float64, err error) {
	n, D := rest.N, rest.D
	smooth := rows.Data{N: n, D: D, X: make([]float64, n*D)}
	p.Each(n, f.threads, func(_ []float64, i int) {
		for _, k := range near[i] {
			floats.AddScaled(smooth.Row(i), 1/float64(len(near[i])), rest.Row(order[k]))
		}
	})
	k := min(startAxes, D-p.R, n-1)
	pc, err := rows.PrincipalComponents(f.ctx, smooth, k, f.threads)
	if err != nil {
		return nil, nil, err
	}
	eigen := dense.NewSymmetricEigen(k)
	own, mean := make([]float64, n*k), make([]float64, n*k)
	p.Each(n, f.threads, func(_ []float64, i int) {
		for a := range k {
			axis := pc.Axes[a*D : (a+1)*D]
			own[i*k+a], mean[i*k+a] = dense.Dot(axis, rest.Row(order[i])), dense.Dot(axis, smooth.Row(i))
		}
	})
	for i := range n {
		for a, v := range own[i*k : (i+1)*k] {
			for b, u := range mean[i*k : (i+1)*k] {
				eigen.A[min(a, b)*k+max(a, b)] += v * u / float64(2*n)
			}
		}
	}
	for a := range k {
		eigen.A[a*k+a] *= 2 // which was added once, where others were twice
	}
	if !eigen.Factorize() {
		return []float64{math.Inf(-1)}, nil, nil
	}
	values, axes = make([]float64, k), make([]float64, k*D)
	for a := range k { // they ascend
		values[a] = eigen.Values[k-1-a]
		for b := range k {
			floats.AddScaled(axes[a*D:(a+1)*D], eigen.A[b*k+k-1-a], pc.Axes[b*D:(b+1)*D])
		}
	}
	return values, axes, nil
}

// neighborsOf lists the k nearest other rows of every row of z, n x r.
func neighborsOf(z []float64, n, r, k, threads int) [][]int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	in := lookup.NewIndex(z, r, all)
	near := make([][]int, n)
	searches := make([]lookup.Search, threads)
	par.Do(threads, n, func(w, i int) {
		for _, g := range searches[w].Find(in, z[i*r:(i+1)*r], k+1) {
			if g.Row != i && len(near[i]) < k {
				near[i] = append(near[i], g.Row)
			}
		}
	})
	return near
}
