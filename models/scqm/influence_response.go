package scqm

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/models/scqm/internal/influence"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// Response says how a fit answers to single rows that are left out: what
// [Model.Influence] finds before it looks at each of them. It goes to other machines by
// MarshalBinary.
type Response struct {
	// Remaining is as in [Influence].
	Remaining float64

	n         int // rows of the fit
	model     *Model
	tau       []float64 // of all rows, where they are known here
	jackknife *influence.Jackknife
}

var responseMagic = [8]byte{'s', 'c', 'q', 'm', 'r', 's', 'p', 1}

// responseHeader is the part of a response of fixed length.
type responseHeader struct {
	Magic     [8]byte
	N, P      uint64
	Remaining float64
}

// MarshalBinary encodes the response, without the model, and with a checksum.
func (r *Response) MarshalBinary() ([]byte, error) {
	numbers := r.jackknife.Numbers()
	h := responseHeader{responseMagic, uint64(r.n), uint64(r.jackknife.P), r.Remaining}
	b, err := binary.Append(nil, binary.LittleEndian, &h)
	if err != nil {
		return nil, err
	}
	for _, list := range numbers {
		if b, err = binary.Append(b, binary.LittleEndian, list); err != nil {
			return nil, err
		}
	}
	return blocks.Seal(b), nil
}

// ResponseRemaining returns Remaining of a response that was encoded.
func ResponseRemaining(b []byte) (float64, error) {
	h, _, err := readResponse(b)
	return h.Remaining, err
}

// readResponse reads what a response says beside its arrays, and returns their bytes.
func readResponse(b []byte) (h responseHeader, arrays []byte, err error) {
	body, err := blocks.Unseal(b, "response")
	if err != nil {
		return h, nil, err
	}
	at, err := binary.Decode(body, binary.LittleEndian, &h)
	if err != nil || h.Magic != responseMagic || h.N > math.MaxInt64 || !(h.Remaining >= 0) {
		return h, nil, fmt.Errorf("scqm: these bytes are no response of format %d; use one version of scqm everywhere: %w", responseMagic[7], ErrInput)
	}
	return h, body[at:], nil
}

// ReadResponse decodes a response of the model's. It refuses bytes that are damaged, of
// another version, or of another shape.
func (m *Model) ReadResponse(ctx context.Context, b []byte) (*Response, error) {
	h, arrays, err := readResponse(b)
	if err != nil {
		return nil, err
	}
	r, _, err := m.newResponse(ctx, int(h.N))
	if err != nil {
		return nil, err
	}
	P := r.jackknife.P
	if h.P != uint64(P) || len(arrays) != 2*8*P*P {
		return nil, fmt.Errorf("scqm: a response of %d numbers for a sheet of %d: %w", h.P, P, ErrInput)
	}
	r.Remaining = h.Remaining
	numbers := [2][]float64{make([]float64, P*P), make([]float64, P*P)}
	from := bytes.NewReader(arrays)
	for _, list := range numbers {
		if err := binary.Read(from, binary.LittleEndian, list); err != nil {
			return nil, err
		}
	}
	return r, r.jackknife.Restore(numbers)
}

// newResponse prepares one, without what rows say, and the objective of no row.
func (m *Model) newResponse(ctx context.Context, n int) (*Response, *objective.Objective, error) {
	q := request{model: m}
	if _, err := (dropColumns{}).apply(&q); err != nil {
		return nil, nil, err
	}
	r := &Response{n: n, model: q.model}
	o, err := objective.New(ctx, Data{N: 1, D: m.D, X: make([]float64, m.D)}, m.Loss, q.model.Latent, q.model.Curvature, 1)
	if err != nil {
		return nil, nil, err
	}
	r.jackknife, err = influence.Begin(o, q.model.point(1))
	return r, o, err
}

// point is that of an objective of n rows, with coordinates 0.
func (m *Model) point(n int) framework.Point {
	f := m.sheet()
	at := framework.Point{f.C, make([]float64, f.D*f.M), f.Theta, make([]float64, n*f.Latent)}
	dense.Transpose(at[BlockQ], f.QT, f.M, f.D)
	return at
}
