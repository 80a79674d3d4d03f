package blocks

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/scqm/scqm/models/rows"
)

// count returns the number of blocks that are summed.
func (r *Request) count() int {
	if r.Chosen != nil {
		return len(r.Chosen)
	}
	return Count(r.N)
}

// choosesBlocks reports whether Chosen is nil or an ascending list of blocks of the table.
func (r *Request) choosesBlocks() bool {
	if r.Chosen == nil {
		return true
	}
	for i, b := range r.Chosen {
		if b < 0 || i > 0 && b <= r.Chosen[i-1] {
			return false
		}
	}
	return len(r.Chosen) > 0 && r.Chosen[len(r.Chosen)-1] < Count(r.N)
}

// Within returns which of the summed blocks lie in [first, first+count): numbers [from, to) in their order.
// That is the range itself where all blocks are summed, and may be empty.
func (r *Request) Within(first, count int) (from, to int) {
	if r.Chosen == nil {
		return first, first + count
	}
	from, _ = slices.BinarySearch(r.Chosen, first)
	to, _ = slices.BinarySearch(r.Chosen, first+count)
	return from, to
}

// block returns the index in the table of the number-th block to sum.
func (r *Request) block(number int) int {
	if r.Chosen == nil {
		return number
	}
	return r.Chosen[number]
}

// readChosen decodes the list of blocks at the front of body, and returns the rest.
func (r *Request) readChosen(body []byte, length uint64) ([]byte, error) {
	if length > uint64(len(body))/8 {
		return nil, fmt.Errorf("scqm: a request ends before its list of blocks does: %w", rows.ErrInput)
	}
	for range length {
		b := binary.LittleEndian.Uint64(body)
		if b >= 1<<maxLevel {
			return nil, fmt.Errorf("scqm: a request for block %d: %w", b, rows.ErrInput)
		}
		r.Chosen = append(r.Chosen, int(b))
		body = body[8:]
	}
	return body, nil
}
