package plugins

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/framework/rowloss"
)

var builtins = []string{"l1", "l2", "squared_l2", "lp:1.3", "lp:3", "huber:0.7"}

// normal returns n numbers from a fixed stream.
func normal(n int) []float64 {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// TestAPluginIsTheLossItServes compares, to the last bit and through both ways
// of transport, everything that a loss offers.
func TestAPluginIsTheLossItServes(t *testing.T) {
	for _, kind := range builtins {
		for _, bytes := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/bytes=%v", kind, bytes), func(t *testing.T) {
				p := start(t, "builtin:"+kind, Options{NoSharedMemory: bytes})
				assert.Equal(t, !bytes, p.segments.Usable())
				l, want := p.Loss(), builtin(kind)
				assert.Equal(t, want.Name(), l.Name())
				assert.Equal(t, rowloss.StructureOf(want), rowloss.StructureOf(l))
				for _, rows := range []int{1, 7, 3000} {
					sameLoss(t, want, l, rows)
				}
			})
		}
	}
}

func sameLoss(t *testing.T, want, got framework.Loss, rows int) {
	t.Helper()
	const dim = 5
	r, v := normal(rows*dim), normal(rows * dim)[:rows*dim]
	compare := func(what string, n int, evaluate func(l framework.Loss, dst []float64) error) {
		a, b := make([]float64, n), make([]float64, n)
		require.NoError(t, evaluate(want, a), what)
		require.NoError(t, evaluate(got, b), what)
		require.Equal(t, a, b, what)
	}
	compare("values", rows, func(l framework.Loss, dst []float64) error { return l.Evaluate(dst, nil, r, dim) })
	compare("gradients", rows*dim, func(l framework.Loss, dst []float64) error { return l.Evaluate(nil, dst, r, dim) })
	if _, ok := want.(framework.Majorizer); ok {
		n := rows * dim
		if rowloss.StructureOf(want) == rowloss.StructureRadial {
			n = rows
		}
		compare("weights", n, func(l framework.Loss, dst []float64) error {
			return l.(framework.Majorizer).Weights(dst, r, dim)
		})
	}
	if _, ok := want.(framework.SecondOrder); ok {
		compare("products", rows*dim, func(l framework.Loss, dst []float64) error {
			return l.(framework.SecondOrder).HessianProduct(dst, r, v, dim)
		})
	}
	if _, ok := want.(framework.Smoother); ok {
		compare("smoothed values", rows, func(l framework.Loss, dst []float64) error {
			return l.(framework.Smoother).Smooth(0.1).Evaluate(dst, nil, r, dim)
		})
	}
	compare("profile", 3*rows, func(l framework.Loss, dst []float64) error {
		switch l := l.(type) {
		case framework.Radial:
			l.Rho(dst[:rows], dst[rows:2*rows], dst[2*rows:], squaresOf(r[:rows]))
		case framework.Separable:
			l.Phi(dst[:rows], dst[rows:2*rows], dst[2*rows:], r[:rows])
		}
		return nil
	})
}

func squaresOf(x []float64) []float64 {
	u := make([]float64, len(x))
	for i, v := range x {
		u[i] = v * v
	}
	return u
}

func TestPluginsObeyTheLaws(t *testing.T) {
	for _, kind := range builtins {
		t.Run(kind, func(t *testing.T) {
			frameworktest.TestLoss(t, start(t, "builtin:"+kind, Options{}).Loss(), frameworktest.LossOptions{Seed: 3})
		})
	}
}
