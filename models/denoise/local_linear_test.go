package denoise

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/rows"
)

// bundles are rows of several bundles, each about a plane of three axes of its own, with noise of 1.
func bundles(seed uint64, n, D, count int) sample {
	s := sample{x: rows.Data{N: n, D: D, X: normalRows(seed, n, D)}, clean: rows.Data{N: n, D: D, X: make([]float64, n*D)}}
	axes, along := normalRows(seed+1, 3*count, D), normalRows(seed+2, n, 3)
	centres := normalRows(seed+3, count, D)
	for i := range n {
		g := i % count
		floats.AddScaled(s.clean.Row(i), 4, centres[g*D:(g+1)*D])
		for a := range 3 {
			floats.AddScaled(s.clean.Row(i), along[3*i+a], axes[(3*g+a)*D:(3*g+a+1)*D])
		}
		floats.Add(s.x.Row(i), s.clean.Row(i))
	}
	return s
}

// TestLocalLinear wants principal components of near rows where rows are in bundles, better than
// those of all rows, with the error that is said, and the same bits alone and by any number of threads.
func TestLocalLinear(t *testing.T) {
	s := bundles(3, 480, 24, 4)
	var all [2]*Result
	for k, threads := range []int{1, 3} {
		d, err := Fit(context.Background(), Auto{Latent: 2}, s.x, Options{Threads: threads})
		require.NoError(t, err)
		require.Contains(t, d.Note(), "nearest rows")
		require.Equal(t, PCA{}.Name(), d.Method().Name())
		all[k], err = d.Denoise(context.Background(), s.x, Options{Threads: threads})
		require.NoError(t, err)
		alone, err := d.Denoise(context.Background(), rows.Data{N: 1, D: 24, X: s.x.Row(7)}, Options{})
		require.NoError(t, err)
		require.Equal(t, all[k].X[7*24:8*24], alone.X)
	}
	require.Equal(t, all[0], all[1])
	near, overall := s.meanSquare(all[0].X), s.meanSquare(run(t, PCA{}, s.x, Options{}).X)
	require.Less(t, near, 0.8*overall)
	_, l, err := findPlane(context.Background(), Auto{Latent: 2}, s.x, Options{})
	require.NoError(t, err)
	require.InDelta(t, 1, l.noise, 0.05)
	require.InEpsilon(t, near, l.risk, 0.3)
}

// TestLocalLinearWeights compares a row with the formula, by its matrix.
func TestLocalLinearWeights(t *testing.T) {
	const r, n, k = 5, 90, 70
	c := cloudOfAll(rows.Data{N: n, D: r, X: normalRows(5, n, r)})
	for i := range c.X {
		c.X[i] *= float64(1 + i%r)
	}
	p := &plane{D: r, r: r, gain: []float64{.9, .8, .7, .9, 1}, noise: .5}
	f := newLocalLinear(p, c, k)
	z, got := c.Row(4), make([]float64, r)
	w := f.worker()
	require.NoError(t, w.Project(got, z))

	shrunk := func(i int) []float64 {
		v := make([]float64, r)
		p.shrink(v, c.Row(i))
		return v
	}
	var far []float64
	for i := range n {
		far = append(far, rows.Distance(shrunk(4), shrunk(i)))
	}
	h := append([]float64(nil), far...)
	for range n - k - 1 { // the first that is left out
		floats.MaxIdx(h)
		h[floats.MaxIdx(h)] = -1
	}
	reach := floats.Max(h)
	var sum, square float64
	mean, weights := make([]float64, r), make([]float64, n)
	for i, v := range far {
		weights[i] = chart.Tricube(v / reach)
		sum += weights[i]
		square += weights[i] * weights[i]
		floats.AddScaled(mean, weights[i], c.Row(i))
	}
	floats.Scale(1/sum, mean)
	worth := sum * sum / square
	e := dense.NewSymmetricEigen(r)
	var trace float64
	for i := range n {
		for a := range r {
			for b := range r {
				v := weights[i] / sum * worth / (worth - 1) * (c.Row(i)[a] - mean[a]) * (c.Row(i)[b] - mean[b])
				e.A[a*r+b] += v
				if a == b {
					trace += v
				}
			}
		}
	}
	for a := range r {
		for b := range r {
			e.A[a*r+b] *= worth / (worth + localPrior)
			if a == b {
				e.A[a*r+b] += localPrior / (worth + localPrior) * (max(trace-r*.25, 0)/f.size*f.signal[a] + .25)
			}
		}
	}
	require.True(t, e.Factorize())
	for b := range r {
		want := mean[b]
		for a := range r {
			g := axisGain(e.Values[a]/.25, worth+localPrior-1, r)
			for j := range r {
				want += e.A[b*r+a] * g * e.A[j*r+a] * (z[j] - mean[j])
			}
		}
		require.InDelta(t, want, got[b], 1e-9)
	}
	square, trace = w.linear(ones(r))
	require.Positive(t, square)
	require.Less(t, trace, float64(r))
	require.False(t, math.IsNaN(trace))
}
