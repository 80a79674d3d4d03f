package scqm

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Projection holds the projections of rows onto a sheet, with a certificate for each.
type Projection struct {
	// Tau is the result of Transform, n x d, and X that of Project, n x D.
	Tau, X []float64
	// Rows has one entry for each row.
	Rows []RowProjection
	// Certifies reports whether RowProjection.Certified can be computed for the loss: a function of the norm, or lp
	// with 1 < p <= 2.
	Certifies bool
}

// RowProjection describes the projection of one row.
type RowProjection struct {
	// Residual is the Euclidean distance of the row from its projection.
	Residual float64
	// MinEigenvalue is the smallest eigenvalue of the Hessian of the loss of the row with respect to tau, at the
	// projection. If it is about 0 or negative, small changes of the row move its projection far. Kinks of a loss may
	// also determine the projection; the eigenvalue does not include them.
	MinEigenvalue float64
	// Certified reports that the residual is inside the region in which the loss is convex as a function of tau; see
	// [Model.ProjectAll].
	Certified bool
	// Parts is the number of local minima of the loss that were found. Second is the distance of the row from the
	// second best of them, 0 if there is only one.
	Parts  int
	Second float64
}

// ProjectAll does what Project does, and also reports on every row. The result for a row does not depend on the others.
//
// Certified follows a corrected form of Theorem 1 of the paper. A0 is the largest curvature of the sheet, the maximum
// over unit w of |sum_k w_k A_k|_2. The least singular value of the Jacobian of the sheet is 1. The Hessian with
// respect to tau is positive definite if
//
//	|r| < 1/(2 A0)                                for functions of the norm,
//	| |r|^(p-1) |_2 < (p-1) rho / (2 A0)          for lp, 1 < p <= 2,
//
// with rho = max_k |r_k|^(p-2) at the row, the least of the factors |r_k|^(p-2) of the Hessian. For functions of the
// norm the condition implies more. As J'r = 0 at a projection f(tau), every other point of the sheet has
//
//	|f(tau + t) - x|^2 >= |r|^2 + |t|^2 (1 - 2 A0 |r|),
//
// so that the projection is the only nearest point of the whole sheet. Losses that redescend are certified in this
// sense; their Hessian need not be positive definite there.
//
// Parts are searched from several starts. For d = 1 and functions of the norm the search finds all of them.
func (m *Model) ProjectAll(ctx context.Context, x Data, threads int) (*Projection, error) {
	if err := m.accepts(x); err != nil {
		return nil, err
	}
	m, err := m.forComplete(x, "a report on projections")
	if err != nil {
		return nil, err
	}
	held, err := m.reserveMap("project", x.N, m.D+2*m.Latent+projectionWords, threads)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	loss, _, err := m.rowLosses()
	if err != nil {
		return nil, err
	}
	f := m.sheet()
	out := &Projection{Tau: make([]float64, x.N*f.Latent), Rows: make([]RowProjection, x.N)}
	judge := newConvexity(f, loss)
	out.Certifies = judge.certifies()
	errs := make([]error, par.Shards(x.N))
	par.Do(par.Threads(threads), len(errs), func(_, shard int) {
		lo, hi := par.Bounds(x.N, shard)
		s := nearest.NewProjector(f, loss)
		for i := lo; i < hi && errs[shard] == nil; i++ {
			var found nearest.RowMinima
			if found, errs[shard] = s.Minima(ctx, out.Tau[i*f.Latent:(i+1)*f.Latent], x.Row(i), x.First+i); errs[shard] == nil {
				out.Rows[i] = describe(found, judge)
			}
		}
	})
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	out.X, err = m.Reconstruct(ctx, out.Tau, threads)
	return out, err
}

// describe returns the report on a row.
func describe(m nearest.RowMinima, judge convexity) RowProjection {
	return RowProjection{
		Residual: floats.Norm(m.Residual, 2), MinEigenvalue: m.MinEigenvalue, Certified: judge.holds(m.Residual),
		Parts: m.Count, Second: m.Second,
	}
}

// convexity determines where the loss of a row is a convex function of tau.
type convexity struct {
	most  float64 // A0
	power float64 // exponent of lp, 0 for functions of the norm, negative for other losses
}

func newConvexity(f *sheet.Sheet, loss framework.Loss) convexity {
	c := convexity{most: f.CurvatureBound(), power: -1}
	if rowloss.StructureOf(loss) == rowloss.StructureRadial {
		c.power = 0
	} else if l, ok := loss.(rowloss.Parametric); ok && loss.Name() == "lp" {
		if p := l.Params()["p"]; p > 1 && p <= 2 {
			c.power = p
		}
	}
	return c
}

func (c convexity) certifies() bool { return c.power >= 0 }

// holds reports whether the residual r is in the region in which the loss is convex.
func (c convexity) holds(r []float64) bool {
	size := floats.Norm(r, math.Inf(1))
	switch {
	case c.power < 0:
		return false
	case c.most == 0 || size == 0:
		return true
	case c.power == 0:
		return 2*c.most*floats.Norm(r, 2) < 1
	}
	// In units of the largest entry, |r|^(p-1) / rho is that entry times this.
	var sum float64
	for _, v := range r {
		sum += math.Pow(math.Abs(v)/size, 2*(c.power-1))
	}
	return 2*c.most*size*math.Sqrt(sum) < c.power-1
}

// projectionWords is the size of a RowProjection in words.
const projectionWords = 8
