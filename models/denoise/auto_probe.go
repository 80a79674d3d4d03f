package denoise

import (
	"math/rand/v2"
	"slices"
)

// probe is a perturbation of all rows by the same length, in random directions
// z, for a look at the divergence of the feet f: that of row i is on average
// z_i'(f_i(x + eps z) - f_i(x))/eps.
type probe struct {
	z      []float64 // n x D: signs
	x      []float64 // n x D: perturbed rows
	places places    // and their places
}

const (
	// perturbationSeed fixes the signs: the same rows give the same result.
	perturbationSeed = 20240229
	// probedRows is the number of rows, counted once for each probe, that are
	// enough, and maxProbes bounds the probes of few rows.
	probedRows = 4000
	maxProbes  = 4
)

// perturb makes the probes and denoises their rows once.
func (p *autoPrepare) perturb(s setting) error {
	c := p.cloud
	p.eps = perturbation * s.scale
	rng := rand.New(rand.NewPCG(perturbationSeed, 0))
	for range min(max(probedRows/len(c.used), 1), maxProbes) {
		pr := probe{z: make([]float64, len(c.X)), x: slices.Clone(c.X)}
		for _, i := range c.used { // rows of weight 0 take no random numbers from others
			for j := i * c.D; j < (i+1)*c.D; j++ {
				pr.z[j] = float64(1 - 2*int(rng.Uint64()>>63))
				pr.x[j] += p.eps * pr.z[j]
			}
		}
		pr.places = c.newPlaces(pr.x)
		if err := p.advanceProbe(&pr, s); err != nil {
			return err
		}
		p.probes = append(p.probes, pr)
	}
	return nil
}

// advanceProbe takes the feet of the rows of a probe for their places.
func (p *autoPrepare) advanceProbe(pr *probe, s setting) error {
	f := slices.Clone(pr.x)
	if _, err := p.chartAll(f, pr.x, pr.places, s); err != nil {
		return err
	}
	pr.places = p.cloud.newPlaces(f)
	return nil
}

// divergence is what a probe says about that of row i, whose foot it moves from f
// to fp.
func (p *autoPrepare) divergence(pr *probe, i int, f, fp []float64) float64 {
	D := p.cloud.D
	var sum float64
	for j, z := range pr.z[i*D : (i+1)*D] {
		sum += z * (fp[j] - f[j])
	}
	return min(max(sum/p.eps, -2*float64(D)), 3*float64(D))
}
