package influence

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/arrowhead"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// BatchRows is the number of rows whose derivatives are held at a time.
const BatchRows = 32

// batch holds derivatives of the weighted losses of some rows, in the frame of the sheet; see [arrowhead.Hessian] for
// the notation.
type batch struct {
	k        *Jackknife
	rowsOnly bool // without A
	n        int

	o           *objective.Objective // of the rows
	tau         []float64            // n x d
	second      *arrowhead.Hessian
	of          *latent.Arrowhead
	h, e, g     []float64 // n x F, n x D: features, residuals, and gradients
	roots       []float64 // n x d x d: R_i with C_i^-1 = R_i R_i'
	b           []float64 // n d x P: the columns of B_i R_i
	inverse     *dense.InverseRoot
	dh          []float64 // F x d
	left, right []float64 // rows of P numbers: left'right is added to a sum
}

func newBatch(k *Jackknife, rowsOnly bool) *batch {
	d := k.F.Latent
	return &batch{
		k: k, rowsOnly: rowsOnly, inverse: dense.NewInverseRoot(d), dh: make([]float64, k.Nf*d),
		roots: make([]float64, BatchRows*d*d), b: make([]float64, BatchRows*d*k.P),
	}
}

// load computes the derivatives of rows [from, to) of an objective.
func (b *batch) load(o *objective.Objective, tau []float64, from, to int) error {
	k, d := b.k, b.k.F.Latent
	b.n, b.tau = to-from, tau[from*d:to*d]
	if err := b.setRows(o, from, to); err != nil {
		return err
	}
	at := framework.Point{k.at[objective.BlockC], k.at[objective.BlockQ], k.at[objective.BlockTheta], b.tau}
	if _, _, err := b.second.AssembleHessian(b.of, at); err != nil {
		return err
	}
	b.h, b.e, b.g = b.second.Rows()
	nd := b.of.Inner()
	for i := range b.n {
		b.inverse.R = b.root(i)
		b.inverse.Find(b.of.C[i*d*d : (i+1)*d*d])
		for p := range k.P {
			row := b.of.B[p*nd+i*d : p*nd+(i+1)*d]
			b.inverse.Multiply(row, row)
		}
	}
	dense.Transpose(b.b, b.of.B, k.P, nd)
	return nil
}

// setRows sets the rows of the objective. It makes a new objective if the number of rows changes.
func (b *batch) setRows(o *objective.Objective, from, to int) (err error) {
	k, x := b.k, o.Data().Slice(from, to)
	if b.o != nil && b.o.Data().N == b.n {
		b.o.SetData(x)
		return nil
	}
	if b.o, err = objective.New(o.Context(), x, o.Loss(), k.F.Latent, k.F.S, 1); err != nil {
		return err
	}
	b.second = arrowhead.NewDistinct(b.o, b.rowsOnly)
	shape := latent.ArrowheadShape{Rows: b.n, Dim: k.F.Latent}
	b.of = latent.NewArrowhead(shape)
	b.of.Outer, b.of.B = k.P, make([]float64, k.P*shape.Inner())
	if !b.rowsOnly {
		b.of.A, b.of.OuterGrad = make([]float64, k.P*k.P), make([]float64, k.P)
	}
	return nil
}

// root returns R_i.
func (b *batch) root(i int) []float64 {
	size := b.k.F.Latent * b.k.F.Latent
	return b.roots[i*size : (i+1)*size]
}

// column returns column j of B_i R_i.
func (b *batch) column(i, j int) []float64 {
	at := i*b.k.F.Latent + j
	return b.b[at*b.k.P : (at+1)*b.k.P]
}

// slopes returns the m x d derivatives of z with respect to tau_i, times R_i.
func (b *batch) slopes(i int) []float64 {
	d := b.k.F.Latent
	b.k.Jacobian(b.dh, b.tau[i*d:(i+1)*d])
	slopes := b.dh[d : (1+b.k.F.M)*d]
	b.inverse.R = b.root(i)
	for r := range b.k.F.M {
		b.inverse.Multiply(slopes[r*d:(r+1)*d], slopes[r*d:(r+1)*d])
	}
	return slopes
}

// addTo adds the terms of the rows to sums.
func (b *batch) addTo(s sums) {
	P, nf := b.k.P, b.k.Nf
	for p := range P {
		floats.Add(s.hessian[p*P+p:(p+1)*P], b.of.A[p*P+p:(p+1)*P])
		s.terms[p] += math.Abs(b.of.A[p*P+p])
	}
	floats.Add(s.grad, b.of.OuterGrad)
	columns := b.b[:b.of.Inner()*P]
	b.left, b.right = append(b.left[:0], columns...), b.right[:0]
	floats.Scale(-1, b.left)
	dense.AddWeightedSquare(s.hessian, b.left, columns, b.of.Inner(), P)
	b.left = b.left[:0]
	for i := range b.n {
		if weight := b.o.Data().Weight(i); weight > 0 {
			s.weight[0] += weight
			dense.AddOuterProduct(s.shares, b.h[i*nf:(i+1)*nf], weight)
			b.addMoves(i, weight)
		}
	}
	dense.AddWeightedSquare(s.moves, b.left, b.right, len(b.right)/P, P)
}

// addMoves appends the first m rows of J - E C^-1 B' of row i: the derivative of f(tau_i) within the span of Q, if
// tau_i stays at its minimum.
func (b *batch) addMoves(i int, weight float64) {
	k := b.k
	d, m, P := k.F.Latent, k.F.M, k.P
	h, from := b.h[i*k.Nf:(i+1)*k.Nf], len(b.right)
	b.right = append(b.right, make([]float64, m*P)...)
	for p := range P {
		for _, t := range k.TermsOf(p) {
			if t.Row < m {
				b.right[from+t.Row*P+p] += t.Sign * h[t.Feature]
			}
		}
	}
	for at, v := range b.slopes(i) {
		r, j := at/d, at%d
		floats.AddScaled(b.right[from+r*P:from+(r+1)*P], -v, b.column(i, j))
	}
	b.left = append(b.left, b.right[from:]...)
	floats.Scale(weight, b.left[from:])
}
