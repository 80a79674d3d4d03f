package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/dense"
)

// drawLanes draws k rows for kernels of charts, with the rows beyond them as they are gathered.
func drawLanes(rng *rand.Rand, k int) *spaceLanes {
	n := upToLanes(k)
	l := &spaceLanes{groups: n / lanes, stride: n, xStride: n, x: make([]float64, 3*n), own: make([]float64, spaceColumns*n)}
	for i := range k {
		for j := range 3 {
			l.x[j*n+i] = rng.Float64()
		}
		for j := range spaceColumns {
			l.own[j*n+i] = rng.NormFloat64()
		}
		l.own[spaceWeight*n+i] = rng.Float64()
		l.own[spaceUsed*n+i] = rng.Float64() * l.own[spaceWeight*n+i]
	}
	return l
}

// work calls every kernel, and returns all that they write.
func (l *spaceLanes) work(wide bool) []float64 {
	own := append([]float64{}, l.own...)
	var all []float64
	keep := func() { all = append(append(all, l.totals[:]...), l.own...); copy(l.own, own) }
	l.wide = wide
	l.totals = [spaceSums]float64{}
	l.weigh(.9)
	keep()
	l.plane([3]float64{.3, .4, .5})
	keep()
	l.turn([3]float64{.3, .4, .5}, 2, [3]float64{.6, .8, 0}, [3]float64{-.8, .6, .1}, [3]float64{.1, .2, 1})
	keep()
	b := [spaceTerms]float64{.1, -.2, .3, .4, -.5, .6}
	l.reweigh(&b, 1.5)
	keep()
	l.reweigh(&b, math.Inf(1))
	keep()
	l.reweighRows(&b, 1.5)
	keep()
	l.leverage(&b)
	keep()
	x, stride := l.x, l.xStride
	heights := append([]float64{}, l.column(spaceZ)...)
	for _, variance := range []float64{1, .2, 1e-3} {
		l.splitSides(&b, heights, .7, variance)
		keep()
		l.weighSide(&b, heights, -.7, variance)
		keep()
	}
	l.x, l.xStride = x, stride
	l.spread(&b)
	keep()
	for _, cosine := range []float64{-.3, 0, .8} {
		l.assign(&creaseTable{[3]float64{.3, .4, .5}, [2][3]float64{{.6, .8, 0}, {-.8, .5, .1}}, [2]float64{.1, -.2}, cosine, 1 / (1 - cosine*cosine), 4, .04})
		keep()
	}
	return all
}

// Kernels have the bits of plain Go.
func TestChartKernels(t *testing.T) {
	if !dense.HasAVX2() {
		t.Skip("there are no kernels for this processor")
	}
	for k := range 70 {
		l := drawLanes(rand.New(rand.NewPCG(uint64(k), 5)), k)
		want := l.work(false)
		for i, v := range l.work(true) {
			if math.Float64bits(v) != math.Float64bits(want[i]) {
				require.Equal(t, want[i], v, "%d rows, number %d", k, i)
			}
		}
	}
}

// What kernels add up are the sums that charts are made of.
func TestChartKernelsAgainstSums(t *testing.T) {
	const k = 21
	l := drawLanes(rand.New(rand.NewPCG(3, 5)), k)
	n := l.stride
	row := func(i int) [3]float64 { return [3]float64{l.x[i], l.x[n+i], l.x[2*n+i]} }
	l.wide = dense.HasAVX2()
	o := [3]float64{.2, .5, .7}
	u, v, w := [3]float64{.6, .8, 0}, [3]float64{-.8, .6, 0}, [3]float64{0, 0, 1}
	dot := func(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }
	l.turn(o, .5, u, v, w)
	var moments [spaceTerms][spaceTerms]float64
	var heights [spaceTerms]float64
	b := [spaceTerms]float64{.1, -.2, .3, .4, -.5, .6}
	const cut = 1.2
	var left float64
	psis := make([][spaceTerms]float64, k)
	for i := range k {
		e := row(i)
		for j := range e {
			e[j] = (e[j] - o[j]) / .5
		}
		p, q, z := dot(e, u), dot(e, v), dot(e, w)
		psi := [spaceTerms]float64{1, p, q, p * p, p * q, q * q}
		psis[i] = psi
		r := z
		for a := range psi {
			heights[a] += l.own[spaceUsed*n+i] * psi[a] * z
			r -= b[a] * psi[a]
			for c := range psi {
				moments[a][c] += l.own[spaceUsed*n+i] * psi[a] * psi[c]
			}
		}
		left += l.own[spaceWeight*n+i] * Tukey(r*r/(cut*cut))
	}
	for a := range spaceTerms {
		require.InDelta(t, heights[a], l.sum(15+a), 1e-12)
		for c := range spaceTerms {
			require.InDelta(t, moments[a][c], l.sum(spaceMoment[a][c]), 1e-12, fmt.Sprint(a, c))
		}
	}
	all, rest := l.reweigh(&b, cut)
	require.InDelta(t, left, rest, 1e-12)
	var sum, squares float64
	for i := range k {
		sum += l.own[spaceWeight*n+i]
		value := 0.0
		for a, f := range psis[i] {
			value += b[a] * f
		}
		value *= l.own[spaceUsed*n+i]
		squares += value * value
	}
	require.InDelta(t, sum, all, 1e-12)
	require.InDelta(t, squares, l.leverage(&b), 1e-12)
}
