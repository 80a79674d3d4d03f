package planes

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/manifolds"
)

// Rotation returns m random orthonormal combinations of orthonormal axes, given as rows of length D; they are a
// function of seed and k.
func Rotation(axes []float64, D, m int, seed uint64, k int) []float64 {
	r := len(axes) / D
	factors := make([]float64, r*m)
	manifolds.NewStiefel(r, m).Rand(factors, rand.New(rand.NewPCG(seed, uint64(k))))
	rotated := make([]float64, m*D)
	for i := range r {
		for j := range m {
			floats.AddScaled(rotated[j*D:(j+1)*D], factors[i*m+j], axes[i*D:(i+1)*D])
		}
	}
	return rotated
}
