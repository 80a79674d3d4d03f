package bindings

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	datarows "github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm"
)

// chunkSettings describe rows from number First on, a multiple of scqm.BlockRows, of float64 or
// float32, with their weights where they have some.
type chunkSettings struct {
	X       array `json:"x"`
	Weights array `json:"weights"`
	First   int   `json:"first"`
}

// sumOf answers the request of [FetchRequest], an array of bytes, for the rows of chunks, which are
// in the order of the table; the precision of the loss may be an array. The bytes have an answer
// for each run of chunks without a gap between them, and the report has their lengths. Rows may be
// read many times, in any order.
func sumOf(in *input) work {
	var s struct {
		Loss    lossChoice      `json:"loss"`
		Threads int             `json:"threads"`
		Chunks  []chunkSettings `json:"chunks"`
	}
	in.decode(&s)
	in.loss(&s.Loss)
	r := in.request()
	p := &part{n: r.N, d: r.D, checked: !r.Kind.Scores()}
	for _, c := range s.Chunks {
		in.note(p.append(c))
	}
	return func(j *job) (*outcome, error) {
		var loss framework.Loss
		if r.Kind.Scores() {
			var err error
			if loss, err = s.Loss.build(j); err != nil {
				return nil, err
			}
		}
		sums, err := scqm.SumRanges(j.ctx, r, p.source(), loss, p.ranges(), threads(s.Threads))
		if err != nil {
			return nil, err
		}
		var all []byte
		var lengths []int
		for _, sum := range sums {
			b, err := sum.MarshalBinary()
			if err != nil {
				return nil, err
			}
			all, lengths = append(all, b...), append(lengths, len(b))
		}
		return &outcome{report: lengths, bytes: all}, nil
	}
}

// mergeOf merges answers to a request, parts, which must make up a range of blocks.
func mergeOf(in *input) work {
	var s struct {
		Parts []array `json:"parts"`
	}
	in.decode(&s)
	r := in.request()
	return func(*job) (*outcome, error) {
		q := &sumQuestion{request: r}
		for _, a := range s.Parts {
			b, err := elements[byte]("part", a)
			if err != nil {
				return nil, err
			}
			p, err := readPartial(b)
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
		b, err := q.parts[0].MarshalBinary()
		return &outcome{bytes: b}, err
	}
}

// request is the request of which the array of that name has the bytes; it keeps none of them.
func (in *input) request() *scqm.Request {
	r := new(scqm.Request)
	in.note(r.UnmarshalBinary(in.bytes("request")))
	return r
}

// partialAt decodes an answer of Python's.
func partialAt(address uint64, length int64) (*scqm.Partial, error) {
	b, err := viewOf[byte]("part", address, int(length))
	if err != nil {
		return nil, err
	}
	return readPartial(b)
}

// readPartial decodes an answer, which keeps none of the bytes.
func readPartial(b []byte) (*scqm.Partial, error) {
	p := new(scqm.Partial)
	return p, p.UnmarshalBinary(b)
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

// append adds rows.
func (p *part) append(of chunkSettings) (err error) {
	shape := of.X.shape()
	if len(shape) != 2 {
		return fmt.Errorf("rows of shape %v: %w", shape, framework.ErrInvalid)
	}
	if shape[1] != p.d {
		return fmt.Errorf("rows of %d columns, and a fit of %d: %w", shape[1], p.d, framework.ErrInvalid)
	}
	c := chunk{first: of.First, rows: shape[0]}
	switch last := c.first + c.rows - 1; {
	case c.rows < 1 || c.first < 0 || c.first >= p.n || c.rows > p.n-c.first:
		return fmt.Errorf("rows %d to %d of %d: %w", c.first, last, p.n, framework.ErrInvalid)
	case c.first%scqm.BlockRows != 0 || (last+1)%scqm.BlockRows != 0 && last+1 != p.n:
		return fmt.Errorf("rows %d to %d are cut inside of a block: parts must begin at multiples of %d rows: %w",
			c.first, last, scqm.BlockRows, framework.ErrInvalid)
	case c.first < p.last:
		return fmt.Errorf("rows %d to %d are given twice: %w", c.first, min(p.last, last+1)-1, framework.ErrInvalid)
	}
	p.last = c.first + c.rows
	if of.X[1] == singleSize {
		c.single, err = elements[float32]("x", of.X)
	} else {
		c.x, err = elements[float64]("x", of.X)
	}
	if err == nil && of.Weights != nil {
		if c.weights, err = elements[float64]("weights", of.Weights); len(c.weights) != c.rows && err == nil {
			err = fmt.Errorf("%d weights of %d rows: %w", len(c.weights), c.rows, framework.ErrInvalid)
		}
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
