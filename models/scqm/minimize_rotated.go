package scqm

import (
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

// rotatedColumns is the length of rows from which on a fit under a loss r'Mr turns them.
const rotatedColumns = 32

// rotates reports whether rows are turned so that the matrix of the loss is tridiagonal: its
// products with the residuals, 2nD^2 operations in every pass, then are 5nD. To find the
// rotation takes those of about D/n passes.
func (p *Problem) rotates() bool {
	_, quadratic := p.Loss().(framework.Quadratic)
	x := p.Data()
	return quadratic && !p.published && x.D >= rotatedColumns && x.D <= compressionSweeps*x.N
}

// rotation holds the rows in these axes, for all starts of a fit.
type rotation struct {
	version uint64 // of the data
	back    *rows.Rotation
	form    *nearest.TridiagonalForm
	data    Data
}

// rotate returns the problem, and a point of it, in these coordinates.
func (p *Problem) rotate(x framework.Point) (*Problem, framework.Point, coordinates, error) {
	if p.turned == nil || p.turned.version != p.Version() {
		back, matrix, data := rows.NewRotation(*p.Data(), p.Loss().(framework.Quadratic).Matrix())
		p.turned = &rotation{p.Version(), back, nearest.NewTridiagonalForm(matrix, p.Loss()), data}
	}
	s, t := p.Shape(), p.turned
	other, err := NewProblem(p.Context(), t.data, t.form, s.Latent, s.S, p.Threads())
	if err != nil {
		return nil, nil, nil, fmt.Errorf("in the axes of the loss: %w", err)
	}
	other.Lambda, other.MaxPenalty, other.together = p.Lambda, p.MaxPenalty, p.together
	return other, shrinkPoint(t.back, x, s.M), t.back, nil
}
