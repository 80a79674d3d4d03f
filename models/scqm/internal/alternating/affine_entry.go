package alternating

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// entrySystem is the normal equations for diagonal W_i with entries w_ij:
//
//	c_j, c_j          sum_i w_ij
//	c_j, Theta_ak     V_jk sum_i w_ij phi_ia
//	Theta, Theta      sum_i phi_i phi_i' (x) V'W_iV, plus the penalty
//
// of which c is eliminated. The sums take nDs^2 + nq^2 s^2 operations, the solution
// (qs)^3.
type entrySystem struct {
	total *entrySums
	parts []*entrySums // per shard
	t     []float64    // D
	rhs   []float64    // qs
}

// entrySums is what some rows add.
type entrySums struct {
	bottom []float64 // D: sum w_ij
	mixed  []float64 // q x D: sum w_ij phi_ia
	theta  []float64 // qs x qs
	phi    []float64 // q
	wv     []float64 // D
	b      []float64 // s x s: V'W_iV
}

func newEntrySystem(o *objective.Objective, f *sheet.Sheet) *entrySystem {
	s := &entrySystem{
		total: newEntrySums(f), parts: make([]*entrySums, par.Shards(o.Data().N)),
		t: make([]float64, f.D), rhs: make([]float64, f.Q*f.S),
	}
	for i := range s.parts {
		s.parts[i] = newEntrySums(f)
	}
	return s
}

func newEntrySums(f *sheet.Sheet) *entrySums {
	size := f.Q * f.S
	return &entrySums{
		bottom: make([]float64, f.D), mixed: make([]float64, f.Q*f.D), theta: make([]float64, size*size),
		phi: make([]float64, f.Q), wv: make([]float64, f.D), b: make([]float64, f.S*f.S),
	}
}

func (t *entrySums) reset() {
	clear(t.bottom)
	clear(t.mixed)
	clear(t.theta)
}

func (s *entrySystem) assemble(o *objective.Objective, f *sheet.Sheet, tau, w []float64) error {
	par.Do(o.Threads(), len(s.parts), func(_, shard int) {
		t := s.parts[shard]
		t.reset()
		lo, hi := par.Bounds(o.Data().N, shard)
		for i := lo; i < hi; i++ {
			t.add(f, tau[i*f.Latent:(i+1)*f.Latent], w[i*f.D:(i+1)*f.D])
		}
	})
	s.total.reset()
	for _, t := range s.parts {
		floats.Add(s.total.bottom, t.bottom)
		floats.Add(s.total.mixed, t.mixed)
		floats.Add(s.total.theta, t.theta)
	}
	s.eliminate(f)
	size := f.Q * f.S
	for i := range size {
		s.total.theta[i*size+i] += 2 * o.Lambda * sheet.VechWeight(f.Latent, i/f.S)
	}
	if size > 0 {
		dense.JitteredCholesky(s.total.theta, size)
	}
	return o.Context().Err()
}

// add adds a row.
func (t *entrySums) add(f *sheet.Sheet, tau, w []float64) {
	sheet.Vech(t.phi, tau)
	floats.Add(t.bottom, w)
	for k := range f.S {
		floats.MulTo(t.wv, w, f.Axis(f.Latent+k))
		for l := range k + 1 {
			v := floats.Dot(t.wv, f.Axis(f.Latent+l))
			t.b[k*f.S+l], t.b[l*f.S+k] = v, v
		}
	}
	if f.S == 0 {
		return
	}
	size := f.Q * f.S
	for a, u := range t.phi {
		floats.AddScaled(t.mixed[a*f.D:(a+1)*f.D], u, w)
		for c, v := range t.phi {
			for k := range f.S {
				floats.AddScaled(t.theta[(a*f.S+k)*size+c*f.S:][:f.S], u*v, t.b[k*f.S:(k+1)*f.S])
			}
		}
	}
}

// eliminate takes c out of the system of Theta.
func (s *entrySystem) eliminate(f *sheet.Sheet) {
	t, size := s.total, f.Q*f.S
	for a := range f.Q {
		for c := range a + 1 {
			floats.MulTo(s.t, t.mixed[a*f.D:(a+1)*f.D], t.mixed[c*f.D:(c+1)*f.D])
			divide(s.t, t.bottom)
			for k := range f.S {
				floats.MulTo(t.wv, s.t, f.Axis(f.Latent+k))
				for l := range f.S {
					v := floats.Dot(t.wv, f.Axis(f.Latent+l))
					t.theta[(a*f.S+k)*size+c*f.S+l] -= v
					if a != c {
						t.theta[(c*f.S+l)*size+a*f.S+k] -= v
					}
				}
			}
		}
	}
}

// divide divides x by positive numbers, and by zero to zero.
func divide(x, by []float64) {
	for j, v := range by {
		if v == 0 {
			x[j] = 0
			continue
		}
		x[j] /= v
	}
}

func (s *entrySystem) solve(f *sheet.Sheet, dc, dt, gc, gt []float64) {
	t := s.total
	copy(s.rhs, gt)
	copy(s.t, gc)
	divide(s.t, t.bottom)
	for a := range f.Q {
		if f.S == 0 {
			break
		}
		floats.MulTo(t.wv, s.t, t.mixed[a*f.D:(a+1)*f.D])
		for k := range f.S {
			s.rhs[a*f.S+k] -= floats.Dot(t.wv, f.Axis(f.Latent+k))
		}
	}
	if len(dt) > 0 {
		dense.SolveCholesky(s.rhs, t.theta, len(dt))
		floats.ScaleTo(dt, -1, s.rhs)
	}
	floats.ScaleTo(dc, -1, gc)
	for a := range f.Q {
		for k := range f.S {
			floats.ScaleTo(t.wv, -dt[a*f.S+k], f.Axis(f.Latent+k))
			floats.Mul(t.wv, t.mixed[a*f.D:(a+1)*f.D])
			floats.Add(dc, t.wv)
		}
	}
	divide(dc, t.bottom)
}
