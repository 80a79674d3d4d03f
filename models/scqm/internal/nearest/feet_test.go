package nearest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// hostile are numbers that rows hold at times.
var hostile = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1e300, 1e-300, 5e-324}

// feetCase is a sheet with rows that begin somewhere about it.
type feetCase struct {
	f                  *sheet.Sheet
	n, stride, steps   int
	pulled, whole, tau []float64
}

func drawFeet(rng *rand.Rand, spoilt bool) feetCase {
	d := 1 + rng.IntN(6)
	if rng.IntN(8) == 0 {
		d = 7 + rng.IntN(9)
	}
	s := 1 + rng.IntN(2*d+2)
	c := feetCase{f: sheet.New(d+s, d, s), n: rng.IntN(28), steps: 1 + rng.IntN(12)}
	c.stride = Rows(c.n) + rng.IntN(4)
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

// run returns tau and u of Move and Find, and what Certify says.
func (c feetCase) run(wide bool) (numbers []float64, certain []bool) {
	feet := NewFeet(c.f, Arrival{Step: 1e-3})
	feet.wide = wide
	for _, find := range []bool{false, true} {
		tau, u := append([]float64{}, c.tau...), make([]float64, c.n)
		if find {
			feet.Find(u, tau, c.pulled, c.stride, c.whole, c.n)
		} else {
			feet.Move(u, tau, c.pulled, c.stride, c.whole, c.n, c.steps)
		}
		numbers = append(append(numbers, tau...), u...)
	}
	certain = make([]bool, c.n)
	feet.Certify(certain, c.tau, c.pulled, c.stride, c.whole, c.n, 1e-2)
	return numbers, certain
}

// compare holds the kernels against plain Go, to the last bit.
func (c feetCase) compare() error {
	if !dense.HasAVX2() {
		return nil
	}
	want, sure := c.run(false)
	got, certain := c.run(true)
	for i, v := range want {
		if math.Float64bits(v) != math.Float64bits(got[i]) && !(math.IsNaN(v) && math.IsNaN(got[i])) {
			return fmt.Errorf("d = %d, s = %d, %d rows: number %d is %v, plain %v", c.f.Latent, c.f.S, c.n, i, got[i], v)
		}
	}
	for i, v := range sure {
		if v != certain[i] {
			return fmt.Errorf("d = %d, s = %d: row %d is certain: %v, plain %v", c.f.Latent, c.f.S, i, certain[i], v)
		}
	}
	return nil
}

// Every kernel places rows where plain Go does, and refuses and certifies those that it does.
func TestDrillFeet(t *testing.T) {
	drill.Run(t, "feet", 400, func(c drill.Case) error { return drawFeet(c.Rand, c.Index%2 == 0).compare() })
}

// Rows go where they go one by one, and certificates are those of single rows or stricter.
func TestFeetAreThoseOfRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	placed, certified, single := 0, 0, 0
	for range 300 {
		c := drawFeet(rng, false)
		d := c.f.Latent
		feet, q, certificate := NewFeet(c.f, Arrival{Step: 1e-3}), NewQuadratic(c.f), NewCertificate(c.f, 1e-2)
		q.Reload()
		tau, u, certain := append([]float64{}, c.tau...), make([]float64, c.n), make([]bool, c.n)
		feet.Move(u, tau, c.pulled, c.stride, c.whole, c.n, c.steps)
		feet.Certify(certain, tau, c.pulled, c.stride, c.whole, c.n, 1e-2)
		for i := range c.n {
			var inside float64
			for k := range q.Y {
				q.Y[k] = c.pulled[k*c.stride+i]
				inside += q.Y[k] * q.Y[k]
			}
			if certificate.Holds(tau[i*d:(i+1)*d], q.Y, c.whole[i]) {
				single++
			} else {
				require.False(t, certain[i])
			}
			if certain[i] {
				certified++
			}
			if u[i] == Refused {
				continue
			}
			placed++
			one := append([]float64{}, c.tau[i*d:(i+1)*d]...)
			h := q.Minimize(one, c.steps, 1e-3)
			assert.InDelta(t, c.whole[i]-inside+h, u[i], 1e-9*(1+c.whole[i]))
		}
	}
	require.Greater(t, placed, 1000)
	require.Greater(t, certified, 50)
	require.Greater(t, certified, single*9/10)
}

// What Find does not refuse is the nearest point.
func TestFindIsNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	found := 0
	for range 200 {
		c := drawFeet(rng, false)
		d := c.f.Latent
		feet, whole := NewFeet(c.f, Arrival{purePrecision, pureGradient}), NewFootpoint(c.f)
		whole.Quadratic.Reload()
		tau, u := make([]float64, c.n*d), make([]float64, c.n)
		feet.Find(u, tau, c.pulled, c.stride, c.whole, c.n)
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

func BenchmarkFeet(b *testing.B) {
	const n = 192
	for _, shape := range [][2]int{{1, 1}, {3, 6}, {5, 15}, {10, 3}, {10, 40}, {10, 55}} {
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
		feet, q := NewFeet(f, Arrival{Step: 1e-3}), NewQuadratic(f)
		b.Run(fmt.Sprintf("d=%d,s=%d/lanes", d, s), func(b *testing.B) {
			for b.Loop() {
				copy(tau, start)
				feet.Move(u, tau, pulled, n, whole, n, 2)
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
