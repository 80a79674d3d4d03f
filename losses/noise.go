package losses

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// GeneralizedGaussianNoise fills dst with independent numbers whose density is
// proportional to exp(-|e/scale|^p), the noise whose likelihood is the loss
// [Lp]: Laplace's for p = 1, and for p = 2 the Gaussian one of standard
// deviation scale/sqrt(2). It needs a finite p > 0 and a finite scale >= 0.
func GeneralizedGaussianNoise(dst []float64, p, scale float64, rng *rand.Rand) error {
	if !(p > 0) || math.IsInf(p, 0) {
		return fmt.Errorf("losses: noise: p = %v: want a finite number above 0", p)
	}
	if err := checkNoiseScale(scale); err != nil {
		return err
	}
	// |e/scale|^p has the gamma distribution of shape 1/p.
	gamma := distuv.Gamma{Alpha: 1 / p, Beta: 1, Src: rng}
	for i := range dst {
		dst[i] = scale * math.Pow(gamma.Rand(), 1/p)
		if rng.IntN(2) == 0 {
			dst[i] = -dst[i]
		}
	}
	return nil
}

// RadialLaplaceNoise fills the rows of length D of dst with independent vectors
// whose density is proportional to exp(-|e|/scale), the noise whose likelihood
// is the loss [L2]. The direction of a row is uniform, and its norm has the
// gamma distribution of shape D, so that it is D scale on average. It needs a
// finite scale >= 0.
func RadialLaplaceNoise(dst []float64, D int, scale float64, rng *rand.Rand) error {
	if D < 1 || len(dst)%D != 0 {
		return fmt.Errorf("losses: noise: %d numbers are not rows of length %d", len(dst), D)
	}
	if err := checkNoiseScale(scale); err != nil {
		return err
	}
	gamma := distuv.Gamma{Alpha: float64(D), Beta: 1, Src: rng}
	for ; len(dst) > 0; dst = dst[D:] {
		row := dst[:D]
		norm := 0.0
		for norm == 0 {
			for j := range row {
				row[j] = rng.NormFloat64()
			}
			norm = floats.Norm(row, 2)
		}
		floats.Scale(scale*gamma.Rand()/norm, row)
	}
	return nil
}

func checkNoiseScale(scale float64) error {
	if !(scale >= 0) || math.IsInf(scale, 0) {
		return fmt.Errorf("losses: noise: scale %v: want a finite number of at least 0", scale)
	}
	return nil
}
