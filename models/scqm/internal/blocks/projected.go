package blocks

import (
	"context"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// projectedKernel sums the loss of rows at their projections, which for losses that are
// no function of the norm can be lower than where a pure pass ends.
type projectedKernel struct {
	f           *sheet.Sheet
	loss        framework.Loss
	projector   *nearest.Projector
	tau, z, phi []float64
	r, values   []float64
}

func newProjectedKernel(r *Request, loss framework.Loss, most int) *projectedKernel {
	f := r.sheet()
	return &projectedKernel{
		f: f, loss: loss, projector: nearest.NewProjector(f, loss), tau: make([]float64, most*f.Latent),
		z: make([]float64, f.M), phi: make([]float64, f.Q), r: make([]float64, most*f.D), values: make([]float64, most),
	}
}

func (k *projectedKernel) sum(ctx context.Context, dst []float64, x rows.Data, first int) ([]float64, error) {
	f := k.f
	tau, r, values := k.tau[:x.N*f.Latent], k.r[:x.N*f.D], k.values[:x.N]
	if err := k.projector.Project(ctx, tau, x, first); err != nil {
		return nil, err
	}
	for i := range x.N {
		f.Coordinates(k.z, k.phi, tau[i*f.Latent:(i+1)*f.Latent])
		f.Residual(r[i*f.D:(i+1)*f.D], k.z, x.Row(i))
	}
	if err := k.loss.Evaluate(values, nil, r, f.D); err != nil {
		return nil, fmt.Errorf("scqm: loss %s: %w", k.loss.Name(), err)
	}
	dst[0] = 0
	for i, v := range values {
		dst[0] += x.Weight(i) * v
	}
	return nil, nil
}
