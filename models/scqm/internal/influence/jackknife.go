package influence

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/arrowhead"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// maxCoordinates bounds the order of the matrices.
	maxCoordinates = 8000
	// jitter is added to each diagonal entry, relative to the terms whose difference it is. Without it, rounding
	// could give negative curvature to directions that hardly change the sheet, as those of a nearly flat one.
	jitter = 1e-12
)

// ErrNotMinimum reports a model that is not a minimum for the given rows.
var ErrNotMinimum = errors.New("the model is not at a minimum")

// Jackknife computes the first-order change of a fit when rows are left out. Its coordinates are those of
// [arrowhead.Chart] without the directions that do not change the sheet: rotations within U and within V and, if the
// sheet is flat, shifts along U.
//
// The Hessian of the cost with Tau eliminated is
//
//	H = A - sum_i B_i C_i^-1 B_i' + penalty,
//
// with A, B_i, C_i and e_i of [arrowhead.Hessian]. A step v moves the points nearest to the rows by the mean square
//
//	v'Mv = sum_i w_i |(J_i - E_i C_i^-1 B_i') v|^2 / sum_i w_i.
//
// where J_i = de_i/dv, E_i = de_i/dtau_i. For P coordinates the sums take n P^2 (d + m) operations, the solution P^3.
type Jackknife struct {
	*arrowhead.Chart
	// Factor is the Cholesky factor of H, Moves is M: P x P each.
	Factor, Moves []float64
	// Remaining is the distance by which a Newton step of the whole fit moves the sheet.
	Remaining float64

	at      framework.Point // c, Q and Theta
	grad    []float64       // P: of the cost
	terms   []float64       // P: sums of the absolute terms of the diagonal of H
	summed  *batch
	workers []*response // by goroutine
}

// New prepares the jackknife of a sheet.
func New(f *sheet.Sheet) (*Jackknife, error) {
	if size := arrowhead.OuterDim(f.Shape, false); size > maxCoordinates {
		return nil, fmt.Errorf("scqm: the sheet has %d numbers and second derivatives serve up to %d: use fewer columns, such as leading principal components: %w", size, maxCoordinates, rows.ErrInput)
	}
	q := make([]float64, f.D*f.M)
	dense.Transpose(q, f.QT, f.M, f.D)
	return &Jackknife{Chart: arrowhead.NewChart(f, false), at: framework.Point{f.C, q, f.Theta, nil}}, nil
}

// sums are views of the sums over rows in one slice.
type sums struct {
	hessian, moves []float64 // P x P, upper triangles; moves lacks the rows of J from m on
	weight         []float64 // 1: total weight of the rows
	grad, terms    []float64 // P
	shares         []float64 // F x F: products of features times weights
}

// SumsLen is the length of the sums of [Jackknife.Sum], for P coordinates and F features.
func SumsLen(P, F int) int { return 1 + 2*P*P + 2*P + F*F }

// view returns the parts of a slice of [SumsLen] numbers.
func (k *Jackknife) view(list []float64) sums {
	next := func(n int) []float64 {
		part := list[:n:n]
		list = list[n:]
		return part
	}
	P, F := k.P, k.Nf
	return sums{weight: next(1), hessian: next(P * P), moves: next(P * P), grad: next(P), terms: next(P), shares: next(F * F)}
}

// Sum adds the sums over the rows of an objective to dst, which has SumsLen numbers. The coordinates of the rows must
// be at minima.
func (k *Jackknife) Sum(dst []float64, o *objective.Objective, tau []float64) error {
	if k.summed == nil {
		k.summed = newBatch(k, false)
	}
	s, n := k.view(dst), o.Data().N
	for from := 0; from < n; from += BatchRows {
		if err := k.summed.load(o, tau, from, min(from+BatchRows, n)); err != nil {
			return err
		}
		k.summed.addTo(s)
	}
	return nil
}

// Solve computes Factor, Moves and Remaining from the sums over all rows. It overwrites and keeps their memory.
func (k *Jackknife) Solve(sums []float64, penalty objective.Regularizer) error {
	if err := k.assemble(sums, penalty); err != nil {
		return err
	}
	if err := k.factorize(); err != nil {
		return err
	}
	step, moved := slices.Clone(k.grad), make([]float64, k.P)
	k.solve(step, 1)
	k.move(moved, step, 1)
	k.Remaining = math.Sqrt(math.Max(0, floats.Dot(step, moved)))
	return nil
}

// assemble computes the moves, and the Hessian in the memory of its factor.
func (k *Jackknife) assemble(list []float64, penalty objective.Regularizer) error {
	P, s := k.P, k.view(list)
	k.Factor, k.Moves, k.grad, k.terms = s.hessian, s.moves, s.grad, s.terms
	for p := range P {
		for q := p; q < P; q++ {
			k.Moves[p*P+q] = (k.Moves[p*P+q] + k.normalMoves(s.shares, p, q)) / s.weight[0]
			k.Moves[q*P+p] = k.Moves[p*P+q]
		}
	}
	from := P - k.F.Q*k.F.S
	penalty.AddPenaltyProduct(k.F.Shape, k.grad[from:], k.F.Theta)
	penalty.AddPenaltyHessian(k.F.Shape, k.Factor, P, from)
	if !(framework.Point{k.grad, k.Factor, k.Moves}).Finite() {
		return rows.ErrOverflow
	}
	return nil
}

// normalMoves is the part of an entry of the moves that is normal to the span of Q.
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

// factorize replaces the Hessian by its Cholesky factor.
func (k *Jackknife) factorize() error {
	for i, v := range k.terms {
		k.Factor[i*k.P+i] += jitter * v
	}
	if _, ok := lapack64.Potrf(blas64.Symmetric{N: k.P, Stride: k.P, Uplo: blas.Upper, Data: k.Factor}); !ok {
		return fmt.Errorf("scqm: a small change of the sheet lowers the objective, or leaves it as it is: fit with more iterations or a smaller tolerance, or with a ridge: %w", ErrNotMinimum)
	}
	return nil
}

// solve overwrites b, with n columns, by H^-1 b.
func (k *Jackknife) solve(b []float64, n int) {
	factor := blas64.Triangular{N: k.P, Stride: k.P, Data: k.Factor, Uplo: blas.Upper, Diag: blas.NonUnit}
	lapack64.Potrs(factor, blas64.General{Rows: k.P, Cols: n, Stride: n, Data: b})
}

// move multiplies M by n vectors, the rows of x, and writes the products into the rows of dst.
func (k *Jackknife) move(dst, x []float64, n int) {
	dense.FrameProducts(dst, k.P, nil, k.Moves, nil, x, k.P, n, k.P)
}
