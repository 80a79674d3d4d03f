package blocks

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/arrowhead"
	"github.com/scqm/scqm/models/scqm/internal/influence"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// The sums of a Jackknife before those of [influence.Jackknife]: the cost, the blocks
// that are no interpolation, and the rows whose largest entry less c is below 2^farUnits
// or above 2^-farUnits. Behind them the sizes of residuals are counted, where the loss has
// kinks.
const (
	jackknifeHead = 4
	// farUnits is the exponent beyond which data are rescaled; see [rows.UnitOf].
	farUnits = 100
)

// ForJackknife makes this the Jackknife request of a loss.
func (r *Request) ForJackknife(l framework.Loss) {
	r.Kind = Jackknife
	if _, kinks := l.(framework.Smoother); kinks {
		r.Stride = 1
	}
}

// jackknifeLen is the number of sums of a Jackknife.
func (r *Request) jackknifeLen() int {
	a := arrowhead.NewChart(sheet.New(r.D, r.Latent, r.S), false)
	return r.jackknifeFrom() + influence.SumsLen(a.P, a.Nf)
}

func (r *Request) jackknifeFrom() int {
	if r.Stride > 0 {
		return jackknifeHead + bins
	}
	return jackknifeHead
}

// JackknifeSums is the result of a Jackknife request.
type JackknifeSums struct {
	Cost float64
	// Exact says that all residuals are rounding errors, Unit that numbers are neither
	// all tiny nor some of them huge, and Touch that a residual is near a kink.
	Exact, Unit, Touch bool
	// Sums are those of [influence.Jackknife].
	Sums []float64
}

// JackknifeSums decodes the sums of a Jackknife request.
func (r *Request) JackknifeSums(sums []float64) *JackknifeSums {
	from := r.jackknifeFrom()
	counts := sums[jackknifeHead:from]
	least, typical := Quantile(counts, math.SmallestNonzeroFloat64), Quantile(counts, 0.5)
	return &JackknifeSums{
		Cost: sums[0], Exact: sums[1] == 0, Unit: sums[2] == float64(r.N) && sums[3] > 0,
		Touch: len(counts) > 0 && objective.Touch([]float64{least * (1 - binWidth), typical * (1 + binWidth)}), Sums: sums[from:],
	}
}

// jackknifeKernel projects the rows of a block as a model does, and computes the sums of [influence.Jackknife].
type jackknifeKernel struct {
	r         *Request
	loss      framework.Loss
	f         *sheet.Sheet
	projector *nearest.Projector
	whole     *objective.Objective // of as many rows as the last block had
	tau       []float64
	jackknife *influence.Jackknife
}

func newJackknifeKernel(r *Request, loss framework.Loss) *jackknifeKernel {
	f := r.sheet()
	return &jackknifeKernel{r: r, loss: loss, f: f, projector: nearest.NewProjector(f, loss)}
}

func (k *jackknifeKernel) sum(ctx context.Context, dst []float64, x rows.Data, first int) ([]float64, error) {
	if err := checkFinite(x, first); err != nil {
		return nil, err
	}
	if err := k.load(ctx, x, first); err != nil {
		return nil, err
	}
	clear(dst[:k.r.jackknifeFrom()])
	if err := k.examine(dst, x); err != nil {
		return nil, err
	}
	if err := nearest.RefineRows(ctx, k.tau, k.f, k.loss, x, 1); err != nil {
		return nil, err
	}
	if err := k.count(dst[jackknifeHead:k.r.jackknifeFrom()]); err != nil {
		return nil, err
	}
	return nil, k.jackknife.Sum(ctx, dst[k.r.jackknifeFrom():], 0, x.N)
}

// load sets the block of the objective, and computes the coordinates of its rows.
func (k *jackknifeKernel) load(ctx context.Context, x rows.Data, first int) error {
	if k.whole != nil && k.whole.Data().N == x.N {
		k.whole.SetData(x)
	} else {
		o, err := objective.New(ctx, x, k.loss, k.r.Latent, k.r.S, 1)
		if err != nil {
			return err
		}
		k.whole, k.tau = o, make([]float64, x.N*k.f.Latent)
	}
	if k.r.Tau != nil {
		copy(k.tau, k.r.Tau[first*k.f.Latent:])
	} else if err := k.projector.Project(ctx, k.tau, x, first); err != nil {
		return err
	}
	if k.jackknife == nil {
		var err error
		k.jackknife, err = influence.Begin(k.whole, k.r.point(k.tau))
		return err
	}
	k.jackknife.Load(k.whole, k.tau)
	return nil
}

// examine writes the numbers that come before the sums of the jackknife: the cost of the rows at the coordinates
// of the model, whether a residual is more than rounding, and the counts of rows that are neither too far from c
// nor too near.
func (k *jackknifeKernel) examine(dst []float64, x rows.Data) error {
	cost, terms, err := k.whole.EvaluateTerms(nil, k.r.point(k.tau))
	if err != nil {
		return err
	}
	dst[0] = cost
	if !terms.Exact() {
		dst[1] = 1
	}
	for i := range x.N {
		_, exponent := math.Frexp(floats.Distance(x.Row(i), k.r.C, math.Inf(1)))
		if exponent <= farUnits {
			dst[2]++
		}
		if exponent >= -farUnits {
			dst[3]++
		}
	}
	return nil
}

// count adds the residual sizes at minima to the histogram.
func (k *jackknifeKernel) count(counts []float64) error {
	if len(counts) == 0 {
		return nil
	}
	sizes, err := k.whole.ResidualSizes(k.r.point(k.tau))
	for _, v := range sizes {
		counts[bin(v)]++
	}
	return err
}
