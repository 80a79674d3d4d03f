package blocks

import (
	"context"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/influence"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// jackknifeHead is the number of sums before those of [influence.Jackknife]: the cost, and the number of blocks that
// the sheet does not interpolate. The sample holds the least and the median norm of the residuals of each block.
const jackknifeHead = 2

// JackknifeSums is the result of a Jackknife request.
type JackknifeSums struct {
	Cost float64
	// Exact reports that all residuals are rounding errors. Touch reports that the norm of a residual is near 0.
	Exact, Touch bool
	// Sums are those of [influence.Jackknife].
	Sums []float64
}

// JackknifeSums decodes the sums of a Jackknife request.
func (r *Request) JackknifeSums(sums, sample []float64) *JackknifeSums {
	var least, typical []float64
	for k := 0; k < len(sample); k += 2 {
		least, typical = append(least, sample[k]), append(typical, sample[k+1])
	}
	slices.Sort(typical)
	touch := len(least) > 0 && objective.Touch([]float64{slices.Min(least), typical[len(typical)/2]})
	return &JackknifeSums{Cost: sums[0], Exact: sums[1] == 0, Touch: touch, Sums: sums[jackknifeHead:]}
}

// jackknifeKernel computes the sums of a block for the jackknife, with tau of each row at its minimum.
type jackknifeKernel struct {
	*gradientKernel
	jackknife *influence.Jackknife
}

func newJackknifeKernel(r *Request, loss framework.Loss, most int) (*jackknifeKernel, error) {
	k := newGradientKernel(r, loss, most)
	j, err := influence.New(k.f)
	return &jackknifeKernel{k, j}, err
}

func (k *jackknifeKernel) sum(ctx context.Context, dst []float64, x rows.Data, first int) ([]float64, error) {
	if err := checkFinite(x, first); err != nil {
		return nil, err
	}
	err := k.load(ctx, x)
	if err == nil && k.r.Tau != nil {
		copy(k.whole.tau, k.r.Tau[first*k.r.Latent:])
	} else if err == nil {
		err = k.place(ctx, x, first)
	}
	if err != nil {
		return nil, err
	}
	o, tau := k.whole, k.whole.tau
	cost, terms, err := o.EvaluateTerms(nil, k.r.point(tau))
	if err != nil {
		return nil, err
	}
	dst[0] = cost
	if !terms.Exact() {
		dst[1] = 1
	}
	if err := nearest.RefineRows(ctx, tau, k.f, k.loss, x, 1); err != nil {
		return nil, err
	}
	sizes, err := o.ResidualSizes(k.r.point(tau))
	if err != nil {
		return nil, err
	}
	var sample []float64
	if slices.Sort(sizes); len(sizes) > 0 {
		sample = []float64{sizes[0], sizes[len(sizes)/2]}
	}
	return sample, k.jackknife.Sum(dst[jackknifeHead:], o.Objective, tau)
}
