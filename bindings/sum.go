package bindings

import (
	"context"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	datarows "github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm"
)

// sumSettings are the settings of [StartSum].
type sumSettings struct {
	Loss    lossChoice `json:"loss"`
	Threads int        `json:"threads"`
	// First is the number of the first row in the whole table, a multiple of
	// scqm.BlockRows.
	First int `json:"first"`
	// Single says that the rows are float32.
	Single bool `json:"single"`
}

// StartSum begins to answer a request of [FetchRequest], length bytes, for rows x
// columns numbers at x, with one weight per row at weights (0: all 1) and the
// precision matrix of the loss at precision (0: none). [ResultBytes] has the
// answer. Rows may be read many times, in any order. It returns 1.
func StartSum(number int64, settings string, request uint64, length int64, x uint64, rows, columns int64, weights, precision uint64) (int64, error) {
	return guarded("sum", func() (int64, error) {
		var s sumSettings
		if err := decode(settings, &s); err != nil {
			return 0, err
		}
		r, err := readRequest(request, length)
		if err != nil {
			return 0, err
		}
		src, count, err := s.source(r, x, rows, columns, weights)
		if err != nil {
			return 0, err
		}
		return start(number, "sum", func(j *job) (any, error) {
			var loss framework.Loss
			if r.Kind.Scores() {
				var err error
				if loss, err = s.Loss.build(j, precision, nil, 0); err != nil {
					return nil, err
				}
			}
			p, err := scqm.SumBlocks(j.ctx, r, src, loss, s.First/scqm.BlockRows, count, threads(s.Threads))
			if err != nil {
				return nil, err
			}
			return p.MarshalBinary()
		})
	})
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

// source makes rows of Python's a part of the table of a request, and counts their
// blocks.
func (s sumSettings) source(r *scqm.Request, x uint64, rows, columns int64, weights uint64) (datarows.Source, int, error) {
	n, err := product("x", rows, columns)
	if err != nil {
		return nil, 0, err
	}
	last := s.First + int(rows)
	switch {
	case columns != int64(r.D):
		return nil, 0, fmt.Errorf("rows of %d columns, and a fit of %d: %w", columns, r.D, framework.ErrInvalid)
	case rows < 1 || s.First < 0 || last > r.N:
		return nil, 0, fmt.Errorf("rows %d to %d of %d: %w", s.First, last-1, r.N, framework.ErrInvalid)
	case s.First%scqm.BlockRows != 0 || last%scqm.BlockRows != 0 && last != r.N:
		return nil, 0, fmt.Errorf("rows %d to %d are cut inside of a block: parts must begin at multiples of %d rows: %w",
			s.First, last-1, scqm.BlockRows, framework.ErrInvalid)
	}
	p := &part{n: r.N, d: r.D, first: s.First, checked: !r.Kind.Scores()}
	if s.Single {
		p.single, err = viewOf[float32]("x", x, n)
	} else {
		p.x, err = view("x", x, n)
	}
	if err != nil || weights == 0 {
		return p, scqm.Blocks(int(rows)), err
	}
	w, err := view("weights", weights, int(rows))
	return &weightedPart{part: p, weights: w}, scqm.Blocks(int(rows)), err
}

// part is some rows of a table, as a source of the whole table: others are not asked for.
type part struct {
	n, d, first int
	x           []float64
	single      []float32 // where they are of this type
	// checked says that numbers are looked at, as they are in the first read of a fit.
	checked bool
}

// Shape implements [scqm.Source].
func (p *part) Shape() (n, d int) { return p.n, p.d }

// ReadRows implements [scqm.Source].
func (p *part) ReadRows(_ context.Context, dst []float64, first int) error {
	at := (first - p.first) * p.d
	if p.single == nil {
		copy(dst, p.x[at:])
	} else {
		for i, v := range p.single[at : at+len(dst)] {
			dst[i] = float64(v)
		}
	}
	if !p.checked {
		return nil
	}
	return datarows.Data{N: len(dst) / p.d, D: p.d, X: dst, First: first}.Validate()
}

// weightedPart is a part whose rows have weights.
type weightedPart struct {
	*part
	weights []float64
}

// ReadWeights implements [datarows.Weigher].
func (p *weightedPart) ReadWeights(_ context.Context, dst []float64, first int) error {
	copy(dst, p.weights[first-p.first:])
	for i, w := range dst {
		if !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("weight of row %d is %v, want a finite number of at least 0: %w", first+i, w, framework.ErrInvalid)
		}
	}
	return nil
}
