package blocks

import (
	"crypto/sha256"
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
	// Projected: what Gradient sums, where rows are projected as [nearest.Projector] does,
	// from several starts.
	Projected
	// Far: the number of rows with an entry farther than Eps from c, with the numbers of
	// these rows as the sample.
	Far
	// Curvature: what Gradient sums, and gradient and Hessian of the cost with tau
	// eliminated in the coordinates of [arrowhead.Hessian].
	Curvature
	// Jackknife: the sums of [influence.Jackknife].
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

// maxShape bounds the columns of a request.
const maxShape = 1 << 24

// sentRequest is a request in bytes, without Tau.
type sentRequest struct {
	Format  int
	Request bareRequest
}

// bareRequest has no methods, which gob would call.
type bareRequest Request

func (r *Request) sent() *sentRequest {
	s := &sentRequest{Format, bareRequest(*r)}
	s.Request.Tau = nil
	return s
}

// MarshalBinary encodes the request.
func (r *Request) MarshalBinary() ([]byte, error) { return Encode(r.sent()) }

// Hash identifies the request, in all processes.
func (r *Request) Hash() (hash [sha256.Size]byte) {
	h := sha256.New()
	fmt.Fprintf(h, "%x", *r.sent())
	return [sha256.Size]byte(h.Sum(nil))
}

// UnmarshalBinary decodes a request and rejects bytes that are damaged, of another version, or of an
// inconsistent shape.
func (r *Request) UnmarshalBinary(b []byte) error {
	var s sentRequest
	if _, err := Decode(b, "request", &s, &s.Format); err != nil {
		return err
	}
	q := Request(s.Request)
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
	if r.Kind >= kinds || r.N < 1 || r.D < 1 || r.D > maxShape || r.N > math.MaxInt64/maxShape {
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
	if r.Latent < 1 || r.Latent > r.D || r.S < 0 || r.S > r.D || m > r.D || len(r.C) != r.D || len(r.Q) != r.D*m || len(r.Theta) != sheet.VechLen(r.Latent)*r.S {
		return complain("a sheet that does not fit its rows")
	}
	if !(r.Unit > 0) || math.IsInf(r.Unit, 0) || !(r.Eps >= 0) || !(r.Scale >= 0) || r.Stride < 0 {
		return complain("lengths that are negative or not finite")
	}
	if !(framework.Point{r.C, r.Q, r.Theta}).Finite() {
		return complain("numbers that are not finite")
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
