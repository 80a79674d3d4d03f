package nearest

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// WarmStarts are points of a sheet with known latent coordinates, such as those of its training rows. Where
// projections are not exact, the search also starts from those nearest to a row, so that training rows are not
// projected farther away than the fit left them.
type WarmStarts struct {
	tau []float64 // n x d
	z   []float64 // n x m
	phi []float64 // q
	m   int
}

const (
	// maxWarmStarts bounds the points compared with every row.
	maxWarmStarts = 5000
	// warmStarts is the number of those nearest to a row that are tried.
	warmStarts = 16
)

// Serves reports whether n warm starts are used: not where projections are exact without them, nor above
// maxWarmStarts.
func Serves(f *sheet.Sheet, loss framework.Loss, n int) bool {
	_, radial := loss.(framework.Radial)
	return f.S > 0 && n > 0 && n <= maxWarmStarts && (!radial || f.Latent > 2 && f.S > 1)
}

// Load sets the points at tau, n x d, for a sheet and a loss, or none where Serves is false. It keeps the
// memory of tau.
func (k *WarmStarts) Load(f *sheet.Sheet, loss framework.Loss, tau []float64) {
	n := len(tau) / f.Latent
	if !Serves(f, loss, n) {
		n = 0
	}
	k.m, k.tau = f.M, tau[:n*f.Latent]
	k.z, k.phi = dense.Grow(k.z, n*f.M), dense.Grow(k.phi, f.Q)
	for i := range n {
		f.Coordinates(k.z[i*f.M:(i+1)*f.M], k.phi, tau[i*f.Latent:(i+1)*f.Latent])
	}
}

// nearest lists the warm starts that are nearest to y = Q'(x - c), the nearest
// one first, and returns their number.
func (k *WarmStarts) nearest(list *[warmStarts]int, y []float64) int {
	if k == nil || len(k.tau) == 0 {
		return 0
	}
	var far [warmStarts]float64
	count := 0
	for i := range len(k.z) / k.m {
		distance := floats.Distance(k.z[i*k.m:(i+1)*k.m], y, 2)
		if math.IsNaN(distance) || count == warmStarts && distance >= far[count-1] {
			continue
		}
		count = min(count+1, warmStarts)
		at := count - 1
		for ; at > 0 && distance < far[at-1]; at-- {
			far[at], list[at] = far[at-1], list[at-1]
		}
		far[at], list[at] = distance, i
	}
	return count
}

// row returns the latent coordinates of point i.
func (k *WarmStarts) row(i, d int) []float64 { return k.tau[i*d : (i+1)*d] }
