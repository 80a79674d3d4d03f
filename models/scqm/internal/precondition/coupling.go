package precondition

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// couplingDamping is the fraction of its value for fixed Tau by which the diagonal of S is raised. S is singular
	// without it, because rotations of tau, and of V with Theta, do not change the sheet.
	couplingDamping = 0.03
	// coupledBelow is the decrement g'Hg, relative to the cost, up to which blocks are coupled. Farther from a
	// minimum the quadratic model is not valid for the longer steps.
	coupledBelow = 1e-3
)

// coupling is the Gauss-Newton matrix with the coupling of Tau and the other blocks, for changes of the sheet
// within its own span. With the changes
//
//	c + Q gamma,  Q + Q K,  K = -K',  Theta + Delta,  tau_i + delta_i
//
// the residual of row i changes by Q (T_i u + E_i delta_i), u = (gamma, K, Delta) and
//
//	T_i u = gamma + K z_i + [0; Delta' phi_i],
//
// The matrix therefore needs only B_i = Q'W_iQ, whatever D is. The delta_i are eliminated:
//
//	delta_i = H_i^-1 g_i - F_i u,  H_i = E_i'B_iE_i,  F_i = H_i^-1 E_i'B_iT_i,
//	S = sum_i T_i'(B_i T_i - B_i E_i F_i) + the penalty,  S u = g_u - sum_i F_i' g_i.
//
// A build takes about 2m(m+q) size operations per row, and a solution 4d size. The remaining changes of c and Q keep
// their diagonal blocks. For rows with equal weights of all entries this is exact: changes out of the span are
// orthogonal to those by tau.
type coupling struct {
	turns  [][2]int  // a < b: K has 1 at (a, b) and -1 at (b, a)
	size   int       // of u: m + m(m-1)/2 + qs
	system []float64 // size x size: the Cholesky factor of S
	free   []float64 // size: the diagonal of S where Tau stays
	follow []float64 // nd x size: the rows of all F_i

	u, other []float64       // size
	frame    []float64       // (1+m) x D: [c Q]'
	within   []float64       // (1+m) x m: products of its rows with Q
	grad     framework.Point // at the point
	step     framework.Point
}

// couplingSize is the length of u.
func couplingSize(s sheet.Shape) int { return s.M + s.M*(s.M-1)/2 + s.Q*s.S }

// Couples reports whether coupling is used: if it stores at most D numbers per row, d x size.
func Couples(s sheet.Shape) bool { return s.Latent*couplingSize(s) <= s.D }

// CouplingNumbers is the memory of coupling n rows, in numbers.
func CouplingNumbers(s sheet.Shape, n, shards int) int {
	size, point := couplingSize(s), s.D*(1+s.M)+s.Q*s.S+n*s.Latent
	return n*s.Latent*size + (1+shards)*size*(size+2*s.M+3) + 2*point + s.D*(1+s.M)
}

func newCoupling(o *objective.Objective) *coupling {
	s := o.Shape()
	k := &coupling{size: couplingSize(s), grad: framework.NewPoint(o.Blocks()), step: framework.NewPoint(o.Blocks())}
	for a := range s.M {
		for b := a + 1; b < s.M; b++ {
			k.turns = append(k.turns, [2]int{a, b})
		}
	}
	vec := func(n int) []float64 { return make([]float64, n) }
	k.system, k.follow = vec(k.size*k.size), vec(o.Data().N*s.Latent*k.size)
	k.free = vec(k.size)
	k.u, k.other, k.frame, k.within = vec(k.size), vec(k.size), vec((1+s.M)*s.D), vec((1+s.M)*s.M)
	return k
}

// couplingSums is the part of S that comes from some rows.
type couplingSums struct {
	system []float64 // size x size
	t, bt  []float64 // m x size
	free   []float64 // size: the diagonal where Tau stays
}

func newCouplingSums(f *sheet.Sheet, size int) *couplingSums {
	return &couplingSums{make([]float64, size*size), make([]float64, f.M*size), make([]float64, f.M*size), make([]float64, size)}
}

// addRow adds row i, whose z, phi, B and BE are in t, and l is the Cholesky factor of H_i.
func (k *coupling) addRow(sums *couplingSums, t *thetaSums, f *sheet.Sheet, i int, l []float64) {
	n, d := k.size, f.Latent
	k.changes(sums.t, t, f)
	follow := k.follow[i*d*n : (i+1)*d*n]
	clear(follow)
	clear(sums.bt)
	for a := range f.M {
		row := sums.t[a*n : (a+1)*n]
		for j, v := range t.be[a*d : (a+1)*d] {
			floats.AddScaled(follow[j*n:(j+1)*n], v, row)
		}
		for c := range f.M {
			floats.AddScaled(sums.bt[c*n:(c+1)*n], t.b[c*f.M+a], row)
		}
	}
	for j, v := range sums.t {
		sums.free[j%n] += v * sums.bt[j]
	}
	dense.SolveCholeskyRows(follow, l, d, n)
	for a := range f.M {
		row := sums.bt[a*n : (a+1)*n]
		for j, v := range t.be[a*d : (a+1)*d] {
			floats.AddScaled(row, -v, follow[j*n:(j+1)*n])
		}
		for b, v := range sums.t[a*n : (a+1)*n] {
			if v != 0 {
				floats.AddScaled(sums.system[b*n:(b+1)*n], v, row)
			}
		}
	}
}

// changes writes T_i.
func (k *coupling) changes(dst []float64, t *thetaSums, f *sheet.Sheet) {
	n := k.size
	clear(dst)
	for a := range f.M {
		dst[a*n+a] = 1
	}
	for at, turn := range k.turns {
		a, b := turn[0], turn[1]
		dst[a*n+f.M+at], dst[b*n+f.M+at] = t.z[b], -t.z[a]
	}
	bends := f.M + len(k.turns)
	for a, v := range t.phi {
		for j := range f.S {
			dst[(f.Latent+j)*n+bends+a*f.S+j] = v
		}
	}
}

// factorize factorizes S, the sum of the parts.
func (k *coupling) factorize(parts []*thetaSums, f *sheet.Sheet, penalty objective.Regularizer) {
	clear(k.system)
	clear(k.free)
	for _, t := range parts {
		floats.Add(k.system, t.coupling.system)
		floats.Add(k.free, t.coupling.free)
	}
	n, bends := k.size, f.M+len(k.turns)
	penalty.AddPenaltyHessian(f.Shape, k.system, n, bends)
	for i := range n {
		k.system[i*n+i] += couplingDamping * k.free[i]
	}
	dense.JitteredCholesky(k.system, n)
}

// near reports whether the decrement of the gradient at x, where residuals are cached, is below coupledBelow.
func (k *coupling) near(o *objective.Objective, x framework.Point, h *preconditioner, f *sheet.Sheet) (bool, error) {
	cost := o.KeptCost()
	if err := o.Resume(k.grad); err != nil {
		return false, err
	}
	for i, b := range o.Blocks() {
		b.Gradient(k.grad[i], x[i], k.grad[i])
	}
	k.step.CopyFrom(k.grad)
	k.solve(o, h, f, k.step)
	var decrement float64
	for i, g := range k.grad {
		decrement += dense.InnerProduct(g, k.step[i])
	}
	return decrement <= coupledBelow*cost, nil
}

// solve overwrites v by the approximate inverse Hessian times v.
func (k *coupling) solve(o *objective.Objective, h *preconditioner, f *sheet.Sheet, v framework.Point) {
	d, n, theta, tau := f.Latent, k.size, v[objective.BlockTheta], v[objective.BlockTau]
	bends := k.u[n-len(theta):]
	copy(k.frame, v[objective.BlockC])
	dense.Transpose(k.frame[f.D:], v[objective.BlockQ], f.D, f.M)
	k.split(k.u, f)
	dense.SolveCholeskyLanes(k.frame, h.frame, 1+f.M, f.D)
	k.split(k.other, f)
	copy(bends, theta)
	for i, g := range tau {
		dense.AddScaled(k.u, -g, k.follow[i*n:(i+1)*n])
	}
	dense.SolveCholesky(k.u, k.system, n)
	k.unite(f)
	copy(v[objective.BlockC], k.frame)
	dense.Transpose(v[objective.BlockQ], k.frame[f.D:], f.M, f.D)
	copy(theta, bends)
	par.Do(o.Threads(), len(h.parts), func(_, shard int) {
		lo, hi := par.Bounds(o.Data().N, shard)
		for i := lo; i < hi; i++ {
			dense.SolveCholesky(tau[i*d:(i+1)*d], h.tau[i*d*d:(i+1)*d*d], d)
		}
		for i := lo * d; i < hi*d; i++ {
			tau[i] -= dense.InnerProduct(k.u, k.follow[i*n:(i+1)*n])
		}
	})
}

// split subtracts from the frame its part within the span, and writes the changes gamma and K of that part into
// u.
func (k *coupling) split(u []float64, f *sheet.Sheet) {
	m, rows := f.M, 1+f.M
	products := k.within
	dense.FrameProducts(products, rows, nil, k.frame, nil, f.QT, rows, m, f.D)
	copyStrided(u[:m], products, rows)
	for at, turn := range k.turns {
		a, b := turn[0], turn[1]
		u[m+at] = products[a*rows+1+b] - products[b*rows+1+a]
	}
	clear(k.within)
	for a, v := range u[:m] {
		k.within[a] = -v
	}
	for at, turn := range k.turns {
		a, b, v := turn[0], turn[1], u[m+at]/2
		k.within[(1+b)*m+a], k.within[(1+a)*m+b] = -v, v
	}
	dense.AddRowProduct(k.frame, k.within, f.QT, rows, m, f.D)
}

// unite adds the changes gamma and K in u to the frame.
func (k *coupling) unite(f *sheet.Sheet) {
	m := f.M
	clear(k.within)
	copy(k.within, k.u[:m])
	for at, turn := range k.turns {
		a, b, v := turn[0], turn[1], k.u[m+at]
		k.within[(1+b)*m+a], k.within[(1+a)*m+b] = v, -v
	}
	dense.AddRowProduct(k.frame, k.within, f.QT, 1+m, m, f.D)
}

// copyStrided copies every stride-th entry of src.
func copyStrided(dst, src []float64, stride int) {
	for i := range dst {
		dst[i] = src[i*stride]
	}
}
