package principal

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/rows"
)

// sample is rows with what they are without noise.
type sample struct{ x, clean rows.Data }

// find is a search with one thread.
func find(t testing.TB, s Search, x rows.Data) *Plane {
	t.Helper()
	s.Threads = 1
	p, _, err := s.Find(context.Background(), PlaneSample(x), 100)
	require.NoError(t, err)
	return p
}

func normalRows(seed uint64, n, D int) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, n*D)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// linearRows are rows with normal coordinates along so many axes, and noise of 1.
func linearRows(seed uint64, n, D int, spread ...float64) rows.Data {
	x := rows.Data{N: n, D: D, X: normalRows(seed, n, D)}
	frame := normalRows(seed+1, len(spread), D)
	dense.OrthonormalizeRows(frame, D)
	t := normalRows(seed+2, n, len(spread))
	for i := range n {
		for a, v := range spread {
			floats.AddScaled(x.Row(i), v*t[i*len(spread)+a], frame[a*D:(a+1)*D])
		}
	}
	return x
}

// fallingRows have normal coordinates along all axes, whose variance falls without an end, and noise of 1.
func fallingRows(seed uint64, n, D int) sample {
	spread := make([]float64, D)
	for a := range spread {
		spread[a] = 12 / math.Pow(float64(a+1), 0.7)
	}
	s := sample{x: linearRows(seed, n, D, spread...), clean: rows.Data{N: n, D: D}}
	s.clean.X = normalRows(seed, n, D)
	floats.SubTo(s.clean.X, s.x.X, s.clean.X)
	return s
}

// withBackground are rows with columns beside theirs that have nothing but noise.
func withBackground(s sample, columns int) sample {
	n, D := s.x.N, s.x.D+columns
	out := sample{x: rows.Data{N: n, D: D, X: normalRows(6, n, D)}, clean: rows.Data{N: n, D: D, X: make([]float64, n*D)}}
	for i := range n {
		copy(out.x.Row(i), s.x.Row(i))
		copy(out.clean.Row(i), s.clean.Row(i))
	}
	return out
}

// TestNoiseRank wants the number of axes that rows have, the noise, and none in noise
// alone, whichever is more of rows and columns.
func TestNoiseRank(t *testing.T) {
	more := 0
	for _, c := range []struct{ n, D int }{{300, 40}, {60, 200}, {120, 120}} {
		for seed := range uint64(8) {
			big := 4 * math.Sqrt(1+float64(c.D)/float64(c.n))
			p := find(t, Search{Linear: true}, linearRows(seed, c.n, c.D, 2*big, big, big))
			require.GreaterOrEqual(t, p.R, 3)
			more += p.R - 3
			require.InDelta(t, 1, p.Noise, 0.05, "%+v", c)
			require.LessOrEqual(t, find(t, Search{Linear: true}, linearRows(seed, c.n, c.D)).shrinking(), 1)
		}
	}
	require.LessOrEqual(t, more, 2)
}

// TestAxisGain compares the factor for one axis with the best one in a draw.
func TestAxisGain(t *testing.T) {
	require.Zero(t, axisGain(1, 100, 100))
	require.InDelta(t, 1, axisGain(1e12, 50, 80), 1e-9)
	require.Equal(t, 1.0, axisGain(math.Inf(1), 50, 80))
	require.InDelta(t, 0.75, axisGain(4, 1e9, 2), 1e-3, "of a known axis: 1 - 1/ratio")
	const n, D = 400, 200
	clean := linearRows(5, n, D, 2)
	floats.AddScaled(clean.X, -1, normalRows(5, n, D))
	x := linearRows(5, n, D, 2)
	p := find(t, Search{Linear: true, Given: 1}, x)
	var within, square float64
	z, _ := p.Coordinates(x, 1)
	for i := range n {
		within += z[i] * dense.Dot(p.axis(0), clean.Row(i))
		square += z[i] * z[i]
	}
	require.InDelta(t, within/square, p.Gain[0], 0.04)
}

// TestEqualCoordinates: rows that differ in a column that no axis has are different rows, on one
// machine and in tiles.
func TestEqualCoordinates(t *testing.T) {
	x := rows.Data{N: 4, D: 2, X: []float64{0, 1, 0, -1, 1, 1, 0, -1}}
	p := &Plane{D: 2, R: 1, Centre: make([]float64, 2), Axes: []float64{1, 0}}
	c, err := p.Cloud(x, 1)
	require.NoError(t, err)
	require.Equal(t, []float64{0, 0, 1}, c.X)
	require.Equal(t, []float64{1, 2, 1}, c.Weights)
}

// TestSpectralGains compares the factors with the best in a draw, whichever is more of rows and columns, and with those of Gavish and
// Donoho where few values are more than noise.
func TestSpectralGains(t *testing.T) {
	for _, c := range []struct{ n, D int }{{240, 80}, {80, 240}, {120, 120}} {
		s := fallingRows(7, c.n, c.D)
		m, err := searchOf(t, s.x, 1).shrinkSpectrum()
		require.NoError(t, err)
		p := m.plane
		error := func(gain func(a int) float64) (sum float64) {
			z, _ := p.Coordinates(s.x, 1)
			truth, _ := p.Coordinates(s.clean, 1)
			for k := range z {
				v := gain(k%p.R)*z[k] - truth[k]
				sum += v * v
			}
			return sum
		}
		z, _ := p.Coordinates(s.x, 1)
		truth, _ := p.Coordinates(s.clean, 1)
		best := make([]float64, p.R)
		for k, v := range z {
			best[k%p.R] += v * truth[k] / (m.values[k%p.R] * float64(c.n))
		}
		least := error(func(a int) float64 { return best[a] })
		require.Less(t, error(func(a int) float64 { return p.Gain[a] }), 1.03*least, "%+v", c)
		require.Greater(t, error(func(a int) float64 { return axisGain(m.values[a], m.of, p.D) }), 1.08*least, "%+v", c)
		for a := 1; a < p.R; a++ {
			require.LessOrEqual(t, p.Gain[a], p.Gain[a-1])
		}
	}
	few := linearRows(3, 300, 100, 8, 6, 5)
	m, err := searchOf(t, few, 1).shrinkSpectrum()
	require.NoError(t, err)
	for a := range 3 {
		require.InDelta(t, axisGain(m.values[a], m.of, 100), m.plane.Gain[a], 0.02)
	}
	require.Less(t, floats.Sum(m.plane.Gain[3:]), 4.0)
	require.Equal(t, []float64{1, 1, 0}, spectralGains([]float64{4, 1, 0}, 0, 10, 3))
}

// TestSpectrumRisk: the divergence of a row is that of moving it by little, all else as it is, and the mean risk is the error.
func TestSpectrumRisk(t *testing.T) {
	s := fallingRows(11, 30, 12)
	f := searchOf(t, s.x, 1)
	m, err := f.shrinkSpectrum()
	require.NoError(t, err)
	at := func(i, j int, by float64) float64 { // the column of the row denoised, with that entry moved
		x := s.x
		x.X = append([]float64(nil), s.x.X...)
		x.Row(i)[j] += by
		moved, err := searchOf(t, x, 1).shrinkSpectrum()
		require.NoError(t, err)
		var z [12]float64
		var rest [12]float64
		moved.plane.split(z[:], rest[:], x.Row(i))
		v := moved.plane.Centre[j]
		for a := range z { // by the factors of before
			v += m.plane.Gain[a] * z[a] * moved.plane.axis(a)[j]
		}
		return v
	}
	for _, i := range []int{0, 17} {
		var divergence, square float64
		for j := range 12 {
			divergence += (at(i, j, 1e-5) - at(i, j, -1e-5)) / 2e-5
			square += math.Pow(at(i, j, 0)-s.x.Row(i)[j], 2)
		}
		require.InDelta(t, square-12+2*divergence, m.risk(s.x.Row(i), 1), 1e-4)
	}
	s = fallingRows(12, 400, 100)
	m, err = searchOf(t, s.x, 1).shrinkSpectrum()
	require.NoError(t, err)
	risk, error := make([]float64, 400), make([]float64, 400)
	for i := range risk {
		risk[i] = m.risk(s.x.Row(i), 1)
		var z, rest [100]float64
		m.plane.split(z[:], rest[:], s.x.Row(i))
		floats.Mul(z[:], m.plane.Gain)
		m.plane.back(rest[:], z[:])
		d := rows.Distance(rest[:], s.clean.Row(i))
		error[i] = d * d
	}
	require.InEpsilon(t, stat.Mean(error, nil), stat.Mean(risk, nil), 0.05)
}

// TestColumnNoise wants the noise where a third of the columns has nothing else, by rows that vary along more axes than can be told from noise
// in all the others, and no less of it where noise differs by column.
func TestColumnNoise(t *testing.T) {
	const n, D = 300, 120
	values := make([]float64, D)
	for j := range values {
		x := normalRows(uint64(j), n, 1)
		values[j] = stat.Variance(x, nil) * 4
	}
	v, chance := columnNoise(values, n-1)
	require.InDelta(t, 4, v, 3*chance)
	for j := range D / 2 {
		values[j] += 1 + float64(j%7)
	}
	v, chance = columnNoise(append(values, 0, 0), n-1)
	require.InDelta(t, 4, v, 3*chance)

	mixed, uneven := withBackground(fallingRows(5, n, 2*D/3), D/3), linearRows(8, n, D, 30, 20)
	for i := range n {
		for j := range D / 3 {
			uneven.Row(i)[j] *= 0.8
		}
	}
	for k, x := range []rows.Data{mixed.x, uneven} {
		f := searchOf(t, x, 1)
		p, err := (&planeFit{ctx: f.ctx, x: x, threads: 1, least: 1, most: D, linear: true}).axes(x)
		require.NoError(t, err)
		require.Greater(t, p.Noise, 1.05-0.2*float64(k))
		found := math.Sqrt(f.quietest(p, p.Noise*p.Noise))
		if k == 0 {
			require.InDelta(t, 1, found, 0.03)
		} else {
			require.InDelta(t, p.Noise, found, 1e-12, "noise of .8 in a third of the columns")
		}
	}
}

// searchOf is a search for a linear model with the noise known, before it compares any.
func searchOf(t testing.TB, x rows.Data, noise float64) *linearSearch {
	t.Helper()
	f := &linearSearch{ctx: context.Background(), x: x, threads: 1, kept: make([]float64, x.N), variance: noise * noise}
	for i := range f.kept {
		f.kept[i] = 1
	}
	return f
}

// TestLocalLinearWeights compares a row with the formula, by its matrix.
func TestLocalLinearWeights(t *testing.T) {
	const r, n, k = 5, 90, 70
	c := cloudOfAll(rows.Data{N: n, D: r, X: normalRows(5, n, r)})
	for i := range c.X {
		c.X[i] *= float64(1 + i%r)
	}
	p := &Plane{D: r, R: r, Gain: []float64{.9, .8, .7, .9, 1}, Noise: .5}
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
