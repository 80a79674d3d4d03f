package nearest

import "github.com/scqm/scqm/models/scqm/internal/sheet"

// Arrival says when a row has arrived at a nearest point.
type Arrival struct {
	// Step is the length of a last Newton step, relative to tau.
	Step float64
	// Gradient is half of the gradient of h, relative to [a; b], above which Find refuses a row.
	Gradient float64
}

// RowFeet moves rows of a sheet towards the nearest points by the kernels that serve it:
// [SurfaceFeet] or [Feet]. Where neither does, which flat sheets are among, it refuses all rows.
type RowFeet struct {
	surface *SurfaceFeet
	feet    *Feet
	x, y    []float64 // of up to so many rows: the coordinates that surface moves
}

// NewRowFeet prepares for up to most rows of a sheet as it is.
func NewRowFeet(f *sheet.Sheet, most int, at Arrival) *RowFeet {
	k := &RowFeet{}
	switch most = Rows(most); {
	case HasSurfaceFeet(f):
		k.surface = NewSurfaceFeet(f, at)
		k.x, k.y = make([]float64, most), make([]float64, most)
	case HasFeet(f):
		k.feet = NewFeet(f, at)
	}
	return k
}

// NewFinder prepares for Find to as many digits as [Footpoint.Find] finds.
func NewFinder(f *sheet.Sheet, most int) *RowFeet {
	return NewRowFeet(f, most, Arrival{purePrecision, pureGradient})
}

// Reload has to be called where Theta may have changed.
func (k *RowFeet) Reload() {
	if k.surface != nil {
		k.surface.Reload()
	}
	if k.feet != nil {
		k.feet.Reload()
	}
}

// Move improves tau, n x d, by so many steps at most; see [Feet.Move]. u, whole and every axis of
// pulled have memory for [Rows] of n, and pulled has at least [FrameAxes], of which those beyond m are 0.
func (k *RowFeet) Move(u, tau, pulled []float64, stride int, whole []float64, n, steps int) {
	switch {
	case k.surface != nil:
		for i := range n {
			k.x[i], k.y[i] = tau[2*i], tau[2*i+1]
		}
		k.surface.Move(u, k.x, k.y, pulled, stride, whole, n, steps)
		k.leave(tau, n)
	case k.feet != nil:
		k.feet.Move(u, tau, pulled, stride, whole, n, steps)
	default:
		refuse(u[:n])
	}
}

// Find writes the nearest points into tau as [Footpoint.Find] does, and refuses rows for which the
// way there is longer. The rest is that of Move.
func (k *RowFeet) Find(u, tau, pulled []float64, stride int, whole []float64, n int) {
	switch {
	case k.surface != nil:
		k.surface.Find(u, k.x, k.y, pulled, stride, whole, n)
		k.leave(tau, n)
	case k.feet != nil:
		k.feet.Find(u, tau, pulled, stride, whole, n)
	default:
		refuse(u[:n])
	}
}

// leave writes the coordinates that surface moved.
func (k *RowFeet) leave(tau []float64, n int) {
	for i, v := range k.x[:n] {
		tau[2*i], tau[2*i+1] = v, k.y[i]
	}
}

func refuse(u []float64) {
	for i := range u {
		u[i] = Refused
	}
}
