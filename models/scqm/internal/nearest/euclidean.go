package nearest

import (
	"math"

	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// euclideanRows is the number of rows projected at a time.
	euclideanRows = 64
	// exactStep and exactGradient are the [Arrival] of rows projected to full precision: Newton's method
	// converges quadratically.
	exactStep, exactGradient = 1e-9, 1e-12
)

// euclidean projects rows in the Euclidean norm by [RowFeet]. It only accepts certified nearest points, to the
// tolerance at. The bits of a row do not depend on the other rows.
type euclidean struct {
	f                *sheet.Sheet
	at               Arrival
	feet             *RowFeet
	pulled, whole, u []float64
}

func newEuclidean(f *sheet.Sheet, at Arrival) *euclidean { return &euclidean{f: f, at: at} }

// reload must be called after a change of Theta, before place.
func (k *euclidean) reload() {
	if k.feet != nil {
		k.feet.Reload()
	}
}

// place writes the projections of n rows of x, at most euclideanRows, into tau; placed reports which succeeded.
func (k *euclidean) place(tau, x []float64, n int) {
	f, most := k.f, Rows(n)
	if k.feet == nil || len(k.u) < most {
		k.feet = NewRowFeet(f, most, k.at)
		k.pulled = make([]float64, most*max(f.M, FrameAxes))
		k.whole, k.u = make([]float64, most), make([]float64, most)
	}
	stride := len(k.u)
	f.DeviationsToFrame(k.pulled, stride, k.whole, x, n)
	if f.S > 0 {
		k.feet.Find(k.u, tau, k.pulled, stride, k.whole, n)
		return
	}
	copy(k.u, k.whole)
	for i := range n {
		for j := range f.Latent {
			tau[i*f.Latent+j] = k.pulled[j*stride+i]
		}
	}
}

// placed reports whether row i was projected.
func (k *euclidean) placed(i int) bool { return k.u[i] != Refused && !math.IsNaN(k.u[i]) }
