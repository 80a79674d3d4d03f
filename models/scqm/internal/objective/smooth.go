package objective

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
)

const (
	// FewNormals is the codimension D - d up to which fits with the l2 loss tend to pass exactly through some of the
	// rows. A residual of one or a few entries vanishes easily, one of many does not.
	FewNormals = 3
	// touching is the size of a residual, relative to the typical one, below which a row counts as at the kink
	// of a radial loss.
	touching = 1e-3
	// scaleSample bounds the number of residuals that determine the smoothing scale.
	scaleSample = 1 << 17
)

// smoothing holds the loss itself, and the loss smoothed over the last length eps, nil before any smoothing.
type smoothing struct {
	plain, rounded framework.Loss
	eps            float64
}

// Smooth smooths the loss over eps for later evaluations; 0 restores the loss itself. [Problem.Stationarity] uses the
// gradients of the loss smoothed over the last eps > 0.
func (p *Objective) Smooth(eps float64) {
	s := &p.smoothing
	if s.plain == nil {
		s.plain = p.loss
	}
	l, ok := s.plain.(framework.Smoother)
	if !ok || eps == 0 {
		p.loss = s.plain
		return
	}
	if s.rounded == nil || s.eps != eps {
		s.rounded, s.eps = l.Smooth(eps), eps
	}
	p.loss, p.known = s.rounded, false
}

// SmoothingLength returns the last eps > 0 over which the loss was smoothed, 0 if it never was.
func (p *Objective) SmoothingLength() float64 { return p.smoothing.eps }

// SmoothingScale returns the median size of the residuals that are not zero: of their entries, or of their
// norms where the loss is radial. It is 0 for losses without kinks, and for radial losses where D - d is large,
// as residuals then stay away from the kink at r = 0.
func (p *Objective) SmoothingScale(x framework.Point) (float64, error) {
	if _, ok := p.loss.(framework.Smoother); !ok {
		return 0, nil
	}
	_, radial := p.loss.(framework.Radial)
	if radial && p.sheet.D-p.sheet.Latent > FewNormals {
		return 0, nil
	}
	if err := p.KeepResiduals(x); err != nil {
		return 0, err
	}
	length := 1
	if radial {
		length = p.data.D
	}
	n := len(p.residuals) / length
	stride := (n + scaleSample - 1) / scaleSample
	var sizes []float64
	for i := 0; i < n; i += stride {
		size := floats.Norm(p.residuals[i*length:(i+1)*length], 2)
		if size > 0 && p.data.Weight(i*length/p.data.D) > 0 {
			sizes = append(sizes, size)
		}
	}
	if len(sizes) == 0 {
		return 0, nil
	}
	return max(dense.Select(sizes, len(sizes)/2), math.SmallestNonzeroFloat64), nil
}

// Differentiable reports whether the loss has a gradient at its kinks, see [framework.Smoothable].
func (p *Objective) Differentiable() bool {
	jumps, err := Jumps(p.PlainLoss(), p.data.D, 1)
	return err == nil && !jumps
}

// Jumps reports whether the gradient of a loss jumps at r = 0. It compares the length of the gradient near 0 with that
// at the given scale.
func Jumps(loss framework.Loss, D int, scale float64) (bool, error) {
	r := make([]float64, 2*D)
	r[0], r[D] = scale, scale*1e-12
	err := loss.Evaluate(nil, r, r, D)
	return math.Abs(r[D]) > math.Abs(r[0])/2, err
}

// Keeps reports whether the cached residuals belong to x.
func (p *Objective) Keeps(x framework.Point) bool { return p.kept && p.at.Equal(x) }

// KeepResiduals caches the residuals at x.
func (p *Objective) KeepResiduals(x framework.Point) error {
	if p.Keeps(x) {
		return nil
	}
	if p.residuals == nil {
		p.residuals = make([]float64, p.data.N*p.data.D)
	}
	_, err := p.Evaluate(nil, x)
	return err
}

// RoundingScale returns the typical size of the quantity that vanishes at a kink: the norms of residuals for a
// radial loss, else their entries. It is 0 for a loss without kinks, and for a radial loss without residuals
// near 0 where D - d is large.
func (p *Objective) RoundingScale(at framework.Point) (float64, error) {
	if _, ok := p.loss.(framework.Smoother); !ok {
		return 0, nil
	}
	sizes, err := p.ResidualSizes(at)
	if err != nil {
		return 0, err
	}
	f := p.sheet
	slices.Sort(sizes)
	typical := sizes[len(sizes)/2]
	if _, radial := p.loss.(framework.Radial); !radial {
		return typical / math.Sqrt(float64(max(1, f.D-f.Latent))), nil
	}
	if f.D-f.Latent > FewNormals && !Touch(sizes) {
		return 0, nil
	}
	return typical, nil
}

// ResidualSizes returns the norms of the residuals of rows with weights above 0.
func (p *Objective) ResidualSizes(at framework.Point) ([]float64, error) {
	if err := p.KeepResiduals(at); err != nil {
		return nil, err
	}
	var sizes []float64
	for i := range p.data.N {
		if p.data.Weight(i) > 0 {
			sizes = append(sizes, rows.Norm(p.residuals[i*p.data.D:(i+1)*p.data.D]))
		}
	}
	return sizes, nil
}

// Touch reports whether the smallest of sorted residual sizes is near the kink at r = 0, relative to the
// median.
func Touch(sizes []float64) bool { return sizes[0] <= touching*sizes[len(sizes)/2] }
