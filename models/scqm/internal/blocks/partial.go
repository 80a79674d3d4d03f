package blocks

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/scqm/scqm/models/rows"
)

// Partial is the sum over blocks [First, First+Blocks) for a request: nodes of the binary tree over block
// numbers, merged as far as possible. Partials of adjacent blocks merge, in any order and grouping, to the same
// bits.
type Partial struct {
	// First and Blocks are the range of blocks.
	First, Blocks int

	hash   [sha256.Size]byte // of the request
	length int               // of the sums of a node
	nodes  []*node           // by their blocks
}

// Merge adds the sums of blocks adjacent to those of p, of the same request; it overwrites q.
func (r *Request) Merge(p, q *Partial) error {
	hash, err := r.Hash()
	if err != nil {
		return err
	}
	if p.hash != hash || q.hash != hash {
		return fmt.Errorf("scqm: sums of another request, model or version cannot be merged: %w", rows.ErrInput)
	}
	if q.First+q.Blocks == p.First {
		p.First = q.First
	} else if p.First+p.Blocks != q.First {
		return fmt.Errorf("scqm: the sums of blocks %d to %d and %d to %d do not adjoin: %w",
			p.First, p.First+p.Blocks-1, q.First, q.First+q.Blocks-1, rows.ErrInput)
	}
	if want := r.length(); p.length != want || q.length != want {
		return fmt.Errorf("scqm: sums of %d and %d numbers, want %d: %w", p.length, q.length, want, rows.ErrInput)
	}
	p.Blocks += q.Blocks
	f := newForest(r.merge())
	for _, n := range p.nodes {
		f.add(n, nil)
	}
	for _, n := range q.nodes {
		f.add(n, nil)
	}
	p.nodes = f.list()
	return r.close(p)
}

// close merges the incomplete right edge of the tree once p has all summed blocks: its length then does not
// depend on their number.
func (r *Request) close(p *Partial) error {
	if p.First != 0 || p.Blocks != Count(r.N) || len(p.nodes) < 2 {
		return nil
	}
	n, err := root(p.nodes, p.Blocks, r.merge())
	if err != nil {
		return err
	}
	p.nodes = []*node{{level: levelOver(p.Blocks), sums: n.sums, sample: n.sample}}
	return nil
}

// levelOver is the level of the smallest node over the first blocks.
func levelOver(blocks int) int { return bits.Len(uint(blocks - 1)) }

// Total returns the sums over all rows, and the sample. It overwrites the partial.
func (r *Request) Total(p *Partial) (sums, sample []float64, err error) {
	hash, err := r.Hash()
	if err != nil {
		return nil, nil, err
	}
	if p.hash != hash || p.length != r.length() {
		return nil, nil, fmt.Errorf("scqm: the sums are an answer to another request: %w", rows.ErrInput)
	}
	if p.First != 0 || p.Blocks != Count(r.N) {
		return nil, nil, fmt.Errorf("scqm: the sums are of blocks %d to %d of %d: %w", p.First, p.First+p.Blocks-1, Count(r.N), rows.ErrInput)
	}
	n, err := root(p.nodes, p.Blocks, r.merge())
	if err != nil {
		return nil, nil, err
	}
	return n.sums, n.sample, nil
}

var partialMagic = [8]byte{'s', 'c', 'q', 'm', 's', 'u', 'm', format}

// partialHeader is the fixed-length part of a partial, nodeHeader that of a node.
type partialHeader struct {
	Magic         [8]byte
	Hash          [sha256.Size]byte
	First, Blocks uint64
	Length, Nodes uint64
}

type nodeHeader struct{ Level, Index, Sample uint64 }

// MarshalBinary encodes the partial, with the hash of its request and a checksum.
func (p *Partial) MarshalBinary() ([]byte, error) {
	b, err := binary.Append(nil, binary.LittleEndian, &partialHeader{
		partialMagic, p.hash, uint64(p.First), uint64(p.Blocks), uint64(p.length), uint64(len(p.nodes)),
	})
	if err != nil {
		return nil, err
	}
	for _, n := range p.nodes {
		if b, err = binary.Append(b, binary.LittleEndian, &nodeHeader{uint64(n.level), uint64(n.index), uint64(len(n.sample))}); err != nil {
			return nil, err
		}
		b = appendFloats(appendFloats(b, n.sums), n.sample)
	}
	return Seal(b), nil
}

// maxLevel bounds the levels of the tree: blocks are numbered by int.
const maxLevel = 52

// UnmarshalBinary decodes a partial, possibly from another machine. It rejects bytes that are damaged, of
// another version, or whose nodes do not match their range of blocks.
func (p *Partial) UnmarshalBinary(b []byte) error {
	body, err := Unseal(b, "partial sum")
	if err != nil {
		return err
	}
	var h partialHeader
	n, err := binary.Decode(body, binary.LittleEndian, &h)
	if err != nil || h.Magic != partialMagic {
		return fmt.Errorf("scqm: these bytes are no partial sums of format %d; use one version of scqm everywhere: %w", format, rows.ErrInput)
	}
	body = body[n:]
	if h.First >= 1<<maxLevel || h.Blocks < 1 || h.Blocks >= 1<<maxLevel || h.Nodes > 2*maxLevel || h.Length > math.MaxInt32 || h.Nodes > 0 && h.Length > uint64(len(body))/8 {
		return fmt.Errorf("scqm: partial sums of %d blocks from %d on, %d nodes of %d numbers: %w", h.Blocks, h.First, h.Nodes, h.Length, rows.ErrInput)
	}
	q := Partial{First: int(h.First), Blocks: int(h.Blocks), hash: h.Hash, length: int(h.Length)}
	at, to := q.First, q.First+q.Blocks
	for range h.Nodes {
		var nh nodeHeader
		n, err := binary.Decode(body, binary.LittleEndian, &nh)
		if err != nil {
			return fmt.Errorf("scqm: partial sums end before their nodes do: %w", rows.ErrInput)
		}
		body = body[n:]
		if nh.Level > maxLevel || nh.Index >= 1<<(maxLevel-nh.Level) || nh.Sample > uint64(len(body))/8 || h.Length+nh.Sample > uint64(len(body))/8 {
			return fmt.Errorf("scqm: partial sums have node %d of level %d with %d numbers: %w", nh.Index, nh.Level, nh.Sample, rows.ErrInput)
		}
		next := &node{level: int(nh.Level), index: int(nh.Index)}
		next.sums, body = floatsOf(body[:8*h.Length]), body[8*h.Length:]
		next.sample, body = floatsOf(body[:8*nh.Sample]), body[8*nh.Sample:]
		if next.first() != at || len(q.nodes) > 0 && siblings(q.nodes[len(q.nodes)-1], next) {
			return fmt.Errorf("scqm: partial sums have a node at block %d, want one at %d: %w", next.first(), at, rows.ErrInput)
		}
		at = next.last()
		q.nodes = append(q.nodes, next)
	}
	if closed := len(q.nodes) == 1 && q.First == 0 && q.nodes[0].level == levelOver(to); closed {
		at = to
	}
	if at != to || len(body) > 0 {
		return fmt.Errorf("scqm: partial sums of blocks %d to %d end at %d with %d bytes left: %w", q.First, to-1, at-1, len(body), rows.ErrInput)
	}
	*p = q
	return nil
}

// siblings reports whether two nodes have the same parent.
func siblings(a, b *node) bool { return a.level == b.level && a.index^1 == b.index }
