package nearest

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Batch projects many rows at a time by the Newton steps of [Quadratic.Minimize]. Each quantity of a row is an entry
// of a vector over rows. With the Jacobian N_k = 2 A_k tau of entry k of Theta' phi, and e = Theta' phi - b,
//
//	Theta' phi = N tau / 2,  g = tau - a + N'e,  H = I + N'N + sum_k e_k 2 A_k
//
// are half of gradient and Hessian, so that only the products of the forms with tau are needed. A step takes 3sd^2 +
// d^3/3 operations per row. The result for a row does not depend on the others, to the last bit.
type Batch struct {
	f         *sheet.Sheet
	precision float64   // length of a Newton step, relative to tau, at which the iteration ends
	most      int       // rows at a time
	bends     []float64 // s x d x d: 2 A_k
	forms     []float64 // d x d x (s+1): entry ij of every 2 A_k, and of I

	// The following are vectors over n rows, one after the other.
	n                     int
	memory                []float64
	target, tau, value    []float64 // m: -[a; b]; d; 1: h
	gap, images           []float64 // m+1: [tau - a; e; 1]; s x d: N
	trial, half, gradient []float64 // d
	right, step, inverses []float64 // d
	next, slope, length   []float64 // 1
	size, norms           []float64 // 1; the last |[a; b]|^2
	trace, pivot          []float64 // 1: of hess, its least pivot
	hess                  []float64 // d x d
	live                  []bool    // rows that have not converged and were not refused

	pulled, whole, squares []float64 // buffers of ProjectRows
}

const (
	// projectSteps bounds the Newton steps of a row that starts at tau = a.
	projectSteps = 12
	// projectGradient is the largest half gradient of h, relative to [a; b], of an accepted projection, in units of the
	// square of the precision: Newton's method converges quadratically.
	projectGradient = 100
)

// Refused stands for the squared residual of a row that [Batch] did not project.
const Refused = -1.0

const (
	// batchRows bounds the rows of a batch. batchMemory bounds its numbers so that they fit a second-level cache.
	batchRows, batchMemory = 128, 1 << 14
	// block is the multiple to which the number of rows is rounded up.
	block = dense.PolynomialBlock
)

// NewBatch allocates projections on f. They end with a Newton step of the given length, relative to tau.
func NewBatch(f *sheet.Sheet, precision float64) *Batch {
	d, s, m := f.Latent, f.S, f.M
	vectors := 2*m + s*d + d*d + 7*d + 9
	b := &Batch{f: f, precision: precision, bends: make([]float64, s*d*d), forms: make([]float64, d*d*(s+1))}
	b.most = max(block, min(batchRows, batchMemory/vectors)/block*block)
	b.memory, b.live = make([]float64, vectors*b.most), make([]bool, b.most)
	b.Reload()
	return b
}

// Reload recomputes what depends on Theta. Call it after a change of Theta.
func (b *Batch) Reload() {
	d, s := b.f.Latent, b.f.S
	for i := range d {
		b.forms[(i*d+i)*(s+1)+s] = 1
	}
	for c := range s {
		a := 0
		for i := range d {
			for j := i; j < d; j++ {
				v := b.f.Theta[a*s+c]
				if a++; i == j {
					v *= 2
				}
				for _, at := range [2]int{i*d + j, j*d + i} {
					b.bends[c*d*d+at], b.forms[at*(s+1)+c] = v, v
				}
			}
		}
	}
}

// Improve takes at most the given number of steps from tau, n x d. pulled is Q'(x - c), m x stride, one axis after
// the other, and whole is |x - c|^2. It writes squared residuals into u. It writes Refused if h is not convex at an
// iterate, or if a full step does not lower h. Squared residuals much smaller than whole lose many digits.
func (b *Batch) Improve(u, tau, pulled []float64, stride int, whole []float64, n, steps int) {
	if b.f.S == 0 {
		b.Project(u, tau, pulled, stride, whole, n)
		return
	}
	b.run(u, tau, pulled, stride, whole, n, steps, false)
}

// Project does what [Projection.Find] does, and refuses rows that need more steps. It has the arguments of Improve.
func (b *Batch) Project(u, tau, pulled []float64, stride int, whole []float64, n int) {
	d := b.f.Latent
	copy(u, whole[:n])
	for i := range n {
		for j := range d {
			a := pulled[j*stride+i]
			tau[i*d+j] = a
			u[i] -= float64(a * a)
		}
	}
	if b.f.S > 0 {
		b.run(u, tau, pulled, stride, whole, n, projectSteps, true)
	}
}

// ProjectRows projects n rows of x, at most the capacity of the batch. It returns squared residuals as Project does.
func (b *Batch) ProjectRows(tau, x []float64, n int) []float64 {
	if b.pulled == nil {
		b.pulled, b.whole, b.squares = make([]float64, b.f.M*b.most), make([]float64, b.most), make([]float64, b.most)
	}
	b.f.DeviationsToFrame(b.pulled, b.most, b.whole, x, n)
	b.Project(b.squares, tau, b.pulled, b.most, b.whole, n)
	return b.squares[:n]
}

func (b *Batch) run(u, tau, pulled []float64, stride int, whole []float64, n, steps int, certify bool) {
	d := b.f.Latent
	for from := 0; from < n; from += b.most {
		to := min(from+b.most, n)
		u, tau := u[from:to], tau[from*d:to*d]
		b.load(tau, pulled[from:], stride, to-from)
		copy(u, b.value)
		b.newton(u, steps)
		if certify {
			b.certify(u)
		}
		for l, h := range u {
			if h != Refused {
				u[l] = whole[from+l] - b.norms[l] + h
			}
			for j := range d {
				tau[l*d+j] = b.tau[j*b.n+l]
			}
		}
	}
}

// load sets the rows of the batch, and evaluates h at tau.
func (b *Batch) load(tau, pulled []float64, stride, count int) {
	d := b.f.Latent
	b.resize((count + block - 1) / block * block)
	for j := range b.f.M {
		target := b.target[j*b.n : (j+1)*b.n]
		for l, v := range pulled[j*stride:][:count] {
			target[l] = -v
		}
		clear(target[count:])
	}
	clear(b.tau)
	for l := range b.n {
		b.gap[b.f.M*b.n+l] = 1
		if b.live[l] = l < count; b.live[l] {
			for j, v := range tau[l*d : (l+1)*d] {
				b.tau[j*b.n+l] = v
			}
		}
	}
	copy(b.trial, b.tau)
	b.evaluate()
	copy(b.value, b.next)
	sum(b.norms, b.target, b.target)
}

// resize sets the number of rows of all vectors.
func (b *Batch) resize(n int) {
	d, m, rest := b.f.Latent, b.f.M, b.memory
	b.n = n
	take := func(count int, vectors ...*[]float64) {
		for _, to := range vectors {
			*to, rest = rest[:count*n], rest[count*n:]
		}
	}
	take(m, &b.target)
	take(m+1, &b.gap)
	take(b.f.S*d, &b.images)
	take(d*d, &b.hess)
	take(d, &b.tau, &b.trial, &b.half, &b.gradient, &b.right, &b.step, &b.inverses)
	take(1, &b.value, &b.next, &b.slope, &b.length, &b.size, &b.norms, &b.trace, &b.pivot)
}

// newton takes at most the given number of steps. It writes h into u, or Refused for a row that fails.
func (b *Batch) newton(u []float64, steps int) {
	for left := len(u); steps > 0 && left > 0; steps-- {
		b.derivatives(true)
		b.solve()
		b.advance()
		b.evaluate()
		left = b.accept(u)
		copy(b.tau, b.trial)
		copy(b.value, b.next)
	}
}

// accept writes h into u, or Refused for rows whose step failed. It returns the number of rows that have not converged.
func (b *Batch) accept(u []float64) (left int) {
	n := len(u)
	live, next, value, slope := b.live[:n], b.next[:n], b.value[:n], b.slope[:n]
	pivot, trace, length, size := b.pivot[:n], b.trace[:n], b.length[:n], b.size[:n]
	short := b.precision * b.precision
	for l, on := range live {
		if !on {
			continue
		}
		now, was := next[l], value[l]
		lower := now <= was+float64(2*Armijo*slope[l]) || now <= was+float64(Rounding*was)
		if !lower || !(pivot[l] > dense.Flat*trace[l]) {
			u[l], live[l] = Refused, false
			for j := l; j < len(b.tau); j += b.n {
				b.trial[j] = b.tau[j]
			}
			continue
		}
		u[l] = now
		if live[l] = !(length[l] <= float64(short*size[l])); live[l] {
			left++
		}
	}
	return left
}

// certify refuses a loaded row if I + 2B is not positive definite or the gradient is too long.
func (b *Batch) certify(u []float64) {
	b.derivatives(false)
	b.solve()
	sum(b.length, b.gradient, b.gradient)
	most := projectGradient * b.precision * b.precision
	for l := range u {
		if !(b.pivot[l] > dense.Flat*b.trace[l] && b.length[l] <= most*most*b.norms[l]) {
			u[l] = Refused
		}
	}
}

// sum writes, for each row, the sum of the products of the vectors of x and y.
func sum(dst, x, y []float64) {
	clear(dst)
	dense.AddColumnProducts(dst, x, len(dst), y, len(dst), len(x)/len(dst))
}

// evaluate writes the values h at trial into next, and stores gap and N for the derivatives.
func (b *Batch) evaluate() {
	d, n := b.f.Latent, b.n
	copy(b.gap, b.target)
	dense.AddScaled(b.gap[:d*n], 1, b.trial)
	dense.CombineColumns(b.half, b.trial, []float64{0.5})
	for c := range b.f.S {
		images := b.images[c*d*n : (c+1)*d*n]
		for i := range d {
			dense.CombineColumns(images[i*n:(i+1)*n], b.trial, b.bends[(c*d+i)*d:][:d])
		}
		dense.AddColumnProducts(b.gap[(d+c)*n:][:n], b.half, n, images, n, d)
	}
	sum(b.next, b.gap[:b.f.M*n], b.gap[:b.f.M*n])
}

// derivatives writes half of the gradient, and the lower triangle of I + 2B, plus N'N if gram is true, into hess.
func (b *Batch) derivatives(gram bool) {
	d, s, n := b.f.Latent, b.f.S, b.n
	copy(b.gradient, b.gap)
	for i := range d {
		dense.AddColumnProducts(b.gradient[i*n:(i+1)*n], b.images[i*n:], d*n, b.gap[d*n:], n, s)
		for j := range i + 1 {
			h := b.entry(i, j)
			dense.CombineColumns(h, b.gap[d*n:], b.forms[(i*d+j)*(s+1):][:s+1])
			if gram {
				dense.AddColumnProducts(h, b.images[i*n:], d*n, b.images[j*n:], d*n, s)
			}
		}
	}
}

func (b *Batch) entry(i, j int) []float64 {
	at := i*b.f.Latent + j
	return b.hess[at*b.n : (at+1)*b.n]
}

// solve writes -hess^-1 gradient into step, by H = LDL' without pivoting, and leaves the pivots on the diagonal
// of hess, -L' above it.
func (b *Batch) solve() {
	d, n := b.f.Latent, b.n
	clear(b.trace)
	for j := range d {
		dense.AddScaled(b.trace, 1, b.entry(j, j))
	}
	copy(b.right, b.gradient)
	for j := range d {
		right, inverse := b.right[j*n:(j+1)*n], b.inverses[j*n:(j+1)*n]
		for i := j; i < d; i++ {
			dense.AddColumnProducts(b.entry(i, j), b.hess[i*d*n:], n, b.hess[j*n:], d*n, j)
			if i > j {
				sum(b.entry(j, i), b.entry(i, j), inverse)
				continue
			}
			if j == 0 {
				copy(b.pivot, b.entry(0, 0))
			}
			pivot := b.pivot[:n]
			for l, v := range b.entry(j, j) {
				inverse[l], pivot[l] = -1/v, min(pivot[l], v)
			}
		}
		dense.AddColumnProducts(right, b.hess[j*n:], d*n, b.right, n, j)
	}
	for i := d - 1; i >= 0; i-- {
		step := b.step[i*n : (i+1)*n]
		sum(step, b.right[i*n:(i+1)*n], b.inverses[i*n:(i+1)*n])
		dense.AddColumnProducts(step, b.hess[min(i*d+i+1, d*d-1)*n:], n, b.step[min(i+1, d-1)*n:], n, d-1-i)
	}
}

// advance writes the end of the step into trial, with the product of step and gradient, and squared lengths. Rows
// that are not live do not move.
func (b *Batch) advance() {
	for l, on := range b.live[:b.n] {
		for j := l; j < len(b.step) && !on; j += b.n {
			b.step[j] = math.Copysign(0, -1) // 0 would change -0
		}
	}
	copy(b.trial, b.tau)
	dense.AddScaled(b.trial, 1, b.step)
	sum(b.slope, b.gradient, b.step)
	sum(b.length, b.step, b.step)
	sum(b.size, b.trial, b.trial)
}
