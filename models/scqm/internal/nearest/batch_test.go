package nearest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// hostile are numbers that rows hold at times.
var hostile = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1e300, 1e-300, 5e-324}

// batchCase is a sheet with rows that begin somewhere about it.
type batchCase struct {
	f                  *sheet.Sheet
	n, stride, steps   int
	pulled, whole, tau []float64
}

func drawBatch(rng *rand.Rand, spoilt bool) batchCase {
	d := 1 + rng.IntN(6)
	if rng.IntN(8) == 0 {
		d = 7 + rng.IntN(9)
	}
	s := 1 + rng.IntN(2*d+2)
	c := batchCase{f: sheet.New(d+s, d, s), n: rng.IntN(200) + 1, steps: 1 + rng.IntN(12)}
	c.stride = c.n + rng.IntN(4)
	draw := func(n int) []float64 {
		x := make([]float64, n+3)[rng.IntN(3):][:n] // begins anywhere
		for i := range x {
			if x[i] = rng.NormFloat64(); spoilt && rng.IntN(200) == 0 {
				x[i] = hostile[rng.IntN(len(hostile))]
			}
		}
		return x
	}
	copy(c.f.Theta, draw(len(c.f.Theta)))
	bend := math.Pow(10, 2*rng.Float64()-1.5) / float64(d)
	for i := range c.f.Theta {
		c.f.Theta[i] *= bend
	}
	c.pulled, c.whole, c.tau = draw(c.f.M*c.stride), draw(c.n), draw(c.n*d)
	apart := rng.Float64()
	for i := range c.n {
		c.whole[i] = math.Abs(c.whole[i])
		for j := range d {
			c.tau[i*d+j] = c.pulled[j*c.stride+i] + apart*c.tau[i*d+j]
		}
		for k := range c.f.M {
			c.whole[i] += c.pulled[k*c.stride+i] * c.pulled[k*c.stride+i]
		}
	}
	return c
}

// run returns tau and u of rows from one to another.
func (c batchCase) run(from, to int, project bool) (tau, u []float64) {
	b, d := NewBatch(c.f, LastStep), c.f.Latent
	tau, u = append([]float64{}, c.tau[from*d:to*d]...), make([]float64, to-from)
	if project {
		b.Project(u, tau, c.pulled[from:], c.stride, c.whole[from:], to-from)
	} else {
		b.Improve(u, tau, c.pulled[from:], c.stride, c.whole[from:], to-from, c.steps)
	}
	return tau, u
}

// A row has the bits that it has alone, whatever the rows beside it hold.
func TestDrillBatch(t *testing.T) {
	drill.Run(t, "batch", 400, func(k drill.Case) error {
		c := drawBatch(k.Rand, k.Index%2 == 0)
		d := c.f.Latent
		for _, project := range []bool{false, true} {
			tau, u := c.run(0, c.n, project)
			for i := range c.n {
				one, v := c.run(i, i+1, project)
				for j, want := range append(one, v[0]) {
					got := append(tau[i*d:(i+1)*d:(i+1)*d], u[i])[j]
					if math.Float64bits(want) != math.Float64bits(got) && !(math.IsNaN(want) && math.IsNaN(got)) {
						return fmt.Errorf("d = %d, s = %d, row %d of %d: number %d is %v, alone %v", d, c.f.S, i, c.n, j, got, want)
					}
				}
			}
		}
		return nil
	})
}

// Rows go where they go one by one.
func TestBatchIsQuadratic(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	projected := 0
	for range 300 {
		c := drawBatch(rng, false)
		d, q := c.f.Latent, NewQuadratic(c.f)
		_, u := c.run(0, c.n, false)
		for i, v := range u {
			if v == Refused {
				continue
			}
			projected++
			var inside float64
			for k := range q.Y {
				q.Y[k] = c.pulled[k*c.stride+i]
				inside += q.Y[k] * q.Y[k]
			}
			h := q.Minimize(append([]float64{}, c.tau[i*d:(i+1)*d]...), c.steps, 1e-3)
			assert.InDelta(t, c.whole[i]-inside+h, v, 1e-9*(1+c.whole[i]))
		}
	}
	require.Greater(t, projected, 1000)
}

// What Project does not refuse is the nearest point.
func TestBatchProjectsToNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	found := 0
	for range 200 {
		c := drawBatch(rng, false)
		d := c.f.Latent
		tau, u := c.run(0, c.n, true)
		whole := NewProjection(c.f)
		for i := range c.n {
			if u[i] == Refused {
				continue
			}
			found++
			for k := range whole.Y {
				whole.Y[k] = c.pulled[k*c.stride+i]
			}
			least, other := whole.Value(tau[i*d:(i+1)*d]), make([]float64, d)
			for range 5 {
				for j := range other {
					other[j] = 3 * rng.NormFloat64()
				}
				assert.GreaterOrEqual(t, whole.Minimize(other, maxSteps, precision), least-1e-9*(1+least))
			}
		}
	}
	require.Greater(t, found, 300)
}

func BenchmarkBatch(b *testing.B) {
	const n = 192
	for _, shape := range [][2]int{{1, 1}, {2, 1}, {2, 3}, {3, 6}, {5, 15}, {10, 3}, {10, 40}, {10, 55}} {
		d, s := shape[0], shape[1]
		rng := rand.New(rand.NewPCG(1, 1))
		f := sheet.New(d+s, d, s)
		for i := range f.Theta {
			f.Theta[i] = rng.NormFloat64() / float64(4*d)
		}
		pulled, whole, u := make([]float64, f.M*n), make([]float64, n), make([]float64, n)
		tau, start := make([]float64, n*d), make([]float64, n*d)
		for i := range pulled {
			pulled[i] = rng.NormFloat64()
			whole[i%n] += 2 * pulled[i] * pulled[i]
		}
		for i := range start {
			start[i] = pulled[i%d*n+i/d] + rng.NormFloat64()/10
		}
		batch, q := NewBatch(f, 1e-3), NewQuadratic(f)
		b.Run(fmt.Sprintf("d=%d,s=%d/batch", d, s), func(b *testing.B) {
			for b.Loop() {
				copy(tau, start)
				batch.Improve(u, tau, pulled, n, whole, n, 2)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
		})
		b.Run(fmt.Sprintf("d=%d,s=%d/rows", d, s), func(b *testing.B) {
			for b.Loop() {
				copy(tau, start)
				for i := range n {
					for k := range q.Y {
						q.Y[k] = pulled[k*n+i]
					}
					q.Minimize(tau[i*d:(i+1)*d], 2, 1e-3)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
		})
	}
}
