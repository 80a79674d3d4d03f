package blocks

import (
	"cmp"
	"maps"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Rows is the number of rows of a block. Block b holds the rows [b Rows, (b+1) Rows); the last one may have fewer. Rows
// is part of the definition of every sum: another number would change the rounding.
const Rows = 1024

// Count returns the number of blocks of n rows.
func Count(n int) int { return (n + Rows - 1) / Rows }

// A node holds the sums of blocks [Index << Level, (Index+1) << Level): a node of the binary tree over all
// block numbers. Siblings merge into their parent, left before right, in whichever process.
type node struct {
	Level, Index int
	Sums         Numbers
	// Sample holds numbers that are concatenated in the order of the rows, not added.
	Sample Numbers
}

// first returns the number of the first block of a node. last returns the number after its last block.
func (n *node) first() int { return n.Index << n.Level }
func (n *node) last() int  { return (n.Index + 1) << n.Level }

// merge merges the sums b into the sums a.
type merge func(a, b []float64)

// forest is a set of nodes none of which are siblings, for a range of blocks that grows.
type forest struct {
	merge merge
	nodes map[[2]int]*node
}

func newForest(merge merge) *forest { return &forest{merge: merge, nodes: map[[2]int]*node{}} }

// add adds a node, which it overwrites, and merges all siblings. The result does not depend on the order of calls.
func (f *forest) add(n *node) {
	for {
		at := [2]int{n.Level, n.Index ^ 1}
		sibling, ok := f.nodes[at]
		if !ok {
			f.nodes[[2]int{n.Level, n.Index}] = n
			return
		}
		delete(f.nodes, at)
		left, right := sibling, n
		if n.Index&1 == 0 {
			left, right = n, sibling
		}
		f.merge(left.Sums, right.Sums)
		n = &node{Level: left.Level + 1, Index: left.Index >> 1, Sums: left.Sums, Sample: append(left.Sample, right.Sample...)}
	}
}

// list returns the nodes in the order of their blocks.
func (f *forest) list() []*node {
	return slices.SortedFunc(maps.Values(f.nodes), func(a, b *node) int { return cmp.Compare(a.first(), b.first()) })
}

// root merges the nodes of all blocks into one. Nodes at the right edge have no siblings: beginning at the right, each
// becomes the right child of the node before it. It overwrites the nodes.
func root(list []*node, merge merge) *node {
	right := list[len(list)-1]
	for _, n := range slices.Backward(list[:len(list)-1]) {
		merge(n.Sums, right.Sums)
		n.Sample = append(n.Sample, right.Sample...)
		right = n
	}
	return right
}

// add merges sums by adding them.
func add(a, b []float64) { floats.Add(a, b) }
