package scqm

import (
	"context"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/models/scqm/internal/influence"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// RowInfluence is the change of a fit when one row is left out.
type RowInfluence = influence.Row

// Response is the linear response of a fit to leaving out rows: the part of [Model.Influence] that does not
// depend on the row. MarshalBinary transfers it to other machines.
type Response struct {
	// Remaining is defined as in [Influence].
	Remaining float64

	n         int // number of rows of the fit
	loss      framework.Loss
	tau       []float64 // of all rows, if they are known
	jackknife *influence.Jackknife
}

// newResponse prepares the response of a sheet to n rows.
func newResponse(f *sheet.Sheet, loss framework.Loss, n int, tau []float64) (*Response, error) {
	jackknife, err := influence.New(f)
	return &Response{n: n, loss: loss, tau: tau, jackknife: jackknife}, err
}

// sum reads the rows of the fit once, and returns the sums for the response.
func (r *Response) sum(ctx context.Context, e Engine) (*blocks.JackknifeSums, error) {
	f := r.jackknife.F
	at := pointOf(f, 0)
	q := blocks.Request{
		Kind: blocks.Jackknife, N: r.n, D: f.D, Latent: f.Latent, S: f.S, Unit: 1, Loss: blocks.Identity(r.loss),
		C: at[BlockC], Q: at[BlockQ], Theta: at[BlockTheta], Tau: r.tau,
	}
	partial, err := e.Sum(ctx, &q)
	if err != nil {
		return nil, err
	}
	sums, sample, err := q.Total(partial)
	if err != nil {
		return nil, err
	}
	return q.JackknifeSums(sums, sample), nil
}

// settle computes the response from the sums over rows. penalty is the penalty of the fit.
func (r *Response) settle(of *blocks.JackknifeSums, penalty objective.Regularizer) error {
	err := r.jackknife.Solve(of.Sums, penalty)
	r.Remaining = r.jackknife.Remaining
	return err
}

// point returns the model as a point for n rows, with coordinates 0.
func (m *Model) point(n int) framework.Point { return pointOf(m.sheet(), n) }

func pointOf(f *sheet.Sheet, n int) framework.Point {
	at := framework.Point{f.C, make([]float64, f.D*f.M), f.Theta, make([]float64, n*f.Latent)}
	dense.Transpose(at[BlockQ], f.QT, f.M, f.D)
	return at
}

// LeaveOut reads rows of the fit, numbered from first, [BlockRows] at a time. It passes their influences to take, and
// returns the largest. Use it from one goroutine at a time.
func (r *Response) LeaveOut(ctx context.Context, src Source, first, threads int, take func(first int, list []RowInfluence) error) (most float64, err error) {
	n, D := src.Shape()
	if D != r.jackknife.F.D || first < 0 || first > r.n-n {
		return 0, fmt.Errorf("scqm: influence of %d x %d rows from row %d on, of %d x %d: %w", n, D, first, r.n, r.jackknife.F.D, ErrInput)
	}
	for at := 0; at < n; at += BlockRows {
		o, tau, err := r.block(ctx, src, at, first, threads)
		if err != nil {
			return most, err
		}
		list := make([]RowInfluence, o.Data().N)
		if err := r.jackknife.LeaveOut(list, o, tau); err != nil {
			return most, err
		}
		for _, row := range list {
			most = max(most, row.Move)
		}
		if err := take(first+at, list); err != nil {
			return most, err
		}
	}
	return most, nil
}

// block reads the block of a source that begins at row from, and computes the coordinates of its rows. In errors, row
// numbers count from first.
func (r *Response) block(ctx context.Context, src Source, from, first, threads int) (*objective.Objective, []float64, error) {
	n, _ := src.Shape()
	f, n := r.jackknife.F, min(BlockRows, n-from)
	x := Data{N: n, D: f.D, First: first + from, X: make([]float64, n*f.D)}
	if err := src.ReadRows(ctx, x.X, from); err != nil {
		return nil, nil, err
	}
	if weigher, ok := src.(rows.Weigher); ok {
		x.Weights = make([]float64, n)
		if err := weigher.ReadWeights(ctx, x.Weights, from); err != nil {
			return nil, nil, err
		}
	}
	if err := x.Validate(); err != nil {
		return nil, nil, err
	}
	o, err := objective.New(ctx, x, r.loss, f.Latent, f.S, threads)
	if err != nil {
		return nil, nil, err
	}
	tau := make([]float64, n*f.Latent)
	if r.tau != nil {
		copy(tau, r.tau[x.First*f.Latent:])
	} else if err := nearest.ProjectRows(ctx, tau, f, r.loss, x, nearest.Missing{}, threads); err != nil {
		return nil, nil, err
	}
	return o, tau, nearest.RefineRows(ctx, tau, f, r.loss, x, threads)
}

// sentResponse is an encoded response without the jackknife sums.
type sentResponse struct {
	Format, N int
	Remaining float64
}

// MarshalBinary encodes the response without the model. The encoding has a checksum.
func (r *Response) MarshalBinary() ([]byte, error) {
	k := r.jackknife
	return blocks.Encode(&sentResponse{blocks.Format, r.n, r.Remaining}, blocks.Numbers(k.Factor), blocks.Numbers(k.Moves))
}

// ReadResponse decodes a response of the model. It rejects damaged bytes, other versions and other shapes.
func (m *Model) ReadResponse(ctx context.Context, b []byte) (*Response, error) {
	var s sentResponse
	from, err := blocks.Decode(b, "response", &s, &s.Format)
	if err != nil {
		return nil, err
	}
	r, err := newResponse(m.sheet().WithoutFlat(), m.Loss, s.N, nil)
	if err != nil {
		return nil, err
	}
	k := r.jackknife
	for _, to := range []*[]float64{&k.Factor, &k.Moves} {
		var numbers blocks.Numbers
		if err := from.Decode(&numbers); err != nil || len(numbers) != k.P*k.P || !(framework.Point{numbers}).Finite() {
			return nil, fmt.Errorf("scqm: a response of %d numbers for a sheet of %d: %w", len(numbers), k.P, ErrInput)
		}
		*to = numbers
	}
	r.Remaining = s.Remaining
	return r, ctx.Err()
}
