package blocks

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Kind says what is summed.
type Kind uint8

// The kinds of requests.
const (
	// Moments: [rows.Moments] of the rows; with Stride, rows [w, x] as the sample.
	Moments Kind = iota
	// Flat: the loss of the flat sheet through c, and the moments of its least squares.
	Flat
	// Sweep: the cost and the moments of one majorize-minimize step.
	Sweep
	// Gradient: cost, gradients, the first-order system; see [Gradient].
	Gradient
	// Norms and Entries: histograms of the norms of residuals, and of the sizes of their
	// entries; see [Quantile].
	Norms
	Entries
	// Projected: what Gradient sums, where rows are projected as [nearest.Projector] does,
	// from several starts.
	Projected
	// Far: the number of rows with an entry farther than Eps from c, with the numbers of
	// these rows as the sample.
	Far
	// Curvature: what Gradient sums, and gradient and Hessian of the cost with tau
	// eliminated in the coordinates of [arrowhead.Hessian].
	Curvature
	// Jackknife: the sums of [influence.Jackknife]; see [Request.ForJackknife].
	Jackknife
	kinds
)

// Scores reports whether requests of a kind need the loss.
func (k Kind) Scores() bool {
	return k == Flat || k == Sweep || k == Gradient || k == Curvature || k == Projected || k == Jackknife
}

// Request says what is summed over all rows, and at which sheet.
type Request struct {
	Kind Kind
	// N and D are the shape of the table.
	N, D int
	// Latent and S are d and s of the sheet, of which C, Q (D x m) and Theta are given.
	Latent, S   int
	C, Q, Theta []float64
	// Unit is the length scale of the data.
	Unit float64
	// Eps is the smoothing length of the loss, 0 for none, and Scale
	// the first one of a continuation.
	Eps, Scale float64
	// Stride: the sample lists tau of every row whose number it divides; 0 lists none.
	Stride int
	// Loss identifies the loss where the kind needs one.
	Loss string
	// Tau are the coordinates of all rows for a Jackknife, where they are known on this
	// machine, which they do not leave; nil are found.
	Tau []float64
}

const (
	// format is the version of requests and of partials.
	format = 6
	// maxShape bounds the numbers of columns and coordinates of a decoded request.
	maxShape = 1 << 24
)

var requestMagic = [8]byte{'s', 'c', 'q', 'm', 'r', 'e', 'q', format}

// header is the fixed-length part of a request.
type header struct {
	Magic                         [8]byte
	Kind                          uint64
	N, D, Latent, S               uint64
	Unit, Eps, Scale              float64
	Stride                        uint64
	LenC, LenQ, LenTheta, LenLoss uint64
}

// MarshalBinary encodes the request.
func (r *Request) MarshalBinary() ([]byte, error) {
	h := header{
		Magic: requestMagic, Kind: uint64(r.Kind), N: uint64(r.N), D: uint64(r.D), Latent: uint64(r.Latent), S: uint64(r.S),
		Unit: r.Unit, Eps: r.Eps, Scale: r.Scale, Stride: uint64(r.Stride),
		LenC: uint64(len(r.C)), LenQ: uint64(len(r.Q)), LenTheta: uint64(len(r.Theta)), LenLoss: uint64(len(r.Loss)),
	}
	b, err := binary.Append(nil, binary.LittleEndian, &h)
	if err != nil {
		return nil, err
	}
	for _, v := range [][]float64{r.C, r.Q, r.Theta} {
		b = appendFloats(b, v)
	}
	return Seal(append(b, r.Loss...)), nil
}

// Hash identifies the request.
func (r *Request) Hash() ([sha256.Size]byte, error) {
	b, err := r.MarshalBinary()
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	return [sha256.Size]byte(b[len(b)-sha256.Size:]), nil
}

// UnmarshalBinary decodes a request and rejects bytes that are damaged, of another version, or of an
// inconsistent shape.
func (r *Request) UnmarshalBinary(b []byte) error {
	body, err := Unseal(b, "request")
	if err != nil {
		return err
	}
	var h header
	n, err := binary.Decode(body, binary.LittleEndian, &h)
	if err != nil || h.Magic != requestMagic {
		return fmt.Errorf("scqm: these bytes are no request of format %d; use one version of scqm everywhere: %w", format, rows.ErrInput)
	}
	body = body[n:]
	q := Request{
		Kind: Kind(h.Kind), N: int(h.N), D: int(h.D), Latent: int(h.Latent), S: int(h.S), Unit: h.Unit, Eps: h.Eps, Scale: h.Scale,
		Stride: int(h.Stride),
	}
	if h.Kind >= uint64(kinds) || h.N > math.MaxInt64/maxShape || max(h.D, h.Latent, h.S, h.Stride>>32) > maxShape {
		return fmt.Errorf("scqm: a request of kind %d for %d x %d rows, d = %d, s = %d: %w", h.Kind, h.N, h.D, h.Latent, h.S, rows.ErrInput)
	}
	for i, length := range []uint64{h.LenC, h.LenQ, h.LenTheta} {
		if length > uint64(len(body))/8 {
			return fmt.Errorf("scqm: a request ends before its arrays do: %w", rows.ErrInput)
		}
		*[]*[]float64{&q.C, &q.Q, &q.Theta}[i] = floatsOf(body[:8*length])
		body = body[8*length:]
	}
	if uint64(len(body)) != h.LenLoss {
		return fmt.Errorf("scqm: a request has %d bytes for the name of its loss, want %d: %w", len(body), h.LenLoss, rows.ErrInput)
	}
	q.Loss = string(body)
	if err := q.check(); err != nil {
		return err
	}
	*r = q
	return nil
}

// check reports an inconsistent shape.
func (r *Request) check() error {
	complain := func(what string) error {
		return fmt.Errorf("scqm: a request of kind %d with %s: %w", r.Kind, what, rows.ErrInput)
	}
	if r.N < 1 || r.D < 1 {
		return complain(fmt.Sprintf("%d x %d rows", r.N, r.D))
	}
	switch r.Kind {
	case Moments:
		if r.Stride < 0 {
			return complain("a stride below 0")
		}
		return nil
	case Far:
		if len(r.C) != r.D || !(r.Eps >= 0) {
			return complain("a place that does not fit its rows")
		}
		return nil
	}
	m := r.Latent + r.S
	if r.Latent < 1 || r.S < 0 || m > r.D || len(r.C) != r.D || len(r.Q) != r.D*m || len(r.Theta) != sheet.VechLen(r.Latent)*r.S {
		return complain("a sheet that does not fit its rows")
	}
	if !(r.Unit > 0) || math.IsInf(r.Unit, 0) || !(r.Eps >= 0) || !(r.Scale >= 0) || r.Stride < 0 {
		return complain("lengths that are negative or not finite")
	}
	if !(framework.Point{r.C, r.Q, r.Theta}).Finite() {
		return complain("numbers that are not finite")
	}
	if r.Kind == Jackknife && r.Stride > 1 {
		return complain("a stride")
	}
	if r.Kind.Scores() != (r.Loss != "") {
		return complain(fmt.Sprintf("the loss %.80q", r.Loss))
	}
	return nil
}

// sheet returns the sheet of the request.
func (r *Request) sheet() *sheet.Sheet {
	f := sheet.New(r.D, r.Latent, r.S)
	f.Load(r.C, r.Q, r.Theta)
	return f
}

// point returns the sheet of the request as a point, with tau.
func (r *Request) point(tau []float64) framework.Point {
	x := make(framework.Point, objective.NumBlocks)
	x[objective.BlockC], x[objective.BlockQ], x[objective.BlockTheta], x[objective.BlockTau] = r.C, r.Q, r.Theta, tau
	return x
}

// merge returns the function that merges sums.
func (r *Request) merge() merge {
	if r.Kind == Moments {
		return rows.MergeMoments(r.D)
	}
	return add
}

// Seal appends a checksum.
func Seal(b []byte) []byte {
	sum := sha256.Sum256(b)
	return append(b[:len(b):len(b)], sum[:]...)
}

// Unseal verifies the checksum at the end of b; errors name what.
func Unseal(b []byte, what string) ([]byte, error) {
	if len(b) < sha256.Size {
		return nil, fmt.Errorf("scqm: %d bytes are no %s: %w", len(b), what, rows.ErrInput)
	}
	body := b[:len(b)-sha256.Size]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], b[len(body):]) {
		return nil, fmt.Errorf("scqm: a %s is damaged: its checksum is not that of its bytes: %w", what, rows.ErrInput)
	}
	return body, nil
}

func appendFloats(b []byte, v []float64) []byte {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

func floatsOf(b []byte) []float64 {
	v := make([]float64, len(b)/8)
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return v
}
