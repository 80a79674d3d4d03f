package nearest

import (
	"math"

	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// euclideanRows is the number of rows that are placed at a time.
	euclideanRows = 64
	// exactStep and exactGradient are those of [Arrival] for rows that are placed to all digits:
	// by Newton's method the next step would be about the square of the last.
	exactStep, exactGradient = 1e-9, 1e-12
)

// euclidean places rows in the Euclidean norm by [RowFeet]: those of which this is known to be the
// nearest point of the whole sheet, as near to it as at says. A row comes to the same bits whatever is
// beside it.
type euclidean struct {
	f                *sheet.Sheet
	at               Arrival
	feet             *RowFeet
	pulled, whole, u []float64
}

func newEuclidean(f *sheet.Sheet, at Arrival) *euclidean { return &euclidean{f: f, at: at} }

// reload has to be called where Theta may have changed, before place.
func (k *euclidean) reload() {
	if k.feet != nil {
		k.feet.Reload()
	}
}

// place writes the nearest points of n rows of x, euclideanRows at most, into tau, where placed says so.
func (k *euclidean) place(tau, x []float64, n int) {
	f, most := k.f, Rows(n)
	if k.feet == nil || len(k.u) < most {
		k.feet = NewRowFeet(f, k.at)
		k.pulled = make([]float64, most*f.M)
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

// placed reports whether row i was.
func (k *euclidean) placed(i int) bool { return k.u[i] != Refused && !math.IsNaN(k.u[i]) }
