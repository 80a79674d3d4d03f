package blocks

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/scqm/scqm/models/rows"
)

// Rows is the number of rows of a block: block b holds rows [b Rows, (b+1) Rows), the last one fewer. It is
// part of the definition of every sum: another number changes the bits.
const Rows = 1024

// Count returns the number of blocks of n rows.
func Count(n int) int { return (n + Rows - 1) / Rows }

// A node holds the sums of blocks [Index << Level, (Index+1) << Level): a node of the binary tree over all
// block numbers. Siblings merge into their parent, left before right, in whichever process.
type node struct {
	level, index int
	sums         []float64
	// sample are numbers that are listed in the order of the rows, not added.
	sample []float64
}

// first is the first block of a node, last the one behind its last.
func (n *node) first() int { return n.index << n.level }
func (n *node) last() int  { return (n.index + 1) << n.level }

// merge merges the sums of two parts, in place of a.
type merge func(a, b []float64)

// forest is a set of nodes none of which are siblings, for a range of blocks that grows.
type forest struct {
	merge merge
	nodes map[[2]int]*node
}

func newForest(merge merge) *forest { return &forest{merge: merge, nodes: map[[2]int]*node{}} }

// add adds a node, and merges siblings while there are any; the order of calls does not matter. The forest owns
// the sums from then on, and passes unused memory to free, which may be nil.
func (f *forest) add(n *node, free func([]float64)) {
	for {
		sibling, ok := f.nodes[[2]int{n.level, n.index ^ 1}]
		if !ok {
			f.nodes[[2]int{n.level, n.index}] = n
			return
		}
		delete(f.nodes, [2]int{n.level, n.index ^ 1})
		left, right := sibling, n
		if n.index&1 == 0 {
			left, right = n, sibling
		}
		f.merge(left.sums, right.sums)
		if free != nil {
			free(right.sums)
		}
		n = &node{level: left.level + 1, index: left.index >> 1, sums: left.sums, sample: append(left.sample, right.sample...)}
	}
}

// list returns the nodes in the order of their blocks.
func (f *forest) list() []*node {
	list := make([]*node, 0, len(f.nodes))
	for _, n := range f.nodes {
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b *node) int { return cmp.Compare(a.first(), b.first()) })
	return list
}

// root merges the nodes of all blocks, of which those at the right edge have no siblings: from the right, each
// becomes the right child of the one before. It overwrites the nodes.
func root(list []*node, count int, merge merge) (*node, error) {
	at := 0
	for _, n := range list {
		if n.first() != at {
			break
		}
		at = min(n.last(), count)
	}
	if at != count {
		return nil, fmt.Errorf("scqm: the sums of blocks %d to %d are missing: %w", at, count-1, rows.ErrInput)
	}
	right := list[len(list)-1]
	for _, n := range slices.Backward(list[:len(list)-1]) {
		merge(n.sums, right.sums)
		n.sample = append(n.sample, right.sample...)
		right = n
	}
	return right, nil
}

// add is the merge of sums.
func add(a, b []float64) {
	for i, v := range b {
		a[i] += v
	}
}
