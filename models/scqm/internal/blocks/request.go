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

// Kind defines which sums a request asks for.
type Kind uint8

// The kinds of requests.
const (
	// Moments requests [rows.Moments] of the rows. With Stride, the sample lists rows [w, x].
	Moments Kind = iota
	// Flat requests the loss of the flat sheet through c, and the moments for its least-squares Theta.
	Flat
	// Sweep requests the cost and the moments of one majorize-minimize step.
	Sweep
	// Gradient requests the cost and the gradients: the first-order system, see [FirstOrder].
	Gradient
	// Projected requests the sums of Gradient, but projects rows as [nearest.Projector] does, from several starts.
	Projected
	// Far requests the number of rows with an entry farther than Eps from c. The sample lists the numbers of these
	// rows.
	Far
	// Curvature requests the sums of Gradient, and the gradient and Hessian of the cost with tau eliminated, in the
	// coordinates of [arrowhead.Hessian].
	Curvature
	// Jackknife requests the sums of [influence.Jackknife].
	Jackknife
	kinds
)

// Scores reports whether requests of a kind need the loss.
func (k Kind) Scores() bool {
	return k == Flat || k == Sweep || k == Gradient || k == Curvature || k == Projected || k == Jackknife
}

// Request defines sums over all rows, and the sheet at which they are computed.
type Request struct {
	Kind Kind
	// N and D are the numbers of rows and columns of the table.
	N, D int
	// Latent and S are d and s of the sheet. C, Q (D x m) and Theta are its parameters.
	Latent, S   int
	C, Q, Theta []float64
	// Unit is the length scale of the data.
	Unit float64
	// Eps is the smoothing length of the loss, 0 for none. Scale is the first smoothing length of a continuation.
	Eps, Scale float64
	// Stride makes the sample list tau of every row whose number is a multiple of Stride; 0 lists none.
	Stride int
	// Loss identifies the loss, if the kind needs a loss.
	Loss string
	// Tau are the coordinates of all rows for a Jackknife request, if this machine knows them. They are not sent to
	// other machines. If Tau is nil, the coordinates are computed.
	Tau []float64
}

// maxShape bounds the columns of a request.
const maxShape = 1 << 24

// sentRequest is the encoded form of a request, without Tau.
type sentRequest struct {
	Format  int
	Request bareRequest
}

// bareRequest is a Request without methods, since gob would call MarshalBinary of a Request.
type bareRequest Request

func (r *Request) sent() *sentRequest {
	s := &sentRequest{Format, bareRequest(*r)}
	s.Request.Tau = nil
	return s
}

// MarshalBinary encodes the request.
func (r *Request) MarshalBinary() ([]byte, error) { return Encode(r.sent()) }

// Hash returns a hash that identifies the request in all processes.
func (r *Request) Hash() (hash [sha256.Size]byte) {
	h := sha256.New()
	fmt.Fprintf(h, "%x", *r.sent())
	return [sha256.Size]byte(h.Sum(nil))
}

// UnmarshalBinary decodes a request. It rejects damaged bytes, another version, and an inconsistent shape.
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

// check returns an error if the shape is inconsistent.
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

// point returns the parameters of the request with the coordinates tau, as a point.
func (r *Request) point(tau []float64) framework.Point {
	x := make(framework.Point, objective.NumBlocks)
	x[objective.BlockC], x[objective.BlockQ], x[objective.BlockTheta], x[objective.BlockTau] = r.C, r.Q, r.Theta, tau
	return x
}

// merge returns the function that merges the sums of this kind of request.
func (r *Request) merge() merge {
	if r.Kind == Moments {
		return rows.MergeMoments(r.D)
	}
	return add
}
