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
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/arrowhead"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

const (
	// maxCoordinates bounds the order of the matrices.
	maxCoordinates = 8000
	// BatchRows is the number of rows whose derivatives are held at a time.
	BatchRows = 32
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
//	H = sum_i w_i (J_i'L_i J_i - B_i C_i^-1 B_i') + move + penalty,
//
// with J_i the derivative of the residual and L_i the Hessian of the loss. J_i puts multiples of features into
// rows of the residual, so that the entries of sum_i J_i'L_i J_i are those of the matrices
//
//	X_ab = sum_i w_i h_ia h_ib W'L_i W,
//
// one D x D matrix for each pair of features: a multiple of the identity for radial losses, apart from a term
// of rank one for each row, W' diag W for separable ones. For F = 1 + m + q features and P coordinates the sums
// take n F^2 D operations and n P^2 d for the terms of low rank, the solution P^3.
type Jackknife struct {
	*arrowhead.Chart
	problem *objective.Objective
	tau     []float64

	structure framework.Structure   // of the loss
	second    framework.SecondOrder // its second derivatives

	hessian   []float64         // P x P, upper triangle
	factor    blas64.Triangular // of the Hessian
	moves     []float64         // P x P: v'Mv is the mean of |change of f(tau_j)|^2
	grad      []float64         // P: of the cost
	terms     []float64         // P: sums of the sizes of the terms of the diagonal
	byFeature [][]featureTerm

	list    *rowDerivatives // of a batch
	low     *lowRank
	workers []*response // by goroutine
}

// featureTerm is a row of the residual in which a coordinate has a multiple of a feature.
type featureTerm struct {
	coordinate, row int
	sign            float64
}

// Begin prepares the jackknife at a point of an objective, without its rows: Sum takes some of
// those that the objective has at that time, and Factorize ends it.
func Begin(p *objective.Objective, at framework.Point) (*Jackknife, error) {
	if size := arrowhead.OuterDim(p.Shape(), false); size > maxCoordinates {
		return nil, fmt.Errorf("scqm: the sheet has %d numbers and second derivatives serve up to %d: use fewer columns, such as leading principal components: %w", size, maxCoordinates, rows.ErrInput)
	}
	f := p.NewSheet()
	f.Load(at[objective.BlockC], at[objective.BlockQ], at[objective.BlockTheta])
	k := &Jackknife{Chart: arrowhead.NewChart(f, false), problem: p, tau: at[objective.BlockTau]}
	k.second, k.structure = framework.HessianOf(p.Loss()), framework.StructureOf(p.Loss())
	k.byFeature = make([][]featureTerm, k.Nf)
	for c := range k.P {
		for _, t := range k.TermsOf(c) {
			k.byFeature[t.Feature] = append(k.byFeature[t.Feature], featureTerm{c, t.Row, t.Sign})
		}
	}
	k.Frame.Complete()
	return k, nil
}

// Load sets other rows, with their coordinates at a minimum, for Sum and LeaveOut. The objective must have the
// same shape.
func (k *Jackknife) Load(p *objective.Objective, tau []float64) { k.problem, k.tau = p, tau }

// Sum writes the sums over rows from to before to of the objective into dst, SumsLen
// numbers.
func (k *Jackknife) Sum(ctx context.Context, dst []float64, from, to int) error {
	if k.list == nil {
		k.list, k.low = newRowDerivatives(k, BatchRows), newLowRank(k, BatchRows)
	}
	clear(dst)
	D, nf, s := k.F.D, k.Nf, k.view(dst)
	for ; from < to; from += BatchRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := k.list.load(from, min(from+BatchRows, to)); err != nil {
			return err
		}
		if err := k.list.addForms(s.forms, s.hh); err != nil {
			return err
		}
		for i := range k.list.n {
			weight := k.problem.Data().Weight(from + i)
			h, g := k.list.h[i*nf:(i+1)*nf], k.list.g[i*D:(i+1)*D]
			dense.AddOuterProduct(s.shares, h, weight)
			for r, v := range g {
				floats.AddScaled(s.gh[r*nf:(r+1)*nf], weight*v, h)
			}
			dst[0] += weight
		}
		k.low.add(k.list, s.hessian, s.moves)
	}
	return nil
}

// assemble computes hessian, moves and grad from the sums over all rows, whose memory it reuses.
func (k *Jackknife) assemble(sums []float64) error {
	P, s := k.P, k.view(sums)
	k.hessian, k.moves, k.grad, k.terms = s.hessian, s.moves, make([]float64, P), make([]float64, P)
	for i := range k.terms {
		k.terms[i] = math.Abs(k.hessian[i*P+i])
	}
	var constant []float64 // W'LW of a quadratic loss
	if l, ok := k.problem.Loss().(framework.Quadratic); ok && k.structure == framework.StructureQuadratic {
		constant = make([]float64, k.F.D*k.F.D)
		k.Frame.Quadratic(constant, l.Matrix())
	}
	k.scatterPairs(k.hessian, s.forms, s.hh, constant)
	k.scatterPairs(k.moves, nil, s.shares, nil)
	floats.Scale(1/sums[0], k.moves)
	k.gatherMatrix(k.grad, s.gh)
	k.AddMove(k.hessian, s.gh)
	k.addSlicePenalty()
	for i, size := range k.terms {
		k.terms[i] = size + math.Abs(k.hessian[i*P+i])
	}
	if !(framework.Point{k.grad, k.hessian, k.moves}).Finite() {
		return rows.ErrOverflow
	}
	return nil
}

// scatterPairs adds the contributions of pairs of features to the upper triangle of dst: their forms or, where
// these are nil, the products hh of features times x, where nil stands for the identity.
func (k *Jackknife) scatterPairs(dst []float64, forms [][]float64, hh, x []float64) {
	for a := range k.Nf {
		for b := range k.Nf {
			pair := min(a, b)*k.Nf + max(a, b)
			factor := hh[pair]
			if forms != nil {
				x, factor = k.turnForm(forms[pair]), 1
			}
			k.scatterPair(dst, x, factor, a, b)
		}
	}
}

// turnForm returns a form in the frame, converting a diagonal in the coordinates of the data.
func (k *Jackknife) turnForm(form []float64) []float64 {
	D := k.F.D
	if len(form) == D*D && D > 1 {
		return form
	}
	x, left := make([]float64, D*D), make([]float64, D*D)
	for r := range D {
		floats.MulTo(left[r*D:(r+1)*D], k.Frame.Axis(r), form)
	}
	w := blas64.General{Rows: D, Cols: D, Stride: D, Data: k.Frame.W}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, blas64.General{Rows: D, Cols: D, Stride: D, Data: left}, w, 0,
		blas64.General{Rows: D, Cols: D, Stride: D, Data: x})
	return x
}

// scatterPair adds the contribution of features a and b: factor times x, nil standing for the identity.
func (k *Jackknife) scatterPair(dst, x []float64, factor float64, a, b int) {
	P, D := k.P, k.F.D
	for _, t := range k.byFeature[a] {
		for _, u := range k.byFeature[b] {
			if u.coordinate < t.coordinate {
				continue
			}
			v := factor * t.sign * u.sign
			if x != nil {
				v *= x[t.row*D+u.row]
			} else if t.row != u.row {
				continue
			}
			dst[t.coordinate*P+u.coordinate] += v
		}
	}
}

func (k *Jackknife) addSlicePenalty() {
	f, P := k.F, k.P
	from := P - f.Q*f.S
	k.problem.AddPenaltyProduct(f.Shape, k.grad[from:], f.Theta)
	k.problem.AddPenaltyHessian(f.Shape, k.hessian, P, from)
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

// gatherMatrix writes the products of all coordinates with the D x F matrix n.
func (k *Jackknife) gatherMatrix(dst, n []float64) {
	for c := range dst {
		var sum float64
		for _, t := range k.TermsOf(c) {
			sum += t.Sign * n[t.Row*k.Nf+t.Feature]
		}
		dst[c] = sum
	}
}

// gather writes the products of all coordinates with u h' + g s', where the
// latter is left out if g is nil.
func (k *Jackknife) gather(dst, u, h, g, s []float64) {
	for c := range dst {
		var sum float64
		for _, t := range k.TermsOf(c) {
			v := u[t.Row] * h[t.Feature]
			if g != nil {
				v += g[t.Row] * s[t.Feature]
			}
			sum += t.Sign * v
		}
		dst[c] = sum
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
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, blas64.General{Rows: n, Cols: P, Stride: P, Data: x},
		blas64.General{Rows: P, Cols: P, Stride: P, Data: a}, 0, blas64.General{Rows: n, Cols: P, Stride: P, Data: dst})
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
