package nearest

import "github.com/scqm/scqm/models/scqm/internal/sheet"

// Arrival is the tolerance of a projection.
type Arrival struct {
	// Step is the length of a last Newton step, relative to tau.
	Step float64
	// Gradient is half of the gradient of h, relative to [a; b], above which Find refuses a row.
	Gradient float64
}

// RowFeet projects rows by [Feet]. Where these do not apply, as for flat sheets, it refuses all rows.
type RowFeet struct{ feet *Feet }

// NewRowFeet prepares for the current sheet.
func NewRowFeet(f *sheet.Sheet, at Arrival) *RowFeet {
	k := &RowFeet{}
	if HasFeet(f) {
		k.feet = NewFeet(f, at)
	}
	return k
}

// NewFinder prepares for Find with the tolerance of [Footpoint.Find].
func NewFinder(f *sheet.Sheet) *RowFeet { return NewRowFeet(f, Arrival{purePrecision, pureGradient}) }

// Reload must be called after a change of Theta.
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

// Find projects as [Footpoint.Find] does, and refuses rows that need more steps; see [Feet.Move] for the
// arguments.
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
