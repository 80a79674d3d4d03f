package scqm

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/models/rows"
)

// A fit starts from principal components: c is the mean, Q the leading directions,
// Theta that of least squares for them. It takes about nD min(n, D) operations for
// the components, 2nDm for the rest.
//
// Fits by the Huber loss of entries start from the principal components of rows whose
// entries are drawn in (see [rows.DrawnIn]): this loss is for tables in which single
// entries are wrong, and those have the leading components of the rows as they are.

// drawnTo is how far entries may be from the median of their column in the rows from
// which such fits start, in standard deviations.
const drawnTo = 5

// forWrongEntries reports whether a loss of entries turns linear at some size.
func forWrongEntries(l framework.Loss) bool {
	p, turns := l.(framework.Parametric)
	if !turns || framework.StructureOf(l) != framework.StructureSeparable {
		return false
	}
	_, turns = p.Params()["delta"]
	return turns
}

// starts makes the points from which runs begin.
type starts struct {
	p     *Problem
	c     Config
	pc    *rows.Components
	whole Data // the data, completed where entries are missing, or drawn in
	count int
	first *placed // the principal components, until a run begins there
}

// placed is a flat sheet through the mean of rows, with what reading them to place it has told.
type placed struct {
	x       framework.Point
	heights []float64 // n x s: coordinates of the rows along the axes in which it may bend
	spread  float64   // mean squared distance of the rows from the mean
	squares []float64 // n: those distances
}

// newStarts finds the principal components and sets the penalty, which is that
// of the first start for all.
func (p *Problem) newStarts(c Config) (*starts, error) {
	k := p.Shape().M
	if c.Inits > 1 {
		k = min(max(k, rotatedComponents), p.Shape().D)
	}
	whole, err := rows.Complete(p.Context(), *p.Data(), p.Shape().Latent, p.Threads())
	if err != nil {
		return nil, err
	}
	if forWrongEntries(p.Loss()) {
		whole = rows.DrawnIn(whole, drawnTo)
	}
	pc, err := rows.PrincipalComponents(p.Context(), whole, k, p.Threads())
	if err != nil {
		return nil, err
	}
	s := &starts{p: p, c: c, pc: pc, whole: whole, count: max(c.Inits, 1)}
	first, err := p.place(whole, pc.Mean, pc.Axes[:p.Shape().M*p.Shape().D])
	if err != nil {
		return nil, err
	}
	if err := p.setRidge(c.ridge(), first); err != nil {
		return nil, err
	}
	if !p.Data().Missing {
		s.first = first
		return s, nil
	}
	p.SolveThetaFor(first.x, whole, nil) // of the Q that is there
	return s, p.setPrior(first.x)
}

// flatStart returns the principal component start with Theta = 0, and the mean
// squared distance of the rows from their mean.
func (p *Problem) flatStart() (framework.Point, float64, error) {
	pc, err := rows.PrincipalComponents(p.Context(), *p.Data(), p.Shape().M, p.Threads())
	if err != nil {
		return nil, 0, err
	}
	flat, err := p.place(*p.Data(), pc.Mean, pc.Axes)
	if err != nil {
		return nil, 0, err
	}
	return flat.x, flat.spread, nil
}

// point returns start number k: the principal components, and for k > 0 a random
// rotation of the leading ones.
func (s *starts) point(k int) (framework.Point, error) {
	p := s.p
	at := s.first
	if s.first = nil; k > 0 || at == nil {
		var err error
		if at, err = p.place(s.whole, s.pc.Mean, s.axes(k)); err != nil {
			return nil, err
		}
	}
	x := at.x
	if err := p.Blocks()[BlockQ].Restore(x[BlockQ]); err != nil {
		return nil, err
	}
	if s.c.ThetaScale > 0 {
		if h := math.Sqrt(at.spread); h > 0 {
			rng := rand.New(rand.NewPCG(s.c.Seed, uint64(k)))
			for i := range x[BlockTheta] {
				x[BlockTheta][i] = s.c.ThetaScale / h * rng.NormFloat64()
			}
		}
	} else if !p.published {
		p.SolveThetaFor(x, s.whole, at.heights)
	}
	return x, nil
}

// axes returns those of start number k.
func (s *starts) axes(k int) []float64 {
	f := s.p.Shape()
	if k == 0 {
		return s.pc.Axes[:f.M*f.D]
	}
	r := len(s.pc.Axes) / f.D
	turn := manifolds.NewStiefel(r, f.M)
	q := make([]float64, r*f.M)
	turn.Rand(q, rand.New(rand.NewPCG(s.c.Seed, uint64(k))))
	axes := make([]float64, f.M*f.D)
	for i := range r {
		for j := range f.M {
			floats.AddScaled(axes[j*f.D:(j+1)*f.D], q[i*f.M+j], s.pc.Axes[i*f.D:(i+1)*f.D])
		}
	}
	return axes
}

// place returns the flat sheet through c along the first d axes with the projections of the
// rows, in which no entry is missing, in one read of them.
func (p *Problem) place(whole Data, c, axes []float64) (*placed, error) {
	f := p.Shape()
	at := &placed{x: framework.NewPoint(p.Blocks()), heights: make([]float64, whole.N*f.S), squares: make([]float64, whole.N)}
	copy(at.x[BlockC], c)
	dense.Transpose(at.x[BlockQ], axes, f.M, f.D)
	axes, err := p.restored(axes[:f.M*f.D], at.x[BlockQ])
	if err != nil {
		return nil, err
	}
	whole.EachProduct(c, axes, at.squares, nil, func(i int, products []float64) {
		copy(at.x[BlockTau][i*f.Latent:(i+1)*f.Latent], products)
		copy(at.heights[i*f.S:(i+1)*f.S], products[f.Latent:])
	})
	var sum, total float64
	for i, v := range at.squares {
		w := whole.Weight(i)
		sum += w * v
		total += w
	}
	at.spread = sum / total
	return at, nil
}

// restored returns axes with those in which the sheet may bend as they are once Q is on its manifold, where runs begin.
func (p *Problem) restored(axes, q []float64) ([]float64, error) {
	f := p.Shape()
	q = slices.Clone(q)
	if err := p.Blocks()[BlockQ].Restore(q); err != nil {
		return nil, err
	}
	all := make([]float64, len(axes))
	dense.Transpose(all, q, f.D, f.M)
	copy(all, axes[:f.Latent*f.D])
	return all, nil
}

const (
	// flatByProducts is the number of numbers from which the cost of a flat sheet follows
	// from what was read to place it. Below, a further read takes no time.
	flatByProducts = 1 << 21
	// nearSheet is the square of the residual of a row, in units of that of its distance from the mean,
	// below which their difference has lost digits that matter.
	nearSheet = 1e-3
)

// flatCost is the cost of a flat sheet without penalty: for losses rho(|r|^2) with
//
//	|r|^2 = |x - c|^2 - |tau|^2.
func (p *Problem) flatCost(at *placed) (float64, error) {
	x, d := p.Data(), p.Shape().Latent
	loss, radial := p.Loss().(framework.Radial)
	if !radial || x.Missing || x.N*x.D < flatByProducts {
		return p.Evaluate(nil, at.x)
	}
	f, r := p.NewSheet(), make([]float64, x.D)
	f.Load(at.x[BlockC], at.x[BlockQ], at.x[BlockTheta])
	z := make([]float64, f.M)
	for i, square := range at.squares {
		tau := at.x[BlockTau][i*d : (i+1)*d]
		left := square - dense.Dot(tau, tau)
		if !(left >= nearSheet*square) {
			copy(z, tau)
			f.Residual(r, z, x.Row(i))
			left = dense.Dot(r, r)
		}
		at.squares[i] = left
	}
	values := make([]float64, x.N)
	loss.Rho(values, nil, nil, at.squares)
	at.squares = nil
	cost := 0.0
	for i, v := range values {
		if w := x.Weight(i); w > 0 {
			cost += w * v
		}
	}
	return cost, nil
}
