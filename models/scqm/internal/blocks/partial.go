package blocks

import (
	"crypto/sha256"
	"fmt"

	"github.com/scqm/scqm/models/rows"
)

// Partial holds the sums over the blocks [First, First+Blocks) for a request, as nodes of the binary tree over block
// numbers, merged as far as possible. Partials of adjacent blocks can be merged in any order and grouping, with
// bit-identical results.
type Partial struct {
	// First is the number of the first block, Blocks the number of blocks.
	First, Blocks int

	hash  [sha256.Size]byte // of the request
	nodes []*node           // by their blocks
}

// Merge adds q to p. q must hold the sums of adjacent blocks for the same request. Merge overwrites q.
func (r *Request) Merge(p, q *Partial) error {
	for _, part := range []*Partial{p, q} {
		if err := r.answeredBy(part); err != nil {
			return err
		}
	}
	if q.First+q.Blocks == p.First {
		p.First = q.First
	} else if p.First+p.Blocks != q.First {
		return fmt.Errorf("scqm: the sums of blocks %d to %d and %d to %d do not adjoin: %w",
			p.First, p.First+p.Blocks-1, q.First, q.First+q.Blocks-1, rows.ErrInput)
	}
	p.Blocks += q.Blocks
	f := newForest(r.merge())
	for _, n := range p.nodes {
		f.add(n)
	}
	for _, n := range q.nodes {
		f.add(n)
	}
	p.nodes = f.list()
	return nil
}

// answeredBy returns an error if p answers another request.
func (r *Request) answeredBy(p *Partial) error {
	if p.hash != r.Hash() {
		return fmt.Errorf("scqm: the sums are an answer to another request, model or version: %w", rows.ErrInput)
	}
	want := r.length()
	for _, n := range p.nodes {
		if len(n.Sums) != want {
			return fmt.Errorf("scqm: sums of %d numbers, want %d: %w", len(n.Sums), want, rows.ErrInput)
		}
	}
	return nil
}

// Total returns the sums over all rows, and the sample. It overwrites the partial.
func (r *Request) Total(p *Partial) (sums, sample []float64, err error) {
	if err := r.answeredBy(p); err != nil {
		return nil, nil, err
	}
	if p.First != 0 || p.Blocks != Count(r.N) {
		return nil, nil, fmt.Errorf("scqm: the sums are of blocks %d to %d of %d: %w", p.First, p.First+p.Blocks-1, Count(r.N), rows.ErrInput)
	}
	n := root(p.nodes, r.merge())
	return n.Sums, n.Sample, nil
}

// sentPartial is the encoded header of a partial, which precedes its nodes.
type sentPartial struct {
	Format               int
	Hash                 [sha256.Size]byte
	First, Blocks, Nodes int
}

// MarshalBinary encodes the partial, with the hash of its request and a checksum.
func (p *Partial) MarshalBinary() ([]byte, error) {
	values := []any{&sentPartial{Format, p.hash, p.First, p.Blocks, len(p.nodes)}}
	for _, n := range p.nodes {
		values = append(values, n)
	}
	return Encode(values...)
}

// maxLevel bounds the levels of the tree, as block numbers must fit an int.
const maxLevel = 52

// UnmarshalBinary decodes a partial, possibly from another machine. It rejects damaged bytes, another version, and
// nodes that do not match the range of blocks.
func (p *Partial) UnmarshalBinary(b []byte) error {
	var s sentPartial
	from, err := Decode(b, "partial sum", &s, &s.Format)
	if err != nil {
		return err
	}
	q := Partial{First: s.First, Blocks: s.Blocks, hash: s.Hash}
	at := s.First
	for k := range s.Nodes {
		n := &node{}
		if err := from.Decode(n); err != nil {
			return fmt.Errorf("scqm: partial sums end before their nodes do: %w", rows.ErrInput)
		}
		if n.Level < 0 || n.Level > maxLevel || n.Index < 0 || n.Index >= 1<<(maxLevel-n.Level) || n.first() != at || k > 0 && siblings(q.nodes[k-1], n) {
			return fmt.Errorf("scqm: partial sums have node %d of level %d, want one that begins at block %d: %w", n.Index, n.Level, at, rows.ErrInput)
		}
		at = n.last()
		q.nodes = append(q.nodes, n)
	}
	if q.First < 0 || q.Blocks < 1 || at-q.First != q.Blocks {
		return fmt.Errorf("scqm: partial sums of %d blocks from %d on end at %d: %w", q.Blocks, q.First, at, rows.ErrInput)
	}
	*p = q
	return nil
}

// siblings reports whether two nodes have the same parent.
func siblings(a, b *node) bool { return a.Level == b.Level && a.Index^1 == b.Index }
