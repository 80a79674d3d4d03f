package scqm

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/planes"
)

// A fit starts at a plane: c is the mean, Q the axes of the plane and those off it in which the
// rows are curved, Theta that of least squares for them. The plane is the one from which a regression
// predicts the other principal scores best (see package planes), and that of the leading components for
// flat sheets and the solver of the paper. It takes about nD min(n, D) operations for the components,
// 2nDm for the rest.
//
// Fits by the Huber loss of entries start from the principal components of rows whose
// outlying entries are clipped (see [rows.DrawnIn]): this loss is for tables in which single
// entries are wrong, which would dominate the leading components.

// drawnTo is the distance from the median of its column to which an outlying entry is clipped, in standard
// deviations.
const drawnTo = 5

// forWrongEntries reports whether a loss is a sum over entries that is linear beyond some size, such as Huber's.
func forWrongEntries(l framework.Loss) bool {
	p, turns := l.(rowloss.Parametric)
	if !turns || rowloss.StructureOf(l) != rowloss.StructureSeparable {
		return false
	}
	_, turns = p.Params()["delta"]
	return turns
}

// starts computes the initial points of the runs of a fit.
type starts struct {
	p     *Problem
	c     Config
	pc    *rows.Components
	whole Data // the data, with missing entries imputed or outlying entries clipped
	count int
	first *placed // the principal plane, until a run begins there
	// given are the axes of the first starts; random rotations of the leading components follow. enough is the number
	// of starts that run to the end, unless the best folds; 0 for no such number.
	given  [][]float64
	enough int
	// settled is start 0 if entries are missing (see settlePrior) or the loss redescends, otherwise nil. It is nil
	// before it is computed.
	settled framework.Point
}

// newStarts computes the principal components, and the penalty of all starts from the principal plane.
func (p *Problem) newStarts(c Config, t *screening) (*starts, error) {
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
	s := &starts{p: p, c: c, pc: pc, whole: whole}
	first := p.place(whole, pc.Mean, pc.Axes)
	if err := p.setRidge(c.ridge(), first); err != nil {
		return nil, err
	}
	s.given, s.count, s.enough = t.starts(c, pc.Axes[:p.Shape().M*p.Shape().D], p.Shape().M)
	if !p.Data().Missing {
		s.first = first
		return s, nil
	}
	p.SolveThetaFor(first.x, first.heights)
	return s, p.setPrior(first.x)
}

// point returns start number k; see [screening.starts].
func (s *starts) point(k int) (framework.Point, error) {
	p := s.p
	if k == 0 && s.settled != nil {
		return s.settled.Clone(), nil
	}
	at, axes := s.first, s.axes(k)
	if s.first = nil; at == nil || &axes[0] != &s.pc.Axes[0] {
		at = p.place(s.whole, s.pc.Mean, axes)
	}
	x := at.x
	if err := p.Blocks()[BlockQ].Restore(x[BlockQ]); err != nil {
		return nil, err
	}
	if !p.published {
		p.SolveThetaFor(x, at.heights)
	}
	return x, nil
}

// axes returns the axes of start number k.
func (s *starts) axes(k int) []float64 {
	f := s.p.Shape()
	if k < len(s.given) {
		return s.given[k]
	}
	return planes.Rotation(s.pc.Axes, f.D, f.M, s.c.Seed, k)
}
