package scqm

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

const (
	// atMinimum is the relative decrease that Newton's method may still promise at a
	// point from which rows are moved together.
	atMinimum = 1e-10
	// maxTogether bounds the rows of a set: promises of many rows are far beyond the
	// second order.
	maxTogether = 4
	// maxSets is the number of sets that are tried.
	maxSets = 2
)

// triedSets are the sets that were tried in vain, each at the minimum of a cost: a run is
// examined several times at one minimum.
type triedSets []triedSet

type triedSet struct {
	Rows []int // of the data
	Cost float64
}

// before reports whether a set was tried at a minimum of the cost given.
func (t triedSets) before(list []movable, s set, cost float64) bool {
	rows := s.of(list)
	return slices.ContainsFunc(t, func(o triedSet) bool {
		return slices.Equal(o.Rows, rows) && math.Abs(o.Cost-cost) <= 2*atMinimum*cost
	})
}

// keep adds a set.
func (t *triedSets) keep(list []movable, s set, cost float64) {
	*t = append(*t, triedSet{s.of(list), cost})
}

// movable is a row with another place.
type movable struct {
	row   int
	tau   []float64
	loss  float64   // where it is
	gain  float64   // by moving it alone, below 0 where the cost rises
	white []float64 // S^-1/2 g_i
}

// set is some rows that move together, and the decrease of the cost that they promise.
type set struct {
	rows []int // places in a list of movable rows
	gain float64
}

// of returns the rows of the data that a set of places in a list has, in order.
func (s set) of(list []movable) []int {
	rows := make([]int, len(s.rows))
	for i, k := range s.rows {
		rows[i] = list[k].row
	}
	slices.Sort(rows)
	return rows
}

// promising returns the sets of at most maxTogether rows that promise most.
func promising(list []movable, least float64) []set {
	var sets []set
	for first := range list {
		s := grow(list, first)
		slices.Sort(s.rows)
		known := func(o set) bool { return slices.Equal(o.rows, s.rows) }
		if s.gain > least && !slices.ContainsFunc(sets, known) {
			sets = append(sets, s)
		}
	}
	slices.SortStableFunc(sets, func(a, b set) int { return cmp.Compare(b.gain, a.gain) })
	return sets[:min(len(sets), maxSets)]
}

// grow adds rows to a first one as long as each raises the gain.
func grow(list []movable, first int) set {
	s := set{[]int{first}, list[first].gain}
	loss := list[first].loss
	sum := slices.Clone(list[first].white)
	for len(s.rows) < maxTogether {
		next, most := -1, 0.0
		for k, m := range list {
			more := floats.Dot(m.white, sum) + m.gain
			if more > most && s.gain+more <= loss+m.loss && !slices.Contains(s.rows, k) {
				next, most = k, more
			}
		}
		if next < 0 {
			break
		}
		s.rows, s.gain = append(s.rows, next), s.gain+most
		loss += list[next].loss
		floats.Add(sum, list[next].white)
	}
	return s
}
