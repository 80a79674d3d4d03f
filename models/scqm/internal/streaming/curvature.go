package streaming

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/arrowhead"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// ArrowheadShape implements [latent.ArrowheadHessian] without inner rows, as the sums have tau eliminated. It returns
// false for losses without second derivatives, and if the Hessian would be too large.
func (p *Problem) ArrowheadShape() (latent.ArrowheadShape, bool) {
	s := latent.ArrowheadShape{Outer: arrowhead.OuterDim(p.shape, false), Dim: p.shape.Latent}
	return s, s.Outer <= arrowhead.MaxOuter && rowloss.StructureOf(p.loss) != rowloss.StructureBlackBox
}

// AssembleHessian implements [latent.ArrowheadHessian].
func (p *Problem) AssembleHessian(a *latent.Arrowhead, x framework.Point) (cost, passes float64, err error) {
	k, err := p.find(x, true)
	if err != nil {
		return 0, 0, err
	}
	n := a.Outer
	copy(a.OuterGrad, k.second.Gradient)
	copy(a.A, k.second.Hessian)
	theta, from := x[objective.BlockTheta], n-len(x[objective.BlockTheta])
	p.AddPenaltyProduct(p.shape, a.OuterGrad[from:], theta)
	p.AddPenaltyHessian(p.shape, a.A, n, from)
	for i := range n {
		for j := range i {
			a.A[i*n+j] = a.A[j*n+i]
		}
	}
	return k.first.Cost + p.Penalty(nil, theta), 2, nil
}

// RetractOuter implements [latent.ArrowheadHessian].
func (p *Problem) RetractOuter(dst, x framework.Point, v []float64) error {
	if p.chart == nil {
		D := p.shape.D
		o, err := objective.New(p.ctx, rows.Data{N: 1, D: D, X: make([]float64, D)}, p.loss, p.shape.Latent, p.shape.S, 1)
		if err != nil {
			return err
		}
		p.chart = arrowhead.New(o)
	}
	return p.chart.RetractOuter(dst, x, v)
}

// InnerStep implements [latent.ArrowheadHessian]; there are no inner rows. It also requests second
// derivatives, which the next step needs if this one is accepted.
func (p *Problem) InnerStep(x framework.Point, _ []float64) (cost, passes float64, err error) {
	k, err := p.find(x, true)
	if err != nil {
		return 0, 0, err
	}
	return k.first.Cost + p.Penalty(nil, x[objective.BlockTheta]), 2, nil
}
