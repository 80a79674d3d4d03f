package nearest

import "github.com/scqm/scqm/models/scqm/internal/sheet"

// Arrival says when a row has arrived at a nearest point.
type Arrival struct {
	// Step is the length of a last Newton step, relative to tau.
	Step float64
	// Gradient is half of the gradient of h, relative to [a; b], above which Find refuses a row.
	Gradient float64
}

// RowFeet moves rows of a sheet towards the nearest points by [Feet]. Where these do not serve, which flat sheets are among, it
// refuses all rows.
type RowFeet struct{ feet *Feet }

// NewRowFeet prepares for a sheet as it is.
func NewRowFeet(f *sheet.Sheet, at Arrival) *RowFeet {
	k := &RowFeet{}
	if HasFeet(f) {
		k.feet = NewFeet(f, at)
	}
	return k
}

// NewFinder prepares for Find to as many digits as [Footpoint.Find] finds.
func NewFinder(f *sheet.Sheet) *RowFeet { return NewRowFeet(f, Arrival{purePrecision, pureGradient}) }

// Reload has to be called where Theta may have changed.
func (k *RowFeet) Reload() {
	if k.feet != nil {
		k.feet.Reload()
	}
}

// Move improves tau, n x d, by so many steps at most; see [Feet.Move].
func (k *RowFeet) Move(u, tau, pulled []float64, stride int, whole []float64, n, steps int) {
	if k.feet == nil {
		refuse(u[:n])
		return
	}
	k.feet.Move(u, tau, pulled, stride, whole, n, steps)
}

// Find writes the nearest points into tau as [Footpoint.Find] does, and refuses rows for which the
// way there is longer. The rest is that of Move.
func (k *RowFeet) Find(u, tau, pulled []float64, stride int, whole []float64, n int) {
	if k.feet == nil {
		refuse(u[:n])
		return
	}
	k.feet.Find(u, tau, pulled, stride, whole, n)
}

func refuse(u []float64) {
	for i := range u {
		u[i] = Refused
	}
}
