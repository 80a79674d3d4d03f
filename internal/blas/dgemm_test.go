//go:build cgo

package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/blas/blastest"
)

// shapes are m, n, k of products: thin, odd, just around the limits, and large
// enough for several tiles along every side.
var shapes = [][3]int{
	{2, 2, 8192}, {8192, 2, 2}, {2, 8192, 2}, {5, 160, 41}, {33, 31, 47}, {65, 64, 64},
	{67, 75, 69}, {3, 1500, 65}, {65, 3, 1500}, {1500, 65, 3},
}

func borrowed(t *testing.T) *Borrowed {
	t.Helper()
	l, err := Borrow(blastest.Address())
	require.NoError(t, err)
	blastest.Calls()
	return l
}

// random fills rows of the length of the stride.
func random(rng *rand.Rand, rows, stride int) []float64 {
	x := make([]float64, rows*stride)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// TestDgemmAgreesWithGonum for all transposes, shapes, strides and factors.
func TestDgemmAgreesWithGonum(t *testing.T) {
	l := borrowed(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range shapes {
		m, n, k := s[0], s[1], s[2]
		for _, ta := range []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans} {
			for _, tb := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				for pad, factors := range [][2]float64{{1, 0}, {1, 1}, {-0.5, 2}} {
					t.Run(fmt.Sprint(s, string(ta), string(tb), factors), func(t *testing.T) {
						lda, a := matrix(rng, ta, m, k, pad)
						ldb, b := matrix(rng, tb, k, n, 2*pad)
						ldc := n + 3*pad
						got := random(rng, m, ldc)
						want := append([]float64(nil), got...)
						if factors[1] == 0 { // what c holds must not matter
							got[0], got[m*ldc-1-3*pad] = math.NaN(), math.Inf(1)
						}
						gonum.Implementation{}.Dgemm(ta, tb, m, n, k, factors[0], a, lda, b, ldb, factors[1], want, ldc)
						l.Dgemm(ta, tb, m, n, k, factors[0], a, lda, b, ldb, factors[1], got, ldc)
						calls, most := blastest.Calls()
						assert.Positive(t, calls, "the library computes it")
						assert.LessOrEqual(t, most, largest, "on one thread")
						assert.LessOrEqual(t, floats.Distance(want, got, math.Inf(1)), 1e-12*float64(k))
					})
				}
			}
		}
	}
}

// matrix returns op(A), rows x columns, with some numbers between its rows.
func matrix(rng *rand.Rand, t blas.Transpose, rows, columns, pad int) (stride int, x []float64) {
	if t != blas.NoTrans {
		rows, columns = columns, rows
	}
	return columns + pad, random(rng, rows, columns+pad)[:(rows-1)*(columns+pad)+columns]
}

// TestDgemmLeavesTheRestToGonum: small, thin and empty products, and those that
// gonum refuses.
func TestDgemmLeavesTheRestToGonum(t *testing.T) {
	l := borrowed(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{{0, 3, 3}, {3, 0, 3}, {3, 3, 0}, {31, 32, 32}, {1, 200, 200}, {200, 1, 200}, {200, 200, 1}} {
		m, n, k := s[0], s[1], s[2]
		a, b, c := random(rng, m, max(k, 1)), random(rng, k, max(n, 1)), random(rng, m, max(n, 1))
		want := slices.Clone(c)
		gonum.Implementation{}.Dgemm(blas.NoTrans, blas.NoTrans, m, n, k, 2, a, max(k, 1), b, max(n, 1), 3, want, max(n, 1))
		l.Dgemm(blas.NoTrans, blas.NoTrans, m, n, k, 2, a, max(k, 1), b, max(n, 1), 3, c, max(n, 1))
		assert.Equal(t, want, c, "%v", s)
	}
	square := make([]float64, 100*100)
	for name, call := range map[string]func(){
		"short a": func() {
			l.Dgemm(blas.NoTrans, blas.NoTrans, 100, 100, 100, 1, square[1:], 100, square, 100, 0, square, 100)
		},
		"short b": func() {
			l.Dgemm(blas.NoTrans, blas.NoTrans, 100, 100, 100, 1, square, 100, square[1:], 100, 0, square, 100)
		},
		"short c": func() {
			l.Dgemm(blas.NoTrans, blas.NoTrans, 100, 100, 100, 1, square, 100, square, 100, 0, square[1:], 100)
		},
		"bad stride":    func() { l.Dgemm(blas.Trans, blas.NoTrans, 100, 100, 90, 1, square, 99, square, 100, 0, square, 100) },
		"bad transpose": func() { l.Dgemm('x', blas.NoTrans, 100, 100, 100, 1, square, 100, square, 100, 0, square, 100) },
		"negative shape": func() {
			l.Dgemm(blas.NoTrans, blas.NoTrans, -100, -100, 100, 1, square, 100, square, 100, 0, square, 100)
		},
	} {
		assert.Panics(t, call, name)
	}
	calls, _ := blastest.Calls()
	assert.Zero(t, calls)
}

// TestTiles cover a product, none larger than OpenBLAS computes on one thread.
func TestTiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		side := func() int { return 2 + int(math.Exp(9*rng.Float64())) }
		m, n, k := side(), side(), side()
		tm, tn, tk := tile(m, n, k)
		require.LessOrEqual(t, tm*tn*tk, largest, "%d %d %d", m, n, k)
		require.True(t, 1 <= tm && tm <= m && 1 <= tn && tn <= n && 1 <= tk && tk <= k)
		require.GreaterOrEqual(t, 4*tm*tn*tk, min(largest, m*n*k), "tiles of %d x %d x %d are not small", m, n, k)
	}
}

func TestBorrowRefusesNoAddress(t *testing.T) {
	_, err := Borrow(0)
	assert.ErrorContains(t, err, "address of dgemm is 0")
}
