package blocks

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Quantiles of parts do not merge, histograms do. The bins are those of the exponent and
// the first bits of the mantissa of a number, from 2^-lowest to 2^lowest: they are at
// most 1.6 % wide, and the same for all data. Zeros are left out.
const (
	lowest   = 128
	binBits  = 6
	bins     = 2 * lowest << binBits
	binWidth = 1. / (1 << binBits)
	firstBin = (1023 - lowest) << binBits
)

// bin returns the bin of a positive number.
func bin(v float64) int {
	return min(max(int(math.Float64bits(v)>>(52-binBits))-firstBin, 0), bins-1)
}

// Quantile returns a quantile of a histogram, the middle of its bin; part is in [0, 1]. It is 0 for an empty
// histogram.
func Quantile(counts []float64, part float64) float64 {
	left := part * floats.Sum(counts)
	if !(left > 0) {
		return 0
	}
	for b, c := range counts {
		if left -= c; left <= 0 && c > 0 {
			low := math.Float64frombits(uint64(b+firstBin) << (52 - binBits))
			high := math.Float64frombits(uint64(b+firstBin+1) << (52 - binBits))
			return low/2 + high/2
		}
	}
	return 0
}

// sizesKernel adds the sizes of residuals at projections to a histogram, each with the weight of its row.
type sizesKernel struct {
	entries    bool
	f          *sheet.Sheet
	projection *nearest.Projection
	r          []float64 // D
	z, phi     []float64
	tau        []float64
}

func newSizesKernel(r *Request) *sizesKernel {
	f := r.sheet()
	k := &sizesKernel{
		entries: r.Kind == Entries, f: f, projection: nearest.NewProjection(f), r: make([]float64, f.D),
		z: make([]float64, f.M), phi: make([]float64, f.Q), tau: make([]float64, f.Latent),
	}
	return k
}

func (k *sizesKernel) sum(_ context.Context, dst []float64, x rows.Data, _ int) ([]float64, error) {
	clear(dst)
	f := k.f
	for i := range x.N {
		weight := x.Weight(i)
		if !(weight > 0) {
			continue
		}
		k.projection.Load(x.Row(i))
		k.projection.Find(k.tau)
		f.Coordinates(k.z, k.phi, k.tau)
		f.Residual(k.r, k.z, x.Row(i))
		if !k.entries {
			if v := floats.Norm(k.r, 2); v > 0 {
				dst[bin(v)] += weight
			}
			continue
		}
		for _, v := range k.r {
			if v != 0 {
				dst[bin(math.Abs(v))] += weight
			}
		}
	}
	return nil, nil
}
