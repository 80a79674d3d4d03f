package nearest

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// The sum of the absolute entries of a residual is least at a vertex, where as many
// entries vanish as tau has. Were the sheet flat, it would be convex in tau, and a
// vertex lower than its neighbours, which share all zeros but one with it, the lowest.
// Of a curved sheet the way to a lower neighbour can lead up, where descents end. So
// the neighbours are looked at, and theirs.

const (
	// maxPivots bounds the exchanges of zeros of a row, and vertexSteps the steps of
	// Newton's method to a vertex.
	maxPivots, vertexSteps = 20, 8
	// vertexPrecision is the size of zeros at a vertex, relative to the largest entry of
	// the residual and the steps to it.
	vertexPrecision = 1e-12
	// lowerVertex is the relative decrease of the loss that an exchange must bring.
	lowerVertex = 1e-10
	// atVertex is the largest entry that vanishes at a vertex, relative to the largest
	// one.
	atVertex = 1e-6
	// pivotWork bounds the products that the neighbours of a vertex take.
	pivotWork = 1 << 16
)

// vertices looks for lower vertices of the sum of absolute residuals of one row.
type vertices struct {
	f        *sheet.Sheet
	z, phi   []float64 // m, q
	e, j     []float64 // m x d, d x d
	r, from  []float64 // D: residuals of a neighbour and of the vertex
	by       []int     // D: entries of the residual, the smallest first
	zeros    []int     // d: entries that vanish at a neighbour
	tau, low []float64 // d
	step     []float64 // d
}

// HasVertices reports whether rows of a sheet have vertices: the sheet is curved and the loss a sum of absolute entries.
func HasVertices(f *sheet.Sheet, loss framework.Loss) bool {
	return sumOfAbsolutes(loss) && f.S > 0 && f.D > f.Latent
}

// newVertices prepares for a sheet, or returns nothing where the loss is no sum of
// absolute entries, the sheet is flat, or a vertex has too many neighbours.
func newVertices(f *sheet.Sheet, loss framework.Loss) *vertices {
	d := f.Latent
	if !HasVertices(f, loss) || d*(f.D-d)*f.D*f.M > pivotWork {
		return nil
	}
	vec := func(n int) []float64 { return make([]float64, n) }
	return &vertices{
		f: f, z: vec(f.M), phi: vec(f.Q), e: vec(f.M * d), j: vec(d * d), r: vec(f.D), from: vec(f.D),
		by: make([]int, f.D), zeros: make([]int, 0, d), tau: vec(d), low: vec(d), step: vec(d),
	}
}

// descend goes from the vertex next to tau to the lowest of its neighbours for as long
// as that is lower than value, the loss at tau, and returns the loss where it ends. A
// round takes d(D-d) times Newton's method, of some 2Dm + d^3 operations a step.
func (v *vertices) descend(tau, x []float64, value float64) float64 {
	if v == nil {
		return value
	}
	for range maxPivots {
		lowest := v.neighbour(tau, x, value)
		if !(lowest < value-lowerVertex*math.Abs(value)) {
			break
		}
		copy(tau, v.low)
		value = lowest
	}
	return value
}

// neighbour writes the lowest neighbour of the vertex next to tau into low, where that
// is lower than value, and returns its loss.
func (v *vertices) neighbour(tau, x []float64, value float64) float64 {
	v.each(tau, x, func() {
		if loss := floats.Norm(v.r, 1); loss < value {
			value = loss
			copy(v.low, v.tau)
		}
	})
	return value
}

// each calls try for every neighbour of the vertex next to tau, with its tau and
// residual.
func (v *vertices) each(tau, x []float64, try func()) {
	d := v.f.Latent
	v.residual(tau, x)
	for k := range v.by {
		v.by[k] = k
	}
	copy(v.from, v.r)
	slices.SortStableFunc(v.by, func(a, b int) int { return cmp.Compare(math.Abs(v.from[a]), math.Abs(v.from[b])) })
	zeros := max(v.vanishing(), d)
	for out := range zeros {
		for _, in := range v.by[zeros:] {
			v.zeros = append(v.zeros[:0], in)
			for k := 0; len(v.zeros) < d; k++ {
				if k != out {
					v.zeros = append(v.zeros, v.by[k])
				}
			}
			copy(v.tau, tau)
			if v.solve(x) {
				try()
			}
		}
	}
}

// vanishing returns the number of entries of the residual at the vertex that are 0 but
// for rounding.
func (v *vertices) vanishing() int {
	count, size := 0, floats.Norm(v.from, math.Inf(1))
	for _, k := range v.by {
		if math.Abs(v.from[k]) <= atVertex*size {
			count++
		}
	}
	return count
}

// residual computes that at tau.
func (v *vertices) residual(tau, x []float64) {
	v.f.Coordinates(v.z, v.phi, tau)
	v.f.Residual(v.r, v.z, x)
}

// solve moves tau to where the residual has the zeros, and reports whether it arrived.
func (v *vertices) solve(x []float64) bool {
	d := v.f.Latent
	for range vertexSteps {
		v.residual(v.tau, x)
		v.f.Jacobian(v.e, v.tau)
		clear(v.j)
		var size float64
		for row, k := range v.zeros {
			v.step[row] = -v.r[k]
			size = math.Max(size, math.Abs(v.r[k]))
			for a := range v.f.M {
				floats.AddScaled(v.j[row*d:(row+1)*d], v.f.QT[a*v.f.D+k], v.e[a*d:(a+1)*d])
			}
		}
		if size <= vertexPrecision*floats.Norm(v.r, math.Inf(1)) {
			return true
		}
		if !dense.Solve(v.j, v.step, d) {
			return false
		}
		floats.Add(v.tau, v.step)
		if !(floats.Norm(v.step, math.Inf(1)) < math.MaxFloat64) {
			return false
		}
	}
	return false
}
