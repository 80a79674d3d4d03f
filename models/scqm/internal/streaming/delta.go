package streaming

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// MedianResidual returns the median distance of the rows from the best flat sheet, or the median size of its
// entries, by a histogram. The problem is that of a flat sheet; its loss is ignored.
func (p *Problem) MedianResidual(entries bool) (float64, error) {
	kind := blocks.Norms
	if entries {
		kind = blocks.Entries
	}
	s, err := p.NewStarts(Settings{})
	if err != nil {
		return 0, err
	}
	x := framework.NewPoint(p.blocks)
	copy(x[objective.BlockC], s.mean)
	dense.Transpose(x[objective.BlockQ], s.axes, p.shape.Latent, p.shape.D)
	counts, _, err := p.sum(p.request(kind, x))
	if err != nil {
		return 0, err
	}
	return blocks.Quantile(counts, 0.5), nil
}
