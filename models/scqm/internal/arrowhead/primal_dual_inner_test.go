package arrowhead

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework/rowloss"
)

// On a line between two residuals the norm is least where a fine grid finds it, and an
// entry vanishes there, or the line is at its end.
func TestLeastBetween(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for D := 1; D <= 5; D++ {
		for range 50 {
			vec := func() []float64 { return make([]float64, D) }
			pd := &primalDual{here: vec(), there: vec(), row: vec(), zeros: vec()}
			for k := range D {
				pd.here[k], pd.there[k] = rng.NormFloat64(), rng.NormFloat64()
			}
			if D > 2 {
				pd.there[1] = pd.here[1]
				pd.here[0] = 0
			}
			r := vec()
			norm := func(f, power float64) float64 {
				for k := range r {
					r[k] = pd.here[k] + f*(pd.there[k]-pd.here[k])
				}
				return floats.Norm(r, power)
			}
			for structure, power := range map[rowloss.Structure]float64{rowloss.StructureSeparable: 1, rowloss.StructureRadial: 2} {
				f := pd.leastBetween(structure)
				assert.True(t, f >= 0 && f <= 1)
				least := math.Inf(1)
				for i := range 1001 {
					least = min(least, norm(float64(i)/1000, power))
				}
				assert.LessOrEqual(t, norm(f, power), least+1e-12)
			}
		}
	}
}
