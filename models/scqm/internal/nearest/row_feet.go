package nearest

import "github.com/scqm/scqm/models/scqm/internal/sheet"

// Arrival is the tolerance of a projection.
type Arrival struct {
	// Step is the length of a last Newton step, relative to tau.
	Step float64
	// Gradient is half of the gradient of h, relative to [a; b], above which Find refuses a row.
	Gradient float64
}

// RowFeet projects rows by [SurfaceFeet] or [Feet]. Where neither applies, as for flat sheets, it refuses all rows.
type RowFeet struct {
	surface *SurfaceFeet
	feet    *Feet
	x, y    []float64 // the coordinates of up to so many rows, for surface
}

// NewRowFeet prepares for the current sheet and up to most rows.
func NewRowFeet(f *sheet.Sheet, most int, at Arrival) *RowFeet {
	k := &RowFeet{}
	switch {
	case HasSurfaceFeet(f):
		k.surface = NewSurfaceFeet(f, at)
		k.x, k.y = make([]float64, Rows(most)), make([]float64, Rows(most))
	case HasFeet(f):
		k.feet = NewFeet(f, at)
	}
	return k
}

// NewFinder prepares for Find with the tolerance of [Footpoint.Find].
func NewFinder(f *sheet.Sheet, most int) *RowFeet {
	return NewRowFeet(f, most, Arrival{purePrecision, pureGradient})
}

// Reload must be called after a change of Theta.
func (k *RowFeet) Reload() {
	switch {
	case k.surface != nil:
		k.surface.Reload()
	case k.feet != nil:
		k.feet.Reload()
	}
}

// Move improves tau, n x d, by so many steps at most; see [Feet.Move]. u, whole and every axis of pulled have
// memory for [Rows] of n, and pulled at least [FrameAxes] axes, of which those beyond m are 0.
func (k *RowFeet) Move(u, tau, pulled []float64, stride int, whole []float64, n, steps int) {
	switch {
	case k.surface != nil:
		for i := range n {
			k.x[i], k.y[i] = tau[2*i], tau[2*i+1]
		}
		k.surface.Move(u, k.x, k.y, pulled, stride, whole, n, steps)
		k.interleave(tau, n)
	case k.feet != nil:
		k.feet.Move(u, tau, pulled, stride, whole, n, steps)
	default:
		refuse(u[:n])
	}
}

// Find projects as [Footpoint.Find] does, and refuses rows that need more steps; see Move for the
// arguments.
func (k *RowFeet) Find(u, tau, pulled []float64, stride int, whole []float64, n int) {
	switch {
	case k.surface != nil:
		k.surface.Find(u, k.x, k.y, pulled, stride, whole, n)
		k.interleave(tau, n)
	case k.feet != nil:
		k.feet.Find(u, tau, pulled, stride, whole, n)
	default:
		refuse(u[:n])
	}
}

// interleave writes the coordinates of n rows into tau.
func (k *RowFeet) interleave(tau []float64, n int) {
	for i, v := range k.x[:n] {
		tau[2*i], tau[2*i+1] = v, k.y[i]
	}
}

func refuse(u []float64) {
	for i := range u {
		u[i] = Refused
	}
}
