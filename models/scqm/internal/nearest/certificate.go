package nearest

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// leastConvexity is the least eigenvalue of I + 2B for which rows are certified where d > 2, tested by a
// factorization.
const leastConvexity = 0x1p-6

// Certificate certifies that rows are at their nearest point of the whole sheet. Wherever tau is, with the
// gradient 2g of h there and the B of [Footpoint],
//
//	h(tau + t) = h(tau) + 2 g't + t'(I + 2B)t + |Nt + q(t)|^2
//
// for every t of R^d. Where the least eigenvalue l of I + 2B is above 0 that is at least h(tau) - |g|^2 / l:
// next to a minimum the squared distance cannot fall by more than that, anywhere on the sheet. It costs less
// than a Newton step.
type Certificate struct {
	// Within is the relative decrease of the squared distance that a nearer point may have.
	Within float64

	q    *Quadratic
	feet *Feet // nil but for d > 2
	sure []bool
}

// NewCertificate prepares for the current sheet.
func NewCertificate(f *sheet.Sheet, within float64) *Certificate {
	q := NewQuadratic(f)
	q.Reload()
	c := &Certificate{Within: within, q: q}
	if f.Latent > 2 && HasFeet(f) {
		c.feet = NewFeet(f, Arrival{})
	}
	return c
}

// Holds reports whether the nearest point to row x is certified to be at tau, given y = Q'(x - c) and |x -
// c|^2. False says that it is not certified.
func (c *Certificate) Holds(tau, y []float64, whole float64) bool {
	q := c.q
	copy(q.Y, y)
	inside := q.Value(tau)
	square := whole - floats.Dot(y, y) + inside
	if !(square > LostDigits*whole) { // too many digits cancel
		return false
	}
	q.f.TauGradient(q.g, q.w, tau, q.E)
	least := c.convexity()
	return least > 0 && floats.Dot(q.g, q.g) <= c.Within*square*least
}

// convexity returns a lower bound of the least eigenvalue of I + 2B, from the w of B.
func (c *Certificate) convexity() float64 {
	q := c.q
	switch d := q.f.Latent; d {
	case 1:
		return 1 + 2*q.w[0]
	case 2:
		return 1 + q.w[0] + q.w[2] - math.Hypot(q.w[0]-q.w[2], q.w[1])
	default:
		clear(q.h)
		for i := range d {
			q.h[i*d+i] = 1 - leastConvexity
		}
		q.f.AddCurvature(q.h, q.w)
		if dense.FactorCholesky(q.h, d, 0, dense.Flat) {
			return leastConvexity
		}
		return 0
	}
}

// Certifies reports whether [UncertainRows] can certify rows under a loss: a function of the norm, a
// [framework.Quadratic], a [framework.Minorizer], or a differentiable [framework.PowerSum].
func Certifies(loss framework.Loss) bool {
	switch l := loss.(type) {
	case framework.Radial, framework.Quadratic, framework.Minorizer:
		return true
	case framework.PowerSum:
		return l.Power() > 1
	}
	return false
}

// UncertainRows lists the rows of x, at tau, to which another point of the sheet may be nearer by
// more than a part within of the loss, in place of which functions of the norm, which grow with
// it, take the squared distance. It costs 2nDm operations, and nDm^2/2 more under a
// [framework.Minorizer] or [framework.PowerSum]. Workers are those of the caller's goroutines.
func UncertainRows(ctx context.Context, tau []float64, f *sheet.Sheet, loss framework.Loss, x rows.Data, within float64, worker func(id int) *Worker, threads int) ([]int, error) {
	lists, errs := make([][]int, par.Shards(x.N)), make([]error, par.Shards(x.N))
	_, radial := loss.(framework.Radial)
	par.Do(threads, len(lists), func(id, shard int) {
		w := worker(id)
		var uncertain func(list []int, w *Worker, tau []float64, x rows.Data, from, to int) ([]int, error)
		if radial {
			uncertain = NewCertificate(f, within).uncertain
		} else {
			uncertain = newLossCertificate(f, loss, within).uncertain
		}
		lo, hi := par.Bounds(x.N, shard)
		for from := lo; from < hi; from += w.Batch {
			if errs[shard] = ctx.Err(); errs[shard] == nil {
				lists[shard], errs[shard] = uncertain(lists[shard], w, tau, x, from, min(from+w.Batch, hi))
			}
			if errs[shard] != nil {
				return
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return slices.Concat(lists...), nil
}

// uncertain appends the rows of a range that are not certified.
func (c *Certificate) uncertain(list []int, w *Worker, tau []float64, x rows.Data, from, to int) ([]int, error) {
	f, n := c.q.f, to-from
	whole := w.Values[:n]
	if c.feet != nil {
		stride := Rows(n)
		if len(w.Pulled) < f.M*stride { // others need all of it
			w.Pulled = make([]float64, f.M*stride)
		}
		c.sure = dense.Grow(c.sure, n)
		f.DeviationsToFrame(w.Pulled, stride, whole, x.X[from*f.D:to*f.D], n)
		c.feet.Certify(c.sure, tau[from*f.Latent:to*f.Latent], w.Pulled, stride, whole, n, c.Within)
		for i, sure := range c.sure {
			if !sure {
				list = append(list, from+i)
			}
		}
		return list, nil
	}
	f.DeviationsToFrame(w.Pulled, n, whole, x.X[from*f.D:to*f.D], n)
	y := w.b
	for i, far := range whole {
		for k := range y {
			y[k] = w.Pulled[k*n+i]
		}
		if !c.Holds(tau[(from+i)*f.Latent:(from+i+1)*f.Latent], y, far) {
			list = append(list, from+i)
		}
	}
	return list, nil
}
