package bindings

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	datarows "github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm"
)

// sumSettings are the settings of [StartSum].
type sumSettings struct {
	Loss    lossChoice `json:"loss"`
	Threads int        `json:"threads"`
}

// StartSum begins to answer a request of [FetchRequest], length bytes, for rows of so
// many columns that are in count arrays, with the precision matrix of the loss at
// precision (0: none). The arrays are in the order of the table. At chunks each has five
// numbers: its address, its rows, the address of their weights (0: all 1), 1 where it
// is of float32, else 0, and the number of its first row in the whole table, a multiple of
// scqm.BlockRows. [ResultBytes] has an answer for each run of arrays without a gap between them, behind its
// length in 8 bytes, the lowest first. Rows may be read many times, in
// any order. It returns 1.
func StartSum(number int64, settings string, request uint64, length int64, chunks uint64, count, columns int64, precision uint64) (int64, error) {
	return guarded("sum", func() (int64, error) {
		var s sumSettings
		if err := decode(settings, &s); err != nil {
			return 0, err
		}
		r, err := readRequest(request, length)
		if err != nil {
			return 0, err
		}
		p, err := partOf(r, chunks, count, columns)
		if err != nil {
			return 0, err
		}
		return start(number, "sum", func(j *job) (any, error) {
			var loss framework.Loss
			if r.Kind.Scores() {
				var err error
				if loss, err = s.Loss.build(j, precision); err != nil {
					return nil, err
				}
			}
			sums, err := scqm.SumRanges(j.ctx, r, p.source(), loss, p.ranges(), threads(s.Threads))
			if err != nil {
				return nil, err
			}
			return joined(sums)
		})
	})
}

// joined returns partials, each behind its length.
func joined(sums []*scqm.Partial) (all []byte, err error) {
	for _, p := range sums {
		b, err := p.MarshalBinary()
		if err != nil {
			return nil, err
		}
		all = binary.LittleEndian.AppendUint64(all, uint64(len(b)))
		all = append(all, b...)
	}
	return all, nil
}

// StartMerge begins to merge answers to a request of length bytes: parts and lengths
// are the addresses of count addresses of answers and of their lengths in bytes. The
// answers must make up a range of blocks. [ResultBytes] has that of all. It returns 1.
func StartMerge(number int64, request uint64, length int64, parts, lengths uint64, count int64) (int64, error) {
	return guarded("merge", func() (int64, error) {
		r, err := readRequest(request, length)
		if err != nil {
			return 0, err
		}
		from, sizes, err := partList(parts, lengths, int(count))
		if err != nil {
			return 0, err
		}
		return start(number, "merge", func(*job) (any, error) {
			q := &sumQuestion{request: r}
			for i := range from {
				p, err := readPartial(from[i], int64(sizes[i]))
				if err == nil {
					err = q.take(p)
				}
				if err != nil {
					return nil, err
				}
			}
			if len(q.parts) != 1 {
				return nil, fmt.Errorf("sums of %d ranges of blocks that do not adjoin: %w", len(q.parts), framework.ErrInvalid)
			}
			return q.parts[0].MarshalBinary()
		})
	})
}

// ResultBytes returns the number of bytes that a job has made, and copies them to the
// destination to where that is not 0.
func ResultBytes(number int64, to uint64) (int64, error) {
	return withJob("result bytes", number, func(j *job) (int64, error) {
		b, err := resultOf[[]byte](j)
		if err != nil || to == 0 {
			return int64(len(b)), err
		}
		dst, err := viewOf[byte]("to", to, len(b))
		copy(dst, b)
		return int64(len(b)), err
	})
}

// readBytes copies bytes that Python has.
func readBytes(what string, address uint64, length int64) ([]byte, error) {
	n, err := product(what, length)
	if err != nil {
		return nil, err
	}
	return viewOf[byte](what, address, n)
}

// readRequest decodes one, which keeps no bytes of Python's.
func readRequest(address uint64, length int64) (*scqm.Request, error) {
	b, err := readBytes("request", address, length)
	if err != nil {
		return nil, err
	}
	r := new(scqm.Request)
	return r, r.UnmarshalBinary(b)
}

// readPartial decodes one, which keeps no bytes of Python's.
func readPartial(address uint64, length int64) (*scqm.Partial, error) {
	b, err := readBytes("part", address, length)
	if err != nil {
		return nil, err
	}
	p := new(scqm.Partial)
	return p, p.UnmarshalBinary(b)
}

// chunkNumbers is how many numbers describe an array of [StartSum].
const chunkNumbers = 5

// partOf makes arrays of Python's a part of the table of a request.
func partOf(r *scqm.Request, chunks uint64, count, columns int64) (*part, error) {
	n, err := product("chunks", count, chunkNumbers)
	if err != nil {
		return nil, err
	}
	list, err := addressList("chunks", chunks, n)
	if err != nil {
		return nil, err
	}
	if columns != int64(r.D) {
		return nil, fmt.Errorf("rows of %d columns, and a fit of %d: %w", columns, r.D, framework.ErrInvalid)
	}
	if n == 0 {
		return nil, fmt.Errorf("no arrays: %w", framework.ErrInvalid)
	}
	p := &part{n: r.N, d: r.D, checked: !r.Kind.Scores()}
	for of := range slices.Chunk(list, chunkNumbers) {
		if err := p.append([chunkNumbers]uint64(of)); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// part is some rows of a table, as a source of the whole table: others are not asked for.
type part struct {
	n, d   int
	chunks []chunk // in the order of their rows
	last   int     // the number of the row behind them
	// checked says that numbers are looked at, as they are in the first read of a fit.
	checked bool
}

// chunk is an array of Python that holds the rows of the table from row first on.
type chunk struct {
	first   int
	rows    int
	x       []float64
	single  []float32 // where they are of this type
	weights []float64 // nil: all 1
}

// append adds the array that such numbers describe.
func (p *part) append(of [chunkNumbers]uint64) (err error) {
	c, rows := chunk{first: int(min(of[4], math.MaxInt64))}, int64(min(of[1], math.MaxInt64))
	n, err := product("x", rows, int64(p.d))
	if err != nil {
		return err
	}
	switch last := c.first + int(rows) - 1; {
	case rows < 1 || c.first >= p.n || rows > int64(p.n-c.first):
		return fmt.Errorf("rows %d to %d of %d: %w", c.first, last, p.n, framework.ErrInvalid)
	case c.first%scqm.BlockRows != 0 || (last+1)%scqm.BlockRows != 0 && last+1 != p.n:
		return fmt.Errorf("rows %d to %d are cut inside of a block: parts must begin at multiples of %d rows: %w",
			c.first, last, scqm.BlockRows, framework.ErrInvalid)
	}
	if c.first < p.last {
		return fmt.Errorf("rows %d to %d are given twice: %w", c.first, min(p.last, c.first+int(rows))-1, framework.ErrInvalid)
	}
	c.rows, p.last = int(rows), c.first+int(rows)
	if of[3] != 0 {
		c.single, err = viewOf[float32]("x", of[0], n)
	} else {
		c.x, err = view("x", of[0], n)
	}
	if err == nil && of[2] != 0 {
		c.weights, err = view("weights", of[2], int(rows))
	}
	p.chunks = append(p.chunks, c)
	return err
}

// ranges returns the blocks of the part, in runs without gaps.
func (p *part) ranges() (list []scqm.BlockRange) {
	for k, c := range p.chunks {
		count := scqm.Blocks(c.rows)
		if k > 0 && p.chunks[k-1].first+p.chunks[k-1].rows == c.first {
			list[len(list)-1].Count += count
			continue
		}
		list = append(list, scqm.BlockRange{First: c.first / scqm.BlockRows, Count: count})
	}
	return list
}

// source returns the part, whose rows have weights where any were given.
func (p *part) source() datarows.Source {
	if slices.ContainsFunc(p.chunks, func(c chunk) bool { return c.weights != nil }) {
		return weightedPart{p}
	}
	return p
}

// Shape implements [scqm.Source].
func (p *part) Shape() (n, d int) { return p.n, p.d }

// at returns the array that holds a row. Blocks, which is what is read, are never in two.
func (p *part) at(row int) *chunk {
	k, met := slices.BinarySearchFunc(p.chunks, row, func(c chunk, row int) int { return c.first - row })
	if !met {
		k--
	}
	return &p.chunks[k]
}

// Held implements [datarows.Holder]: float64 is read where it is.
func (p *part) Held(first, count int) ([]float64, error) {
	c := p.at(first)
	if c.single != nil {
		return nil, nil
	}
	at := (first - c.first) * p.d
	x := c.x[at : at+count*p.d : at+count*p.d]
	return x, p.check(x, first)
}

// ReadRows implements [datarows.Source].
func (p *part) ReadRows(_ context.Context, dst []float64, first int) error {
	c := p.at(first)
	at := (first - c.first) * p.d
	if c.single == nil {
		copy(dst, c.x[at:])
	} else {
		for i, v := range c.single[at : at+len(dst)] {
			dst[i] = float64(v)
		}
	}
	return p.check(dst, first)
}

// check refuses numbers that are not finite where they are looked at.
func (p *part) check(x []float64, first int) error {
	if !p.checked {
		return nil
	}
	return datarows.Data{N: len(x) / p.d, D: p.d, X: x, First: first}.Validate()
}

// weightedPart is a part whose rows have weights.
type weightedPart struct{ *part }

// ReadWeights implements [datarows.Weigher].
func (p weightedPart) ReadWeights(_ context.Context, dst []float64, first int) error {
	c := p.at(first)
	if c.weights == nil {
		for i := range dst {
			dst[i] = 1
		}
		return nil
	}
	copy(dst, c.weights[first-c.first:])
	for i, w := range dst {
		if !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("weight of row %d is %v, want a finite number of at least 0: %w", first+i, w, framework.ErrInvalid)
		}
	}
	return nil
}
