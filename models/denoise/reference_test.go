package denoise

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

// sample is noisy rows with the rows they come from and the projection on the
// true surface.
type sample struct {
	x, clean scqm.Data
	oracle   func(dst, x []float64)
}

// sphereSample draws n points on the unit sphere in R^3 with normal noise.
func sphereSample(seed uint64, n int, sigma float64) sample {
	rng := rand.New(rand.NewPCG(seed, 77))
	s := sample{
		x: scqm.Data{N: n, D: 3, X: make([]float64, 3*n)}, clean: scqm.Data{N: n, D: 3, X: make([]float64, 3*n)},
		oracle: func(dst, x []float64) {
			norm := math.Sqrt(dot(x, x))
			for j, v := range x {
				dst[j] = v / norm
			}
		},
	}
	for i := range n {
		p := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		s.oracle(s.clean.Row(i), p)
		for j, v := range s.clean.Row(i) {
			s.x.Row(i)[j] = v + sigma*rng.NormFloat64()
		}
	}
	return s
}

// meanSquare is mean |clean - y|^2.
func (s sample) meanSquare(y []float64) float64 {
	var sum float64
	for i, v := range s.clean.X {
		sum += (v - y[i]) * (v - y[i]) / float64(s.clean.N)
	}
	return sum
}

func (s sample) oracleError() float64 {
	y := make([]float64, len(s.x.X))
	for i := range s.x.N {
		s.oracle(y[3*i:3*i+3], s.x.Row(i))
	}
	return s.meanSquare(y)
}

func run(t testing.TB, m Method, x scqm.Data, o Options) *Result {
	t.Helper()
	d, err := Fit(context.Background(), m, x, o)
	require.NoError(t, err)
	r, err := d.Denoise(context.Background(), x, o)
	require.NoError(t, err)
	return r
}

func (s sample) score(t testing.TB, m Method) float64 {
	return s.meanSquare(run(t, m, s.x, Options{Reach: math.Inf(1)}).X)
}

func lp(t testing.TB, p float64) framework.Loss {
	l, err := losses.Lp(p)
	require.NoError(t, err)
	return l
}

// TestLookAtTables prints tables for those who develop methods.
func TestLookAtTables(t *testing.T) {
	if os.Getenv("SCQM_TABLES") == "" {
		t.Skip()
	}
	methods := []struct {
		name string
		m    Method
	}{
		{"Q2 r0", SCQM{Latent: 2, Ridge: NoRidge}},
		{"Q2 r10", SCQM{Latent: 2}},
		{"L sq", SCQM{Latent: 2, Linear: true}},
		{"LPCA", LPCA{Latent: 2}},
		{"SPH", SPH{Latent: 2}},
		{"MFIT", MFIT{Latent: 2}},
		{"MFIT .1", MFIT{Latent: 2, Beta: .1}},
		{"MLS", MLS{Latent: 2}},
		{"MLS flat", MLS{Latent: 2, Flat: true}},
		{"QMF", QMF{Latent: 2}},
		{"KDE", KDE{Latent: 2}},
		{"logKDE", KDE{Latent: 2, Log: true}},
		{"KDE loc", KDE{Latent: 2, Local: true}},
	}
	for _, sigma := range []float64{.03, .06, .09, .12, .15, .18, .21} {
		fmt.Printf("%.2f ", sigma)
		const seeds = 4
		var oracle float64
		sums := make([]float64, len(methods))
		for seed := range uint64(seeds) {
			s := sphereSample(seed, 300, sigma)
			oracle += s.oracleError() / seeds
			for i, m := range methods {
				sums[i] += s.score(t, m.m) / seeds
			}
		}
		fmt.Printf(" oracle %.1f", oracle*1e4)
		for i, m := range methods {
			fmt.Printf(" | %s %.1f", m.name, sums[i]*1e4)
		}
		fmt.Println()
	}
}

func TestLookAtAuto(t *testing.T) {
	if os.Getenv("SCQM_AUTO") == "" {
		t.Skip()
	}
	for _, sigma := range []float64{.03, .09, .21} {
		const seeds = 6
		var oracle, auto, square, flat float64
		for seed := range uint64(seeds) {
			s := sphereSample(seed, 300, sigma)
			oracle += s.oracleError()
			auto += s.score(t, Auto{Latent: 2})
			square += s.score(t, Auto{Latent: 2, LeastSquares: true})
			flat += s.score(t, MLS{Latent: 2, Flat: true})
		}
		fmt.Printf("%.2f auto %.4f squared %.4f mls %.4f\n", sigma, auto/oracle, square/oracle, flat/oracle)
	}
}
