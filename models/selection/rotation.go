package selection

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/scqm/scqm/models/scqm"
)

// rotation is a random rotation of R^D that takes D log D operations. In each stage the columns are paired at random,
// and every pair is rotated by a random angle. After all stages, every column contains a part of every other.
type rotation struct {
	pairs    [][]int // for every stage: a permutation, whose neighbours are paired
	sin, cos [][]float64
}

// spareStages is the number of stages beyond those needed for all columns to mix.
const spareStages = 4

func newRotation(D int, rng *rand.Rand) *rotation {
	m := &rotation{}
	for range 2*bits.Len(uint(D)) + spareStages {
		sin, cos := make([]float64, D/2), make([]float64, D/2)
		for k := range sin {
			sin[k], cos[k] = math.Sincos(2 * math.Pi * rng.Float64())
		}
		m.pairs = append(m.pairs, rng.Perm(D))
		m.sin, m.cos = append(m.sin, sin), append(m.cos, cos)
	}
	return m
}

// apply rotates x in place.
func (m *rotation) apply(x []float64) {
	for stage, order := range m.pairs {
		sin, cos := m.sin[stage], m.cos[stage]
		for k := range sin {
			i, j := order[2*k], order[2*k+1]
			x[i], x[j] = cos[k]*x[i]-sin[k]*x[j], sin[k]*x[i]+cos[k]*x[j]
		}
	}
}

// rows returns a rotated copy of the rows.
func (m *rotation) rows(x scqm.Data) scqm.Data {
	x.X = slices.Clone(x.X)
	for i := range x.N {
		m.apply(x.Row(i))
	}
	return x
}

// model returns the model that rotated rows would have.
func (m *rotation) model(of *scqm.Model) *scqm.Model {
	by := *of
	by.C, by.U, by.V = slices.Clone(of.C), m.columns(of.U, of.D), m.columns(of.V, of.D)
	m.apply(by.C)
	return &by
}

// columns returns the rotated columns of a matrix with D rows.
func (m *rotation) columns(a []float64, D int) []float64 {
	a = slices.Clone(a)
	k := len(a) / D
	column := make([]float64, D)
	for j := range k {
		for i := range column {
			column[i] = a[i*k+j]
		}
		m.apply(column)
		for i, v := range column {
			a[i*k+j] = v
		}
	}
	return a
}
