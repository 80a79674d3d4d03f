package nearest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// anySheet has d of 1 to 3 and as many directions of curvature as they can use, from flat to
// folded many times.
func anySheet(rng *rand.Rand) *sheet.Sheet {
	d := 1 + rng.IntN(3)
	f := sheet.New(d+sheet.VechLen(d)+rng.IntN(3), d, 1+rng.IntN(sheet.VechLen(d)))
	curvature := math.Pow(10, 3*rng.Float64()-2)
	for i := range f.Theta {
		f.Theta[i] = curvature * rng.NormFloat64()
	}
	for i := range f.QT {
		f.QT[i] = rng.NormFloat64()
	}
	dense.OrthonormalizeRows(f.QT, f.D)
	for i := range f.C {
		f.C[i] = rng.NormFloat64()
	}
	return f
}

// TestDrillCertifiedRows: no search finds a nearer point to a certified row, wherever it was
// brought by descents from its own place or from that of another row, or by a few steps of one.
func TestDrillCertifiedRows(t *testing.T) {
	const within = 1e-9
	var certified, nearer atomic.Int64
	drill.Run(t, "certified rows", 20, func(c drill.Case) error {
		f := anySheet(c.Rand)
		p, cert := NewFootpoint(f), NewCertificate(f, within)
		noise := math.Pow(10, 2*c.Float64()-2)
		tau, z, phi := make([]float64, f.Latent), make([]float64, f.M), make([]float64, f.Q)
		for row := range 50 {
			x := make([]float64, f.D)
			for j := range tau {
				tau[j] = c.NormFloat64()
			}
			f.Coordinates(z, phi, tau)
			f.Residual(x, z, make([]float64, f.D))
			for j := range x {
				x[j] += noise * c.NormFloat64()
			}
			p.load(x)
			p.Quadratic.Reload()
			steps := []int{2, 5, maxSteps}[c.IntN(3)]
			if c.IntN(3) == 0 {
				for j := range tau {
					tau[j] += c.NormFloat64()
				}
			}
			p.Minimize(tau, steps, precision)
			whole := floats.Dot(p.diff, p.diff)
			if !cert.Holds(tau, p.Y, whole) {
				continue
			}
			certified.Add(1)
			inside := p.Value(tau)
			square := whole - floats.Dot(p.Y, p.Y) + inside
			p.nearest(x)
			best := min(p.Value(p.minima[0]), leastOfMany(c.Rand, p.Quadratic, 40))
			if best < inside-within*square-1e-13*whole {
				return fmt.Errorf("d = %d, s = %d, row %d: certified at the squared distance %.17g, and %.17g elsewhere", f.Latent, f.S, row, inside, best)
			}
			if best < inside-1e-12*square {
				nearer.Add(1)
			}
		}
		return nil
	})
	t.Logf("%d rows certified, %d of them nearer by more than rounding elsewhere", certified.Load(), nearer.Load())
	assert.Positive(t, certified.Load())
}

// Rows are listed in their order, whatever the number of threads: those between the two arms of a
// parabola that are at the farther one, and those whose coordinates have not settled.
func TestUncertainRows(t *testing.T) {
	f := sheet.New(2, 1, 1)
	copy(f.QT, []float64{1, 0, 0, 1})
	f.Theta[0] = 1
	const n = 4000
	x, tau := rows.Data{N: n, D: 2, X: make([]float64, 2*n)}, make([]float64, n)
	var want []int
	p := NewFootpoint(f)
	for i := range n {
		copy(x.Row(i), []float64{0.1, 1})
		side := 1.0
		if i%7 == 3 {
			side = -1
			want = append(want, i)
		}
		p.load(x.Row(i))
		tau[i] = side
		p.Minimize(tau[i:i+1], maxSteps, precision)
		if i%11 == 5 {
			tau[i] += 0.01
			if side > 0 {
				want = append(want, i)
			}
		}
	}
	for _, threads := range []int{1, 2, 3} {
		workers := make([]*Worker, threads)
		for i := range workers {
			workers[i] = NewWorker(f, n)
		}
		got, err := UncertainRows(t.Context(), tau, f, x, 1e-9, func(id int) *Worker { return workers[id] }, threads)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}
