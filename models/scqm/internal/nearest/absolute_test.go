package nearest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// absoluteAt is the sum of absolute residuals of x at tau.
func absoluteAt(f *sheet.Sheet, tau, x []float64) float64 {
	z, phi, r := make([]float64, f.M), make([]float64, f.Q), make([]float64, f.D)
	f.Coordinates(z, phi, tau)
	f.Residual(r, z, x)
	return floats.Norm(r, 1)
}

// wideSheet is one of many entries that bends in as many directions as it can.
func wideSheet(rng *rand.Rand, D, d int) *sheet.Sheet {
	f := sheet.New(D, d, d*(d+1)/2)
	bend := math.Pow(10, 2*rng.Float64()-2)
	for i := range f.Theta {
		f.Theta[i] = bend * rng.NormFloat64()
	}
	for i := range f.QT {
		f.QT[i] = rng.NormFloat64()
	}
	dense.OrthonormalizeRows(f.QT, f.D)
	return f
}

// Under l1 no point is nearer than that found: none that continuations over rounded kinks
// from several starts and neighbouring vertices come to, nor, where the search says that
// it is complete, any descent from a random point. A row gives the same among others.
func TestDrillNearestAbsolute(t *testing.T) {
	drill.Run(t, "nearest points by l1", 40, func(c drill.Case) error {
		f := randomSheet(c.Rand)
		x := rows.Data{N: 3}
		if c.IntN(4) == 0 {
			f = wideSheet(c.Rand, 10+c.IntN(150), 1+c.IntN(3))
			x.N = 1
		}
		d := f.Latent
		x.D = f.D
		for range x.N {
			x.X = append(x.X, randomRow(c.Rand, f)...)
		}
		tau, before := make([]float64, x.N*d), make([]float64, d)
		p := NewProjector(f, losses.L1())
		if err := p.Project(t.Context(), tau, x, 0); err != nil {
			return err
		}
		for i := range x.N {
			alone := NewProjector(f, losses.L1())
			row := rows.Data{N: 1, D: f.D, X: x.Row(i)}
			if err := alone.Project(t.Context(), before, row, 0); err != nil {
				return err
			}
			at := tau[i*d : (i+1)*d]
			if !floats.Equal(before, at) {
				return fmt.Errorf("row %d: tau %v alone, %v among others", i, before, at)
			}
			// Rounding of the residual counts where the row is far away.
			sum, slack := absoluteAt(f, at, x.Row(i)), 1e-13*(floats.Norm(x.Row(i), 1)+floats.Norm(f.C, 1)+absoluteAt(f, at, make([]float64, f.D)))
			if search := alone.absolute; search != nil {
				for range 20 {
					for j := range d {
						search.at[j] = search.best * c.NormFloat64()
					}
					if search.descend(); search.complete && search.least < sum*(1-1e-9)-slack {
						return fmt.Errorf("D = %d, d = %d, s = %d, row %d: sum %.17g, and %.17g by a descent", f.D, d, f.S, i, sum, search.least)
					}
				}
			}
			alone.absolute = nil
			if err := alone.Project(t.Context(), before, row, 0); err != nil {
				return err
			}
			if other := absoluteAt(f, before, x.Row(i)); other < sum*(1-1e-9)-slack {
				return fmt.Errorf("D = %d, d = %d, s = %d, row %d: sum %.17g, and %.17g by continuation", f.D, d, f.S, i, sum, other)
			}
		}
		return nil
	})
}

// What bounds say of a polynomial holds at random points of the box.
func TestPolynomialBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 14))
	for range 300 {
		d := 1 + rng.IntN(3)
		var c polynomial
		var b box
		for a := range 1 + d + d*(d+1)/2 {
			c[a] = rng.NormFloat64()
		}
		for j := range d {
			b.centre[j], b.half[j] = rng.NormFloat64(), rng.Float64()
		}
		at, change := enclose(c[:], &b, d)
		low := least(c[:], &b, d)
		for range 20 {
			point := b.centre
			for j := range d {
				point[j] += (2*rng.Float64() - 1) * b.half[j]
			}
			v := value(c[:], &point, d)
			require.InDelta(t, at, v, change+1e-12)
			require.Greater(t, v, low-1e-12)
		}
	}
}

// The first minimum along a line is lower than its begin, and a descent from there too.
func TestLineMinimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 14))
	for range 500 {
		var l line
		l.begin()
		entries := make([][3]float64, 1+rng.IntN(6))
		sum := func(s float64) (total float64) {
			for _, e := range entries {
				v := e[0] + s*(e[1]+s*e[2])
				total += max(v, -v)
			}
			return total
		}
		for k := range entries {
			entries[k] = [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64() / 3}
			l.add(k, entries[k][0], entries[k][1], entries[k][2])
		}
		if !l.falls() {
			continue
		}
		s, entry := l.minimum(100)
		require.Greater(t, s, 0.0)
		require.Less(t, sum(s), sum(0))
		if entry >= 0 {
			e := entries[entry]
			require.InDelta(t, 0, e[0]+s*(e[1]+s*e[2]), 1e-9)
		}
		for _, near := range []float64{s * (1 - 1e-6), s * (1 + 1e-6)} {
			require.GreaterOrEqual(t, sum(near), sum(s)-1e-10)
		}
	}
}

// No place of a cell up to where it is said to be covered by a cut is below it, in halves either.
func TestCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 14))
	far := 0
	for range 300 {
		d := 1 + rng.IntN(3)
		s := &leastAbsolute{}
		s.absoluteDescent.entries = &entries{f: sheet.New(d+2, d, 1)}
		s.best = 1
		var q polynomial
		for a := range cutTerms(d) {
			q[a] = rng.NormFloat64()
		}
		q[0] = 1 + rng.Float64()
		s.addCut(&q)
		c := newCells(d)
		c.wholeSphere(rng.IntN(4) * min(1, d-1))
		for k := range c.count {
			*c.end(k) = 5
		}
		c.extend(s.seen)
		for k := range c.count {
			to := min(*c.reached(k), 5)
			if to > 0 {
				far++
			}
			for range 10 {
				var at place
				shares, size := [maxBounded]float64{}, 0.0
				for i := range d {
					shares[i] = rng.ExpFloat64()
					size += shares[i]
				}
				length := to * rng.Float64()
				for i := range d {
					for j := range d {
						at[j] += length * shares[i] / size * *c.ray(k, i, j)
					}
				}
				require.GreaterOrEqual(t, value(q[:], &at, d), 1-1e-9)
			}
		}
	}
	require.Greater(t, far, 300)
}

// A descent that begins with some of many entries ends where no descent goes on, with the
// sum of all.
func TestFirstDescentByFewEntries(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 14))
	fewer := 0
	for range 60 {
		D, d := manyEntries+rng.IntN(200), 1+rng.IntN(3)
		f := wideSheet(rng, D, d)
		x := make([]float64, D)
		for k := range x {
			x[k] = rng.NormFloat64()
		}
		s := newLeastAbsolute(f, losses.L1())
		p := NewLossFootpoint(f, losses.SquaredL2())
		p.nearest(x)
		tau := append([]float64(nil), p.minima[0]...)
		s.load(x, tau)
		s.begin()
		if len(s.few.chosen) <= D/2 {
			fewer++
		}
		end := s.least
		for j := range d {
			tau[j] += s.at[j]
		}
		require.InEpsilon(t, absoluteAt(f, tau, x), end, 1e-12)
		s.descend()
		require.InEpsilon(t, end, s.least, 1e-12)
	}
	require.Positive(t, fewer)
}

// Every kernel of cells has the bits of plain Go.
func TestCellKernels(t *testing.T) {
	avx2, avx512 := dense.Wide()
	rng := rand.New(rand.NewPCG(7, 14))
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 1e200, 1e-200, -1e-310}
	for trial := range 3000 {
		d := 1 + trial%3
		draw := func(x []float64) {
			for i := range x {
				if x[i] = rng.NormFloat64(); trial%4 == 0 && rng.IntN(30) == 0 {
					x[i] = special[rng.IntN(len(special))]
				}
			}
		}
		c := newCells(d)
		draw(c.table)
		copy(c.table, []float64{0, 1, -1, math.Abs(c.table[cellFloor])})
		cuts := make([]float64, (1+rng.IntN(5))*cutSize(d))
		draw(cuts)
		for k := 0; k < len(cuts); k += cutSize(d) {
			cuts[k+cutTerms(d)] = 0 // the largest possible ray_i'B ray_j of rays that are not of size 1
			for _, v := range cuts[k+1+d : k+cutTerms(d)] {
				cuts[k+cutTerms(d)] += 100 * math.Abs(v)
			}
		}
		c.reset(cellLanes)
		draw(c.groups)
		for k := range cellLanes {
			*c.end(k) *= 3
		}
		begun, extended := append([]float64{}, c.groups...), append([]float64{}, c.groups...)
		c.plainBegin(begun)
		c.plainExtend(extended, cuts)
		check := func(name string, begin func(group []float64), extend func(group []float64)) {
			for i, f := range []func([]float64){begin, extend} {
				group := append([]float64{}, c.groups...)
				f(group)
				for k, want := range [][]float64{begun, extended}[i] {
					same := math.Float64bits(want) == math.Float64bits(group[k]) || math.IsNaN(want) && math.IsNaN(group[k])
					require.True(t, same, "%s, trial %d, kernel %d, number %d: %v, plain %v", name, trial, i, k, group[k], want)
				}
			}
		}
		if avx512 {
			check("AVX-512", func(g []float64) { cellsBegin512[d](&c.table[0], &g[0]) }, func(g []float64) {
				cellsExtend512[d](&c.table[0], &g[0], &cuts[0], len(cuts)/cutSize(d))
			})
		}
		if avx2 {
			check("AVX2", func(g []float64) {
				cellsBegin2[d](&c.table[0], &g[0])
				cellsBegin2[d](&c.table[0], &g[cellLanes/2])
			}, func(g []float64) {
				cellsExtend2[d](&c.table[0], &g[0], &cuts[0], len(cuts)/cutSize(d))
				cellsExtend2[d](&c.table[0], &g[cellLanes/2], &cuts[0], len(cuts)/cutSize(d))
			})
		}
	}
}

// pointOf writes f(tau).
func pointOf(f *sheet.Sheet, x, tau []float64) {
	z, phi := make([]float64, f.M), make([]float64, f.Q)
	f.Coordinates(z, phi, tau)
	copy(x, f.C)
	for k, v := range z {
		floats.AddScaled(x, v, f.Axis(k))
	}
}
