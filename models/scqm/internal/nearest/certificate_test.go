package nearest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
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
		p, cert, worker := NewProjection(f), newCertificate(f, losses.L2(), within), NewWorker(f, 1)
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
			steps := []int{2, 5, maxSteps}[c.IntN(3)]
			if c.IntN(3) == 0 {
				for j := range tau {
					tau[j] += c.NormFloat64()
				}
			}
			p.Minimize(tau, steps, precision)
			whole := floats.Dot(p.diff, p.diff)
			uncertain, err := cert.uncertain(nil, worker, tau, rows.Data{N: 1, D: f.D, X: x}, 0, 1)
			if err != nil {
				return err
			}
			if len(uncertain) > 0 {
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
	p := NewProjection(f)
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
		got, err := UncertainRows(t.Context(), tau, f, losses.L2(), x, 1e-9, func(id int) *Worker { return workers[id] }, threads)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}

// TestDrillCertifiedLosses says the same of losses that are no function of the norm: descents from
// many places find no smaller loss than that of a certified row.
func TestDrillCertifiedLosses(t *testing.T) {
	const within = 1e-9
	var certified atomic.Int64
	drill.Run(t, "certified losses", 10, func(c drill.Case) error {
		f := anySheet(c.Rand)
		loss := anyMinorized(t, c.Rand, f.D)
		noise := math.Pow(10, 2*c.Float64()-2)
		x, tau := rows.Data{N: 30, D: f.D, X: make([]float64, 30*f.D)}, make([]float64, 30*f.Latent)
		z, phi := make([]float64, f.M), make([]float64, f.Q)
		for i := range x.N {
			local := tau[i*f.Latent : (i+1)*f.Latent]
			for j := range local {
				local[j] = c.NormFloat64()
			}
			f.Coordinates(z, phi, local)
			f.Residual(x.Row(i), z, make([]float64, f.D))
			for j := range x.Row(i) {
				x.X[i*f.D+j] += noise * c.NormFloat64()
			}
		}
		w := NewWorker(f, x.N)
		worker := func(int) *Worker { return w }
		if err := SettleRows(t.Context(), tau, f, loss, x, worker, 1); err != nil {
			return err
		}
		list, err := UncertainRows(t.Context(), tau, f, loss, x, within, worker, 1)
		if err != nil {
			return err
		}
		here, there, start := make([]float64, x.N), make([]float64, x.N), make([]float64, len(tau))
		e := RowEvaluation{Sheet: f, Loss: loss, Data: x, Tau: tau}
		if err := e.Run(t.Context(), w, RowResults{Costs: here}, nil, 0, x.N); err != nil {
			return err
		}
		certified.Add(int64(x.N - len(list)))
		for range 20 {
			spread := math.Pow(10, 2*c.Float64()-1)
			for j := range start {
				start[j] = spread * c.NormFloat64()
			}
			if err := RefineRows(t.Context(), start, f, loss, x, 1); err != nil {
				return err
			}
			e.Tau = start
			if err := e.Run(t.Context(), w, RowResults{Costs: there}, nil, 0, x.N); err != nil {
				return err
			}
			for i, v := range there {
				if !slices.Contains(list, i) && v < here[i]*(1-within)-1e-13 {
					return fmt.Errorf("%s, d = %d, s = %d, row %d: certified at %.17g, and %.17g elsewhere", loss.Name(), f.Latent, f.S, i, here[i], v)
				}
			}
		}
		return nil
	})
	t.Logf("%d rows certified", certified.Load())
	assert.Positive(t, certified.Load())
}

// anyMinorized is r'Mr, or the sum of a power above 1.
func anyMinorized(t *testing.T, rng *rand.Rand, dim int) framework.Loss {
	if kind := rng.IntN(3); kind > 0 {
		loss, err := losses.Lp([]float64{1 + rng.Float64(), 2 + 2*rng.Float64()}[kind-1])
		require.NoError(t, err)
		return loss
	}
	a, m := mat.NewDense(dim, dim, nil), mat.NewSymDense(dim, nil)
	for i := range dim {
		for j := range dim {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	m.SymOuterK(1, a)
	for i := range dim {
		m.SetSym(i, i, m.At(i, i)+0.1)
	}
	loss, err := losses.Mahalanobis(m)
	require.NoError(t, err)
	return loss
}

// A worker serves batches of any length after rows of a shorter one were certified.
func TestWorkerAfterCertificate(t *testing.T) {
	const D, n = 9, 40
	rng := rand.New(rand.NewPCG(5, 5))
	f := sheet.New(D, 3, 2)
	x := rows.Data{N: n, D: D, X: make([]float64, n*D)}
	tau := make([]float64, n*f.Latent)
	for _, v := range [][]float64{f.C, f.QT, f.Theta, x.X, tau} {
		for i := range v {
			v[i] = rng.NormFloat64()
		}
	}
	w := NewWorker(f, n)
	few := rows.Data{N: 8, D: D, X: x.X[:8*D]}
	_, err := UncertainRows(t.Context(), tau, f, losses.L2(), few, 1e-9, func(int) *Worker { return w }, 1)
	require.NoError(t, err)
	want, got := make([]float64, len(tau)), make([]float64, len(tau))
	e := RowEvaluation{Sheet: f, Loss: losses.L2(), Data: x, Tau: tau}
	require.NoError(t, e.Run(t.Context(), NewWorker(f, n), RowResults{Grad: want}, nil, 0, n))
	require.NoError(t, e.Run(t.Context(), w, RowResults{Grad: got}, nil, 0, n))
	require.Equal(t, want, got)
}

// Where a sum of powers is no larger than at a row, it is above its tangent parabola there.
func TestPowerWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	const dim = 4
	r, b, g, w, value, other := make([]float64, dim), make([]float64, dim), make([]float64, dim), make([]float64, dim), make([]float64, 1), make([]float64, 1)
	tight := 0
	for range 20000 {
		p := 1 + rng.Float64()*0.999
		loss, err := losses.Lp(p)
		require.NoError(t, err)
		for k := range r {
			r[k] = rng.NormFloat64() * math.Pow(10, -4*rng.Float64())
			b[k] = rng.NormFloat64()
		}
		if rng.IntN(4) == 0 { // one entry has nearly all of the loss
			for k := range r {
				r[k] *= 1e-5
				b[k] *= 1e-3
			}
			r[0], b[0] = 1, math.Copysign(1-1e-3*rng.Float64(), rng.NormFloat64())
		}
		require.NoError(t, loss.Evaluate(value, g, r, dim))
		require.NoError(t, loss.Evaluate(other, nil, b, dim))
		if other[0] > value[0] {
			floats.Scale(math.Pow(value[0]/other[0], 1/p), b)
			require.NoError(t, loss.Evaluate(other, nil, b, dim))
		}
		powerWeights(w, p, value[0], g, r)
		bound := value[0]
		for k, v := range b {
			bound += g[k]*(v-r[k]) + w[k]*(v-r[k])*(v-r[k])/2
		}
		require.LessOrEqual(t, bound, other[0]+1e-14*value[0], "p = %v, r = %v, b = %v", p, r, b)
		if bound > 0.5*other[0] {
			tight++
		}
	}
	assert.Greater(t, tight, 1000)
}
