package scqm

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
)

// entrySystem is the normal equations for diagonal W_i with entries w_ij:
//
//	c_j, c_j          sum_i w_ij
//	c_j, Theta_ak     V_jk sum_i w_ij phi_ia
//	Theta, Theta      sum_i phi_i phi_i' (x) V'W_iV, plus the penalty
//
// of which c is eliminated.
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

func newEntrySystem(o *objective, f *sheet) *entrySystem {
	s := &entrySystem{
		total: newEntrySums(f), parts: make([]*entrySums, par.Shards(o.Data().N)),
		t: make([]float64, f.D), rhs: make([]float64, f.q*f.s),
	}
	for i := range s.parts {
		s.parts[i] = newEntrySums(f)
	}
	return s
}

func newEntrySums(f *sheet) *entrySums {
	size := f.q * f.s
	return &entrySums{
		bottom: make([]float64, f.D), mixed: make([]float64, f.q*f.D), theta: make([]float64, size*size),
		phi: make([]float64, f.q), wv: make([]float64, f.D), b: make([]float64, f.s*f.s),
	}
}

func (t *entrySums) reset() {
	clear(t.bottom)
	clear(t.mixed)
	clear(t.theta)
}

func (s *entrySystem) assemble(o *objective, f *sheet, tau, w []float64) error {
	par.Do(o.Threads(), len(s.parts), func(_, shard int) {
		t := s.parts[shard]
		t.reset()
		lo, hi := par.Bounds(o.Data().N, shard)
		for i := lo; i < hi; i++ {
			t.add(f, tau[i*f.d:(i+1)*f.d], w[i*f.D:(i+1)*f.D])
		}
	})
	s.total.reset()
	for _, t := range s.parts {
		floats.Add(s.total.bottom, t.bottom)
		floats.Add(s.total.mixed, t.mixed)
		floats.Add(s.total.theta, t.theta)
	}
	s.eliminate(f)
	size := f.q * f.s
	for i := range size {
		s.total.theta[i*size+i] += 2 * o.Lambda * vechWeight(f.d, i/f.s)
	}
	if size > 0 {
		dense.JitteredCholesky(s.total.theta, size)
	}
	return o.Context().Err()
}

// add adds a row.
func (t *entrySums) add(f *sheet, tau, w []float64) {
	vech(t.phi, tau)
	floats.Add(t.bottom, w)
	for k := range f.s {
		floats.MulTo(t.wv, w, f.axis(f.d+k))
		for l := range k + 1 {
			v := floats.Dot(t.wv, f.axis(f.d+l))
			t.b[k*f.s+l], t.b[l*f.s+k] = v, v
		}
	}
	if f.s == 0 {
		return
	}
	size := f.q * f.s
	for a, u := range t.phi {
		floats.AddScaled(t.mixed[a*f.D:(a+1)*f.D], u, w)
		for c, v := range t.phi {
			for k := range f.s {
				floats.AddScaled(t.theta[(a*f.s+k)*size+c*f.s:][:f.s], u*v, t.b[k*f.s:(k+1)*f.s])
			}
		}
	}
}

// eliminate takes c out of the system of Theta.
func (s *entrySystem) eliminate(f *sheet) {
	t, size := s.total, f.q*f.s
	for a := range f.q {
		for c := range a + 1 {
			floats.MulTo(s.t, t.mixed[a*f.D:(a+1)*f.D], t.mixed[c*f.D:(c+1)*f.D])
			divide(s.t, t.bottom)
			for k := range f.s {
				floats.MulTo(t.wv, s.t, f.axis(f.d+k))
				for l := range f.s {
					v := floats.Dot(t.wv, f.axis(f.d+l))
					t.theta[(a*f.s+k)*size+c*f.s+l] -= v
					if a != c {
						t.theta[(c*f.s+l)*size+a*f.s+k] -= v
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

func (s *entrySystem) solve(f *sheet, dc, dt, gc, gt []float64) {
	t := s.total
	copy(s.rhs, gt)
	copy(s.t, gc)
	divide(s.t, t.bottom)
	for a := range f.q {
		if f.s == 0 {
			break
		}
		floats.MulTo(t.wv, s.t, t.mixed[a*f.D:(a+1)*f.D])
		for k := range f.s {
			s.rhs[a*f.s+k] -= floats.Dot(t.wv, f.axis(f.d+k))
		}
	}
	if len(dt) > 0 {
		dense.SolveCholesky(s.rhs, t.theta, len(dt))
		floats.ScaleTo(dt, -1, s.rhs)
	}
	floats.ScaleTo(dc, -1, gc)
	for a := range f.q {
		for k := range f.s {
			floats.ScaleTo(t.wv, -dt[a*f.s+k], f.axis(f.d+k))
			floats.Mul(t.wv, t.mixed[a*f.D:(a+1)*f.D])
			floats.Add(dc, t.wv)
		}
	}
	divide(dc, t.bottom)
}
