package influence

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/arrowhead"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

const (
	// maxCoordinates bounds the order of the matrices.
	maxCoordinates = 8000
	// jitter raises the diagonal, relative to the terms of which it is a difference, so that directions which
	// hardly change the sheet, as of a nearly flat one, have no negative curvature by rounding.
	jitter = 1e-12
)

// ErrNotMinimum marks a model that is not a minimum for the given rows.
var ErrNotMinimum = errors.New("the model is not at a minimum")

// Jackknife computes the first-order change of a fit when rows are left out. Its coordinates are those of
// [arrowhead.Chart] but for the rotations within U and within V and, where the sheet is flat, the shifts along
// U: those do not change the sheet.
//
// The Hessian of the cost with Tau eliminated is
//
//	H = A - sum_i B_i C_i^-1 B_i' + penalty,
//
// with A, B_i and C_i of [arrowhead.Hessian]. A step v moves the points nearest to the rows by
//
//	v'Mv = sum_i w_i |(J_i - E_i C_i^-1 B_i') v|^2 / sum_i w_i.
//
// For P coordinates the sums take n P^2 (d + m) operations, the solution P^3.
type Jackknife struct {
	*arrowhead.Chart
	problem *objective.Objective
	at      framework.Point
	second  framework.SecondOrder // of the loss

	hessian []float64         // P x P, upper triangle
	factor  blas64.Triangular // of the Hessian
	moves   []float64         // P x P: M
	grad    []float64         // P: of the cost
	terms   []float64         // P: sums of the sizes of the terms of the diagonal

	summed  *batch
	workers []*response // by goroutine
}

// Begin prepares the jackknife at a point of an objective, without its rows: Sum takes some of
// those that the objective has at that time, and Factorize ends it.
func Begin(p *objective.Objective, at framework.Point) (*Jackknife, error) {
	if size := arrowhead.OuterDim(p.Shape(), false); size > maxCoordinates {
		return nil, fmt.Errorf("scqm: the sheet has %d numbers and second derivatives serve up to %d: use fewer columns, such as leading principal components: %w", size, maxCoordinates, rows.ErrInput)
	}
	f := p.NewSheet()
	f.Load(at[objective.BlockC], at[objective.BlockQ], at[objective.BlockTheta])
	return &Jackknife{Chart: arrowhead.NewChart(f, false), problem: p, at: slices.Clone(at), second: rowloss.HessianOf(p.Loss())}, nil
}

// Load sets other rows, with their coordinates at a minimum, for Sum and LeaveOut. The objective must have the
// same shape.
func (k *Jackknife) Load(p *objective.Objective, tau []float64) {
	k.problem, k.at[objective.BlockTau] = p, tau
}

// sums are views of the sums over rows in one list of numbers.
type sums struct {
	hessian, moves []float64 // P x P, upper triangles; moves lacks the rows of J from m on
	weight         []float64 // 1: of all rows
	grad, terms    []float64 // P
	shares         []float64 // F x F: products of features times weights
}

// SumsLen is the number of sums for P coordinates and F features.
func SumsLen(P, F int) int { return 1 + 2*P*P + 2*P + F*F }

// SumsLen is the number of sums that Sum writes.
func (k *Jackknife) SumsLen() int { return SumsLen(k.P, k.Nf) }

// view returns the sums in a list of SumsLen numbers.
func (k *Jackknife) view(list []float64) sums {
	next := func(n int) []float64 {
		part := list[:n:n]
		list = list[n:]
		return part
	}
	P, F := k.P, k.Nf
	return sums{weight: next(1), hessian: next(P * P), moves: next(P * P), grad: next(P), terms: next(P), shares: next(F * F)}
}

// Sum writes the sums over rows from to before to of the objective into dst, SumsLen
// numbers.
func (k *Jackknife) Sum(ctx context.Context, dst []float64, from, to int) error {
	if k.summed == nil {
		b := newBatch(k, false)
		k.summed = &b
	}
	clear(dst)
	s := k.view(dst)
	for ; from < to; from += BatchRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := k.summed.load(from, min(from+BatchRows, to)); err != nil {
			return err
		}
		k.summed.addTo(s)
	}
	return nil
}

// assemble computes hessian, moves and grad from the sums over all rows, whose memory it reuses.
func (k *Jackknife) assemble(list []float64) error {
	P, s := k.P, k.view(list)
	k.hessian, k.moves, k.grad, k.terms = s.hessian, s.moves, s.grad, s.terms
	for p := range P {
		for q := p; q < P; q++ {
			k.moves[p*P+q] = (k.moves[p*P+q] + k.normalMoves(s.shares, p, q)) / s.weight[0]
		}
	}
	from := P - k.F.Q*k.F.S
	k.problem.AddPenaltyProduct(k.F.Shape, k.grad[from:], k.F.Theta)
	k.problem.AddPenaltyHessian(k.F.Shape, k.hessian, P, from)
	if !(framework.Point{k.grad, k.hessian, k.moves}).Finite() {
		return rows.ErrOverflow
	}
	return nil
}

// normalMoves is the part of an entry of the moves normal to the span of Q.
func (k *Jackknife) normalMoves(shares []float64, p, q int) (sum float64) {
	for _, t := range k.TermsOf(p) {
		for _, u := range k.TermsOf(q) {
			if t.Row == u.Row && t.Row >= k.F.M {
				sum += t.Sign * u.Sign * shares[min(t.Feature, u.Feature)*k.Nf+max(t.Feature, u.Feature)]
			}
		}
	}
	return sum
}

// Factorize assembles the Hessian from the sums over all rows, which it overwrites, computes its Cholesky
// factor in place, and fills the lower triangle of moves.
func (k *Jackknife) Factorize(sums []float64) error {
	if err := k.assemble(sums); err != nil {
		return err
	}
	return k.factorize()
}

func (k *Jackknife) factorize() error {
	P := k.P
	for i := range P {
		k.hessian[i*P+i] += jitter * k.terms[i]
		for j := range i {
			k.moves[i*P+j] = k.moves[j*P+i]
		}
	}
	var ok bool
	k.factor, ok = lapack64.Potrf(blas64.Symmetric{N: P, Stride: P, Uplo: blas.Upper, Data: k.hessian})
	if !ok {
		return fmt.Errorf("scqm: a small change of the sheet lowers the objective, or leaves it as it is: fit with more iterations or a smaller tolerance, or with a ridge: %w", ErrNotMinimum)
	}
	return nil
}

// pull writes J'g for features h.
func (k *Jackknife) pull(dst, g, h []float64) {
	for p := range dst {
		dst[p] = 0
		for _, t := range k.TermsOf(p) {
			dst[p] += t.Sign * g[t.Row] * h[t.Feature]
		}
	}
}

// scatter writes v as the D x F matrix M with de = M h.
func (k *Jackknife) scatter(m, v []float64) {
	clear(m)
	for c, x := range v {
		for _, t := range k.TermsOf(c) {
			m[t.Row*k.Nf+t.Feature] += t.Sign * x
		}
	}
}

// Remaining is the distance by which a Newton step of the whole fit moves the sheet.
func (k *Jackknife) Remaining() float64 {
	step, moved := slices.Clone(k.grad), make([]float64, k.P)
	k.solve(step, 1)
	times(moved, k.moves, step, 1)
	return math.Sqrt(math.Max(0, floats.Dot(step, moved)))
}

// times writes the products of the symmetric matrix a with n vectors, the rows
// of x, into those of dst.
func times(dst, a, x []float64, n int) {
	P := len(x) / n
	dense.FrameProducts(dst, P, nil, a, nil, x, P, n, P)
}

// Numbers returns the matrices that LeaveOut needs: the factor and the moves, P x P each.
func (k *Jackknife) Numbers() [2][]float64 { return [2][]float64{k.hessian, k.moves} }

// Restore sets the Numbers of another jackknife at the same sheet, instead of sums and Factorize.
func (k *Jackknife) Restore(of [2][]float64) error {
	P := k.P
	for _, list := range of {
		if len(list) != P*P {
			return fmt.Errorf("scqm: influence by %d numbers, want %d: %w", len(list), P*P, rows.ErrInput)
		}
		for _, v := range list {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("scqm: influence by numbers that are not finite: %w", rows.ErrInput)
			}
		}
	}
	k.hessian, k.moves = of[0], of[1]
	for i := range P {
		if !(k.hessian[i*P+i] > 0) {
			return fmt.Errorf("scqm: influence by a factor that is none: %w", rows.ErrInput)
		}
	}
	k.factor = blas64.Triangular{N: P, Stride: P, Data: k.hessian, Uplo: blas.Upper, Diag: blas.NonUnit}
	return nil
}
