package blocks

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/alternating"
	"github.com/scqm/scqm/models/scqm/internal/arrowhead"
	"github.com/scqm/scqm/models/scqm/internal/influence"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// kernel computes the sums of blocks for one goroutine.
type kernel interface {
	// sum writes the sums of a block into dst and returns its sample. first is the number of the first row of the
	// block.
	sum(ctx context.Context, dst []float64, x rows.Data, first int) (sample []float64, err error)
}

// length is the number of sums of a request.
func (r *Request) length() int {
	d := r.Latent
	switch r.Kind {
	case Moments:
		return rows.MomentsLen(r.D)
	case Flat:
		return 1 + len(alternating.NewMoments(sheet.New(r.D, d, r.S)).Sums)
	case Sweep:
		return len(alternating.NewMoments(sheet.New(r.D, d, r.S)).Sums)
	case Gradient, Projected:
		return r.firstOrderLen()
	case Curvature:
		p := arrowhead.OuterDim(sheet.New(r.D, d, r.S).Shape, false)
		return r.firstOrderLen() + p + p*p
	case Jackknife:
		a := arrowhead.NewChart(sheet.New(r.D, d, r.S), false)
		return jackknifeHead + influence.SumsLen(a.P, a.Nf)
	default:
		return 1 // Far
	}
}

// kernel returns the kernel of the request for blocks of up to most rows.
func (r *Request) kernel(loss framework.Loss, most int) (kernel, error) {
	switch r.Kind {
	case Moments:
		return momentsKernel{stride: r.Stride}, nil
	case Far:
		return farKernel{r}, nil
	}
	rounded, err := r.rounded(loss)
	if err != nil {
		return nil, err
	}
	switch r.Kind {
	case Flat:
		least := losses.SquaredL2().(framework.Radial)
		return &flatKernel{loss: rounded, sweep: alternating.NewStatelessSweep(r.sheet(), least, most, r.Unit), residual: make([]float64, most*r.D), values: make([]float64, most)}, nil
	case Sweep:
		radial, ok := rounded.(framework.Radial)
		if !ok || !alternating.CanSweep(rounded) {
			return nil, fmt.Errorf("scqm: the loss %s cannot be swept: %w", loss.Name(), rows.ErrInput)
		}
		return &sweepKernel{alternating.NewStatelessSweep(r.sheet(), radial, most, r.Unit)}, nil
	case Gradient, Projected:
		return newGradientKernel(r, loss, most), nil
	case Curvature:
		return newCurvatureKernel(r, loss, most), nil
	default:
		return newJackknifeKernel(r, loss, most)
	}
}

// rounded returns the loss smoothed over Eps, the smoothing length of the request.
func (r *Request) rounded(loss framework.Loss) (framework.Loss, error) {
	if r.Eps == 0 {
		return loss, nil
	}
	s, ok := loss.(framework.Smoother)
	if !ok {
		return nil, fmt.Errorf("scqm: the loss %s has no kinks to round: %w", loss.Name(), rows.ErrInput)
	}
	return s.Smooth(r.Eps), nil
}

// momentsKernel computes [rows.Moments] of blocks, and rejects numbers that are not finite.
type momentsKernel struct{ stride int }

func (k momentsKernel) sum(_ context.Context, dst []float64, x rows.Data, first int) ([]float64, error) {
	if err := checkFinite(x, first); err != nil {
		return nil, err
	}
	rows.Moments(dst).Sum(x)
	var sample []float64
	for i := range x.N {
		if k.stride > 0 && (first+i)%k.stride == 0 {
			sample = append(append(sample, x.Weight(i)), x.Row(i)...)
		}
	}
	return sample, nil
}

// checkFinite returns an error that names the first entry that is not finite.
func checkFinite(x rows.Data, first int) error {
	for i := dense.FiniteUntil(x.X); i < len(x.X); i++ {
		if v := x.X[i]; math.IsInf(v, 0) || math.IsNaN(v) {
			return fmt.Errorf("scqm: row %d, column %d is %v; remove or impute it first: %w", first+i/x.D, i%x.D, v, rows.ErrInput)
		}
	}
	for i, w := range x.Weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("scqm: weight of row %d is %v, want a finite number of at least 0: %w", first+i, w, rows.ErrInput)
		}
	}
	return nil
}

// farKernel counts and lists the rows that are far from c.
type farKernel struct{ r *Request }

func (k farKernel) sum(_ context.Context, dst []float64, x rows.Data, first int) (sample []float64, err error) {
	for i := range x.N {
		if x.Weight(i) > 0 && floats.Distance(x.Row(i), k.r.C, math.Inf(1)) > k.r.Eps {
			sample = append(sample, float64(first+i))
		}
	}
	dst[0] = float64(len(sample))
	return sample, nil
}

// flatKernel sums the loss of a flat sheet, and the moments with the weights of the rows.
type flatKernel struct {
	loss     framework.Loss
	sweep    *alternating.StatelessSweep
	residual []float64
	values   []float64
}

func (k *flatKernel) sum(_ context.Context, dst []float64, x rows.Data, _ int) ([]float64, error) {
	k.sweep.Sum(dst[1:], x)
	f := k.sweep.Sheet()
	r, values := k.residual[:x.N*x.D], k.values[:x.N]
	for i := range x.N {
		row := r[i*x.D : (i+1)*x.D]
		floats.SubTo(row, f.C, x.Row(i))
		for j := range f.Latent {
			floats.AddScaled(row, -floats.Dot(f.Axis(j), row), f.Axis(j))
		}
	}
	if err := k.loss.Evaluate(values, nil, r, x.D); err != nil {
		return nil, fmt.Errorf("scqm: loss %s: %w", k.loss.Name(), err)
	}
	dst[0] = 0
	for i, v := range values {
		dst[0] += x.Weight(i) * v
	}
	return nil, nil
}

// sweepKernel computes the sums of a majorize-minimize step.
type sweepKernel struct{ sweep *alternating.StatelessSweep }

func (k *sweepKernel) sum(_ context.Context, dst []float64, x rows.Data, _ int) ([]float64, error) {
	k.sweep.Sum(dst, x)
	return nil, nil
}
