package denoise

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/models/rows"
)

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

// searchOf is a search for a linear model with the noise known, before it compares any.
func searchOf(t testing.TB, x rows.Data, noise float64) *linearSearch {
	t.Helper()
	f := &linearSearch{ctx: context.Background(), x: x, threads: 1, kept: make([]float64, x.N), variance: noise * noise}
	for i := range f.kept {
		f.kept[i] = 1
	}
	return f
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
			z, _ := p.coordinates(s.x, 1)
			truth, _ := p.coordinates(s.clean, 1)
			for k := range z {
				v := gain(k%p.r)*z[k] - truth[k]
				sum += v * v
			}
			return sum
		}
		z, _ := p.coordinates(s.x, 1)
		truth, _ := p.coordinates(s.clean, 1)
		best := make([]float64, p.r)
		for k, v := range z {
			best[k%p.r] += v * truth[k] / (m.values[k%p.r] * float64(c.n))
		}
		least := error(func(a int) float64 { return best[a] })
		require.Less(t, error(func(a int) float64 { return p.gain[a] }), 1.03*least, "%+v", c)
		require.Greater(t, error(func(a int) float64 { return axisGain(m.values[a], m.of, p.D) }), 1.08*least, "%+v", c)
		for a := 1; a < p.r; a++ {
			require.LessOrEqual(t, p.gain[a], p.gain[a-1])
		}
	}
	few := linearRows(3, 300, 100, 8, 6, 5)
	m, err := searchOf(t, few, 1).shrinkSpectrum()
	require.NoError(t, err)
	for a := range 3 {
		require.InDelta(t, axisGain(m.values[a], m.of, 100), m.plane.gain[a], 0.02)
	}
	require.Less(t, floats.Sum(m.plane.gain[3:]), 4.0)
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
		v := moved.plane.centre[j]
		for a := range z { // by the factors of before
			v += m.plane.gain[a] * z[a] * moved.plane.axis(a)[j]
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
		floats.Mul(z[:], m.plane.gain)
		m.plane.back(rest[:], z[:])
		d := rows.Distance(rest[:], s.clean.Row(i))
		error[i] = d * d
	}
	require.InEpsilon(t, stat.Mean(error, nil), stat.Mean(risk, nil), 0.05)
}

// TestSpectrumIsTaken: where the variance falls without an end, auto keeps in part what is below the edge of noise, says so, and comes
// nearer than by the axes that are more than noise, with the same bits for a row alone and by any number of threads.
func TestSpectrumIsTaken(t *testing.T) {
	s := withBackground(fallingRows(21, 300, 160), 80)
	var all [2]*Result
	for k, threads := range []int{1, 3} {
		d, err := Fit(context.Background(), Auto{Latent: 2}, s.x, Options{Threads: threads})
		require.NoError(t, err)
		require.Contains(t, d.Note(), "a linear model is better here")
		require.Greater(t, d.Axes(), 100)
		all[k], err = d.Denoise(context.Background(), s.x, Options{Threads: threads})
		require.NoError(t, err)
		alone, err := d.Denoise(context.Background(), rows.Data{N: 1, D: 240, X: s.x.Row(7)}, Options{})
		require.NoError(t, err)
		require.Equal(t, all[k].X[7*240:8*240], alone.X)
	}
	require.Equal(t, all[0], all[1])
	require.Less(t, s.meanSquare(all[0].X), 0.97*s.meanSquare(run(t, PCA{}, s.x, Options{}).X))
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
		require.Greater(t, p.noise, 1.05-0.2*float64(k))
		found := math.Sqrt(f.quietest(p, p.noise*p.noise))
		if k == 0 {
			require.InDelta(t, 1, found, 0.03)
		} else {
			require.InDelta(t, p.noise, found, 1e-12, "noise of .8 in a third of the columns")
		}
	}
}

// TestNoiseOnly: of rows that are nothing but noise auto says that no axis is more, and leaves next to nothing of them; a
// sphere whose axes neighbours alone tell is no such rows.
func TestNoiseOnly(t *testing.T) {
	for seed := range uint64(3) {
		x := linearRows(seed+40, 300, 200)
		d, err := Fit(context.Background(), Auto{Latent: 2}, x, Options{})
		require.NoError(t, err)
		require.Contains(t, d.Note(), "no principal axis is more than noise")
		require.Equal(t, PCA{}.Name(), d.Method().Name())
		s := sample{x: x, clean: rows.Data{N: x.N, D: x.D, X: make([]float64, len(x.X))}}
		require.Less(t, s.meanSquare(run(t, Auto{Latent: 2}, x, Options{}).X), 0.01*200)
	}
	p := planeOf(t, Auto{Latent: 2}, wideSphere(9, 200, 30, 0.05).x, Options{})
	require.False(t, p.empty)
}
