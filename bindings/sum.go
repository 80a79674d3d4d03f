package bindings

import (
	"context"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	datarows "github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm"
)

// sumOf answers the request of [FetchRequest], an array of bytes, for the rows of the
// table from row first on. The precision of the loss may be an array. It may read the
// rows many times, in any order.
func sumOf(in *input) work {
	var s struct {
		Loss    lossChoice `json:"loss"`
		Threads int        `json:"threads"`
		First   int        `json:"first"`
	}
	in.decode(&s)
	in.loss(&s.Loss)
	r := in.request()
	p := in.part()
	p.checked = !r.Kind.Scores()
	in.note(p.place(r.N, r.D, s.First))
	return func(j *job) (*outcome, error) {
		var loss framework.Loss
		if r.Kind.Scores() {
			var err error
			if loss, err = s.Loss.build(j); err != nil {
				return nil, err
			}
		}
		blocks := scqm.BlockRange{First: p.first / scqm.BlockRows, Count: scqm.Blocks(p.rows)}
		sums, err := scqm.SumRange(j.ctx, r, p.source(), loss, blocks, threads(s.Threads))
		if err != nil {
			return nil, err
		}
		b, err := sums.MarshalBinary()
		return &outcome{bytes: b}, err
	}
}

// mergeOf merges the answers in the array parts. Together they must cover a contiguous range of blocks.
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
			if err := q.takeBytes(b); err != nil {
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

// request decodes the request from the array of bytes of that name. It keeps no reference to the bytes.
func (in *input) request() *scqm.Request {
	r := new(scqm.Request)
	in.note(r.UnmarshalBinary(in.bytes("request")))
	return r
}

// part implements a source of a whole table, but holds only some of its rows. Only these rows may be read.
type part struct {
	n, d        int
	first, rows int
	x           []float64
	single      []float32 // the rows, if they are float32
	weights     []float64 // nil if all weights are 1
	// checked is true if numbers are checked for NaN and infinities, as in the first pass of a fit.
	checked bool
}

// part returns the rows x, of float64 or float32, with their weights, if any, as a table.
func (in *input) part() *part {
	p := &part{}
	a := in.arrays["x"]
	if len(a) > 1 && a[1] == singleSize {
		delete(in.arrays, "x")
		var err error
		p.single, err = elements[float32]("x", a)
		in.note(err)
	} else {
		p.x, _ = in.numbers("x", -1, -1)
	}
	if shape := a.shape(); len(shape) == 2 && shape[0] > 0 && shape[1] > 0 {
		p.rows, p.d = shape[0], shape[1]
	} else {
		in.note(fmt.Errorf("x: shape %v: %w", shape, framework.ErrInvalid))
	}
	p.weights, _ = in.optional("weights", p.rows)
	p.n = p.rows
	return p
}

// place makes p the rows from index first on in a table of n rows of length d. The
// range must begin and end at multiples of scqm.BlockRows or at the end of the table.
func (p *part) place(n, d, first int) error {
	p.n, p.first = n, first
	switch last := first + p.rows - 1; {
	case p.d != d:
		return fmt.Errorf("rows of %d columns, and a fit of %d: %w", p.d, d, framework.ErrInvalid)
	case first < 0 || first >= n || p.rows > n-first:
		return fmt.Errorf("rows %d to %d of %d: %w", first, last, n, framework.ErrInvalid)
	case first%scqm.BlockRows != 0 || (last+1)%scqm.BlockRows != 0 && last+1 != n:
		return fmt.Errorf("rows %d to %d are cut inside of a block: parts must begin at multiples of %d rows: %w",
			first, last, scqm.BlockRows, framework.ErrInvalid)
	}
	return nil
}

// source returns the part as a source, with weights if any were given.
func (p *part) source() datarows.Source {
	if p.weights != nil {
		return weightedPart{p}
	}
	return p
}

// Shape implements [scqm.Source].
func (p *part) Shape() (n, d int) { return p.n, p.d }

// Held implements [datarows.Holder]. It returns float64 rows without a copy.
func (p *part) Held(first, count int) ([]float64, error) {
	if p.single != nil {
		return nil, nil
	}
	at := (first - p.first) * p.d
	x := p.x[at : at+count*p.d : at+count*p.d]
	return x, p.check(x, first)
}

// ReadRows implements [datarows.Source].
func (p *part) ReadRows(_ context.Context, dst []float64, first int) error {
	at := (first - p.first) * p.d
	if p.single == nil {
		copy(dst, p.x[at:])
	} else {
		for i, v := range p.single[at : at+len(dst)] {
			dst[i] = float64(v)
		}
	}
	return p.check(dst, first)
}

// check returns an error if x has NaN or infinite entries and checked is set.
func (p *part) check(x []float64, first int) error {
	if !p.checked {
		return nil
	}
	return datarows.Data{N: len(x) / p.d, D: p.d, X: x, First: first}.Validate()
}

// weightedPart is a part with row weights.
type weightedPart struct{ *part }

// ReadWeights implements [datarows.Weigher].
func (p weightedPart) ReadWeights(_ context.Context, dst []float64, first int) error {
	copy(dst, p.weights[first-p.first:])
	for i, w := range dst {
		if !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("weight of row %d is %v, want a finite number of at least 0: %w", first+i, w, framework.ErrInvalid)
		}
	}
	return nil
}
