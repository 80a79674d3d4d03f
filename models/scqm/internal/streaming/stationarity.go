package streaming

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"gonum.org/v1/gonum/floats"
)

// Norms holds the norms of the gradients of c, Q, Theta and tau, and the values that Stationarity reports.
type Norms struct{ Lengths, residuals [objective.NumBlocks]float64 }

func (n *Norms) worst() float64 { return floats.Max(n.residuals[:objective.BlockTau]) }

// Stationarity writes the residuals of c, Q and Theta as [objective.Objective.Stationarity]
// does, from sums over all rows.
func (p *Problem) Stationarity(dst []float64, x framework.Point) error {
	n, err := p.norms(x)
	copy(dst, n.residuals[:objective.BlockTau])
	return err
}

// norms measures stationarity with the unsmoothed loss and, after smoothing, also with the last smoothed loss. It
// returns the smaller result.
func (p *Problem) norms(x framework.Point) (Norms, error) {
	defer func(eps float64) { p.eps = eps }(p.eps)
	p.eps = 0
	o, err := p.firstOrder(x)
	if err != nil {
		return Norms{}, err
	}
	best := p.measure(o, x, 0)
	if p.lastEps == 0 {
		return best, nil
	}
	p.eps = p.lastEps
	rounded, err := p.firstOrder(x)
	if err != nil {
		return best, err
	}
	if other := p.measure(rounded, x, objective.CertificateSlack(o.Cost, rounded.Cost)); other.worst() < best.worst() {
		return other, nil
	}
	return best, nil
}

// measure returns the norms of the gradients at x, by block, and the values of Stationarity, from sums over the rows.
// Slack is the least of these values, see [objective.Residual].
func (p *Problem) measure(o *blocks.FirstOrder, x framework.Point, slack float64) (n Norms) {
	slope := make([]float64, len(o.Theta))
	p.Penalty(framework.Point{nil, nil, slope}, x[objective.BlockTheta])
	theta := make([]float64, len(o.Theta))
	floats.AddTo(theta, o.Theta, slope)
	terms := o.Terms
	terms[objective.BlockTheta] += floats.Norm(slope, 2)
	if o.Exact {
		// As gradients of rounding errors tell nothing, only the penalty counts, if that
		// of a sheet that is bent.
		terms = [objective.NumBlocks]float64{}
		var squares float64
		for j := 0; j < len(o.TauSquares); j += 1 + len(o.TauSum) {
			squares += o.TauSquares[j]
		}
		bent := floats.Norm(x[objective.BlockTheta], 2) * squares / o.Weight
		if size := floats.Norm(slope, 2); !objective.Balanced(p.loss, x[objective.BlockC], bent, squares, o.Weight, size) {
			terms[objective.BlockTheta] = size
		}
		n.Lengths[objective.BlockTheta] = terms[objective.BlockTheta]
	} else {
		q := make([]float64, len(o.Q))
		p.blocks[objective.BlockQ].Gradient(q, x[objective.BlockQ], o.Q)
		n.Lengths = [objective.NumBlocks]float64{floats.Norm(o.C, 2), floats.Norm(q, 2), floats.Norm(theta, 2), o.TauNorms}
	}
	for k := range n.residuals {
		n.residuals[k] = objective.Residual(n.Lengths[k], o.Noise[k], terms[k], slack)
	}
	return n
}
