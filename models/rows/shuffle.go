package rows

import (
	"math/rand/v2"
	"slices"
)

// Shuffled returns the row indices in a random order of the rows, which does not depend on
// their order in x.
func Shuffled(x Data, seed uint64) []int {
	order := make([]int, x.N)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return slices.Compare(x.Row(i), x.Row(j)) })
	rand.New(rand.NewPCG(seed, 0x726f7773)).Shuffle(x.N, func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}
