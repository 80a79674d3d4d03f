package losses

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/framework"
)

// Choice is a loss with the reason for it.
type Choice struct {
	Loss framework.Loss
	// Decided is false if the residuals do not determine a loss; Loss is then [L2].
	Decided bool
	// Reason is a sentence for people.
	Reason string
}

const (
	// minCodimension is the number of directions off a sheet below which residuals are not informative: with few
	// directions, the latent coordinates absorb the noise.
	minCodimension = 4
	// minFreedom is the number of degrees of freedom that residuals need.
	minFreedom = 200
	// jackknifeGroups is the number of groups that are left out in turn for standard errors.
	jackknifeGroups = 10
)

// Choose chooses a loss for the noise in residuals, rows of length D, of a fit with d latent coordinates per row.
// Parts are those of [EstimatePower], nil for residuals that are noise. For each loss it computes the variance of an
// estimate if the residuals were the noise: the variance E psi^2 / (E psi')^2 of an M-estimate of location, with psi
// the gradient of the loss. The best is chosen if it is better than l2 by two standard errors.
//
// Source: P. J. Huber, Robust estimation of a location parameter, Annals of
// Mathematical Statistics 35 (1964); the standard errors are those of the
// jackknife over groups of rows.
func Choose(residuals, parts []float64, D, d int) (Choice, error) {
	if D < 1 || d < 0 || len(residuals)%D != 0 || !allFinite(residuals) {
		return Choice{}, fmt.Errorf("losses: %d residuals are not rows of %d finite numbers: %w", len(residuals), D, ErrResiduals)
	}
	freedom := float64(len(residuals))
	if parts != nil {
		freedom = floats.Sum(parts)
	}
	refuse := func(why string) (Choice, error) {
		return Choice{Loss: L2(), Reason: "kept the loss l2: " + why}, nil
	}
	if D-d < minCodimension {
		return refuse(fmt.Sprintf("with %d directions off the sheet, residuals cannot tell what the noise is; at least %d are needed", D-d, minCodimension))
	}
	if freedom < minFreedom {
		return refuse(fmt.Sprintf("the residuals have %.0f degrees of freedom, fewer than the %d needed to tell what the noise is", freedom, minFreedom))
	}
	part := freedom / float64(len(residuals))
	power, err := EstimatePower(residuals, parts)
	if err != nil {
		return refuse("the residuals vanish")
	}
	delta := DefaultDelta("huber", rowNorms(residuals, D))
	list, err := candidates(delta)
	if err != nil {
		return Choice{}, err
	}
	residuals = levelled(residuals, parts, part)
	spread := spreads(list, residuals, D, part)
	best := floats.MinIdx(spread)
	gain := math.Log(spread[best] / spread[0])
	e := jackknife(list, best, residuals, D, part)
	noise := fmt.Sprintf("residuals of kurtosis %.2g, and power %.2f ± %.2f of generalised Gaussian noise", kurtosis(residuals), power.P, power.PError)
	if math.IsInf(power.PError, 1) {
		noise = fmt.Sprintf("residuals of kurtosis %.2g", kurtosis(residuals))
	}
	if best == 0 || !(gain < -2*e) {
		c, _ := refuse(fmt.Sprintf("no other is better by more than chance; %s", noise))
		c.Decided = best == 0
		return c, nil
	}
	return Choice{list[best].loss, true, fmt.Sprintf("chose the loss %s: by the residuals of l2, estimates vary %.2g times as much as with l2; %s", list[best].name, math.Exp(gain), noise)}, nil
}

// levelled scales the entries to the variance that they would have if the fit left the same part of each. It drops
// entries of which too little is left.
func levelled(residuals, parts []float64, part float64) []float64 {
	if parts == nil {
		return residuals
	}
	level := make([]float64, len(residuals))
	for i, e := range residuals {
		level[i] = e * math.Sqrt(part/max(parts[i], minPart))
	}
	return level
}

// candidate is a loss to choose. spread estimates the variance of an estimate, in one direction, from residuals of
// which the fit leaves a part.
type candidate struct {
	name   string
	loss   framework.Loss
	spread func(residuals []float64, D int, part float64) float64
}

// candidates lists the losses, l2 first.
func candidates(delta float64) ([]candidate, error) {
	huber, err := Huber(delta)
	if err != nil {
		return nil, err
	}
	list := []candidate{
		{"l2", L2(), func(r []float64, D int, part float64) float64 { return radialSpread(r, D, part, 0) }},
		{"squared_l2", SquaredL2(), func(r []float64, D int, part float64) float64 { return radialSpread(r, D, part, math.Inf(1)) }},
		{fmt.Sprintf("huber, delta = %.4g", delta), huber, func(r []float64, D int, part float64) float64 { return radialSpread(r, D, part, delta) }},
		{"l1", L1(), medianSpread},
	}
	for _, p := range []float64{1.25, 1.5, 3, 4, 6} {
		loss, err := Lp(p)
		if err != nil {
			return nil, err
		}
		list = append(list, candidate{fmt.Sprintf("lp, p = %g", p), loss, func(r []float64, _ int, part float64) float64 {
			return powerSpread(r, p, part)
		}})
	}
	return list, nil
}

// radialSpread is the spread of Huber's loss, of l2 if delta is 0. Of k = part D directions, k-1 are normal to the
// residual.
func radialSpread(residuals []float64, D int, part, delta float64) float64 {
	k := part * float64(D)
	var square, slope float64
	norms := rowNorms(residuals, D)
	for _, norm := range norms {
		switch {
		case norm <= delta:
			square += norm * norm
			slope++
		case delta > 0:
			square += delta * delta
			slope += (1 - 1/k) * delta / norm
		case norm > 0:
			square++
			slope += (1 - 1/k) / norm
		}
	}
	n := float64(len(norms))
	return square / n / k / ((slope / n) * (slope / n))
}

// powerSpread is that of lp.
func powerSpread(residuals []float64, p, part float64) float64 {
	var square, slope float64
	for _, e := range residuals {
		if a := math.Abs(e); a > 0 {
			square += math.Pow(a, 2*p-2)
			slope += (p - 1) * math.Pow(a, p-2)
		}
	}
	n := float64(len(residuals))
	return square / n / part / ((slope / n) * (slope / n))
}

// medianSpread is that of l1: 1/(2 f(0))^2, with the density f at 0 estimated
// from the residuals below a fifth of their median.
func medianSpread(residuals []float64, _ int, part float64) float64 {
	sizes := make([]float64, len(residuals))
	for i, e := range residuals {
		sizes[i] = math.Abs(e)
	}
	slices.Sort(sizes)
	within := sizes[len(sizes)/2] / 5
	if within == 0 {
		return math.Inf(1)
	}
	count, _ := slices.BinarySearch(sizes, within)
	density := float64(count) / float64(len(sizes)) / within
	return 1 / (part * density * density)
}

func spreads(list []candidate, residuals []float64, D int, part float64) []float64 {
	var spread []float64
	for _, c := range list {
		v := c.spread(residuals, D, part)
		if math.IsNaN(v) {
			v = math.Inf(1)
		}
		spread = append(spread, v)
	}
	return spread
}

// jackknife returns the standard error of the logarithm of the ratio of a candidate's variance to the first one's.
func jackknife(list []candidate, best int, residuals []float64, D int, part float64) float64 {
	var values []float64
	for g := range jackknifeGroups {
		var left []float64
		for i := range len(residuals) / D {
			if i%jackknifeGroups != g {
				left = append(left, residuals[i*D:(i+1)*D]...)
			}
		}
		values = append(values, math.Log(list[best].spread(left, D, part)/list[0].spread(left, D, part)))
	}
	return (jackknifeGroups - 1) / math.Sqrt(jackknifeGroups) * stat.PopStdDev(values, nil)
}

func rowNorms(residuals []float64, D int) []float64 {
	var norms []float64
	for ; len(residuals) > 0; residuals = residuals[D:] {
		norms = append(norms, floats.Norm(residuals[:D], 2))
	}
	return norms
}

// kurtosis returns the kurtosis, which is 3 for Gaussian noise.
func kurtosis(residuals []float64) float64 {
	scale := floats.Norm(residuals, math.Inf(1))
	var two, four float64
	for _, e := range residuals {
		e /= scale
		two += e * e
		four += e * e * e * e
	}
	return four / two / two * float64(len(residuals))
}

func allFinite(v []float64) bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}
