package sheet

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// Rotation is a random rotation of R^D of D log D operations: stages in which
// columns are paired at random and every pair is turned by a random angle.
// After it every column holds a part of every other, so that none of them is
// special.
type Rotation struct {
	pairs    [][]int // of every stage: a permutation, whose neighbours are paired
	sin, cos [][]float64
}

// spareStages are those beyond the ones in which all columns meet.
const spareStages = 4

func NewRotation(D int, rng *rand.Rand) *Rotation {
	m := &Rotation{}
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

// Apply turns x in place.
func (m *Rotation) Apply(x []float64) {
	for stage, order := range m.pairs {
		sin, cos := m.sin[stage], m.cos[stage]
		for k := range sin {
			i, j := order[2*k], order[2*k+1]
			x[i], x[j] = cos[k]*x[i]-sin[k]*x[j], sin[k]*x[i]+cos[k]*x[j]
		}
	}
}
