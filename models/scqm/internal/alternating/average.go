package alternating

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// responsePart is the fraction a of the response in the average: with all of it, the average would have the
	// curvature of the cost, to first order.
	responsePart = 0.99
	// virtualSweeps bounds the sweeps of Minimize, which move tau by the response without reading rows; they
	// end when Q moves less than virtualMove.
	virtualSweeps, virtualMove = 50, 1e-7
)

// Average is the running average of the sums of sweeps over parts of the rows, each with
// its [Response] and at another sheet: stochastic majorization-minimization. In terms of
// B = [c, U h, V Theta' h^2] it is the function
//
//	A(B) = tr B K B' - 2 tr B G' - a |Q'B - Q'B_j|_S^2,
//
// with the averages K and G of the moments of a sweep, and S of the responses at the
// sheets B_j of the draws, in the frame Q of the last one; a is 0.99. Its last term is
// concave, so that sweeps with that term replaced by its tangent never raise A: they are
// the sweeps over all rows that a draw predicts.
//
// Source: J. Mairal, Stochastic majorization-minimization algorithms for large-scale
// optimization, NIPS 26 (2013), for averages of majorizers.
type Average struct {
	f     *sheet.Sheet
	unit  float64
	outer *Outer
	work  *Moments
	k     int

	origin   []float64 // about which the moments are
	frame    []float64 // m x D: the axes at the last draw
	moments  []float64
	response *Response
	pull     []float64 // m x k: the average of S B_j

	own            *Response // of one draw
	sums           []float64
	b, react, turn []float64
	shift          []float64
}

// NewAverage returns an empty average for sheets of the shape of f, with moments about its centre; unit is h.
func NewAverage(f *sheet.Sheet, unit float64) *Average {
	k := 1 + f.Latent + forms(f)
	work := NewMoments(f)
	vec := func(n int) []float64 { return make([]float64, n) }
	return &Average{
		f: f, unit: unit, outer: NewOuter(f, unit), work: work, k: k,
		origin: slices.Clone(f.C), frame: slices.Clone(f.QT), moments: vec(work.Len()), response: NewResponse(f), pull: vec(f.M * k),
		own: NewResponse(f), sums: vec(work.Len()), b: vec(f.M * k), react: vec(f.M * k), turn: vec(f.M * f.M), shift: vec(f.D),
	}
}

// Add adds the sums of a draw at x, times scale, with weight rate; earlier draws are weighted by 1 - rate. It
// overwrites the sums.
func (a *Average) Add(x framework.Point, sums []float64, rate, scale float64) {
	f := a.f
	f.Load(x[objective.BlockC], x[objective.BlockQ], x[objective.BlockTheta])
	moments, response := sums[:len(a.moments)], sums[len(a.moments):]
	floats.SubTo(a.shift, f.C, a.origin)
	shiftMoments(f, moments, a.shift)
	floats.Scale(1-rate, a.moments)
	floats.AddScaled(a.moments, rate*scale, moments)

	a.follow()
	floats.ScaleTo(a.own.Sums, rate*scale, response)
	floats.Scale(1-rate, a.response.Sums)
	floats.Add(a.response.Sums, a.own.Sums)
	floats.Scale(1-rate, a.pull)
	a.place()
	a.own.Apply(a.pull, a.b)
}

// follow rotates the response to the frame of the sheet.
func (a *Average) follow() {
	f := a.f
	for i := range f.M {
		for j := range f.M {
			a.turn[i*f.M+j] = floats.Dot(f.Axis(i), a.frame[j*f.D:(j+1)*f.D])
		}
	}
	a.response.Turn(a.turn)
	clear(a.b)
	for i := range f.M {
		for j := range f.M {
			floats.AddScaled(a.b[i*a.k:(i+1)*a.k], a.turn[i*f.M+j], a.pull[j*a.k:(j+1)*a.k])
		}
	}
	copy(a.pull, a.b)
	copy(a.frame, f.QT)
}

// place writes Q'B of the sheet.
func (a *Average) place() {
	f := a.f
	clear(a.b)
	floats.SubTo(a.shift, f.C, a.origin)
	for i := range f.M {
		axis, row := a.frame[i*f.D:(i+1)*f.D], a.b[i*a.k:(i+1)*a.k]
		row[0] = floats.Dot(axis, a.shift)
		for j := range f.Latent {
			row[1+j] = a.unit * floats.Dot(axis, f.Axis(j))
		}
		for j := range f.S {
			v := a.unit * a.unit * floats.Dot(axis, f.Axis(f.Latent+j))
			for t := range forms(f) {
				row[1+f.Latent+t] += v * f.Theta[t*f.S+j]
			}
		}
	}
}

// Minimize writes the sheet that minimises the average into next, starting from x.
func (a *Average) Minimize(next, x framework.Point, penalty objective.Regularizer) error {
	f, at := a.f, x
	sweeps := virtualSweeps
	if len(a.response.Sums) == 0 {
		sweeps = 1
	}
	for range sweeps {
		f.Load(at[objective.BlockC], at[objective.BlockQ], at[objective.BlockTheta])
		a.predict()
		if err := a.outer.Solve(next, a.work, penalty); err != nil {
			return err
		}
		if a.moved(next[objective.BlockQ]) <= virtualMove {
			break
		}
		at = next
	}
	return nil
}

// predict computes the moments of the next sweep at the sheet.
func (a *Average) predict() {
	f := a.f
	copy(a.sums, a.moments)
	a.place()
	floats.ScaleTo(a.react, -1, a.pull)
	a.response.Apply(a.react, a.b)
	columns := a.sums[1+a.k:] // behind cost, weight and y
	for i := range f.M {
		for t := range a.k {
			floats.AddScaled(columns[t*f.D:(t+1)*f.D], responsePart*a.react[i*a.k+t], a.frame[i*f.D:(i+1)*f.D])
		}
	}
	floats.SubTo(a.shift, a.origin, f.C)
	shiftMoments(f, a.sums, a.shift)
	a.work.Load(a.sums)
}

// moved is the largest change of an entry of Q from the sheet.
func (a *Average) moved(q []float64) float64 {
	var most float64
	for j := range a.f.M {
		for i, v := range a.f.Axis(j) {
			most = max(most, v-q[i*a.f.M+j], q[i*a.f.M+j]-v)
		}
	}
	return most
}

// shiftMoments converts stored sums about a centre c to sums about c - by: only sums about the same centre can
// be added.
func shiftMoments(f *sheet.Sheet, sums, by []float64) {
	m := f.Latent + forms(f)
	weight, y, columns := sums[1], sums[2:2+m], sums[2+m:]
	floats.AddScaled(columns[:f.D], weight, by)
	for j, v := range y {
		floats.AddScaled(columns[(1+j)*f.D:(2+j)*f.D], v, by)
	}
}

// AverageState is the stored state of an [Average].
type AverageState struct{ Origin, Frame, Moments, Reaction, Pull []float64 }

// State returns a copy of the state.
func (a *Average) State() AverageState {
	return AverageState{
		slices.Clone(a.origin), slices.Clone(a.frame), slices.Clone(a.moments), slices.Clone(a.response.Sums), slices.Clone(a.pull),
	}
}

// Restore sets the state, and reports false where its lengths do not match the shape, or its numbers are not
// finite.
func (a *Average) Restore(s AverageState) bool {
	from := [][]float64{s.Origin, s.Frame, s.Moments, s.Reaction, s.Pull}
	to := [][]float64{a.origin, a.frame, a.moments, a.response.Sums, a.pull}
	for k := range to {
		if len(from[k]) != len(to[k]) || !(framework.Point{from[k]}).Finite() {
			return false
		}
	}
	for k := range to {
		copy(to[k], from[k])
	}
	return true
}

// Weight is the average total weight of the majorizers.
func (a *Average) Weight() float64 { return a.moments[1] }

// Cost is the average of the cost at the sheets of the draws.
func (a *Average) Cost() float64 { return a.moments[0] }

// Turned returns 2d rows of tau whose weighted second moments about 0 are the averaged ones, or nil for flat
// sheets, which have no such moments.
func (a *Average) Turned() []float64 {
	d := a.f.Latent
	if forms(a.f) == 0 || !(a.Weight() > 0) {
		return nil
	}
	squares := mat.NewSymDense(d, nil)
	phi := a.moments[2+d : 2+a.k-1]
	at := 0
	for i := range d {
		for j := i; j < d; j++ {
			squares.SetSym(i, j, phi[at]*a.unit*a.unit/a.Weight())
			at++
		}
	}
	return sheet.Scatter(make([]float64, d), squares)
}
