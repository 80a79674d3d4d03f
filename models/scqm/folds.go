package scqm

import (
	"math/rand/v2"
	"slices"
)

// split are rows that are held out and those to learn from, by their numbers.
type split struct{ held, learned []int }

// shuffled returns the numbers of the rows in random order, which does not depend
// on the one they came in.
func shuffled(x Data, seed uint64) []int {
	order := make([]int, x.N)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return slices.Compare(x.Row(i), x.Row(j)) })
	rand.New(rand.NewPCG(seed, 0x726f7773)).Shuffle(x.N, func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

// splits deals the rows listed out to so many folds, each of which is held out once.
// Where the entries of a column that are not missing are all in one fold, the first of
// their rows is never held out: a fit learns nothing about a column without entries.
func splits(x Data, order []int, count int) []split {
	kept := make([]bool, x.N)
	if x.Missing {
		for j := range x.D {
			if i, together := onlyFold(x, j, order, count); together {
				kept[i] = true
			}
		}
	}
	list := make([]split, count)
	for at, i := range order {
		for k := range list {
			if s := &list[k]; at%count == k && !kept[i] {
				s.held = append(s.held, i)
			} else {
				s.learned = append(s.learned, i)
			}
		}
	}
	return list
}

// onlyFold reports whether the entries of column j are all in rows of one fold, with
// the first of these.
func onlyFold(x Data, j int, order []int, count int) (row int, together bool) {
	first := -1
	for at, i := range order {
		switch v := x.Row(i)[j]; {
		case v != v:
		case first < 0:
			first = at
		case at%count != first%count:
			return order[first], false
		}
	}
	if first < 0 {
		return 0, false
	}
	return order[first], true
}
