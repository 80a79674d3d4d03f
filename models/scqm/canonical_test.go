package scqm

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

func reconstructions(t testing.TB, f *sheet.Sheet, tau []float64) []float64 {
	t.Helper()
	m := &Model{Loss: losses.L2()}
	m.fromSheet(f)
	x, err := m.Reconstruct(context.Background(), tau, 1)
	require.NoError(t, err)
	return x
}

func randomSheet(seed uint64, D, d, s int) *sheet.Sheet {
	return randomModel(seed, D, d, s, 1, nil).sheet()
}

func TestCanonicalFormKeepsTheSheetAndItsLaws(t *testing.T) {
	for _, shape := range [][3]int{{6, 2, 3}, {9, 3, 5}, {4, 1, 1}, {5, 3, 0}, {8, 2, 1}} {
		D, d, s := shape[0], shape[1], shape[2]
		f, tau := randomSheet(3, D, d, s), gaussians(9, d*40)
		before := reconstructions(t, f, tau)
		sheet.Canonicalize(f, tau, nil)
		assert.InDeltaSlice(t, before, reconstructions(t, f, tau), 1e-11, "%v", shape)

		cov := mat.NewSymDense(d, nil)
		stat.CovarianceMatrix(cov, mat.NewDense(40, d, tau), nil)
		for i := range d {
			for j := range i {
				assert.InDelta(t, 0, cov.At(i, j), 1e-12)
			}
			if i > 0 {
				assert.LessOrEqual(t, cov.At(i, i), cov.At(i-1, i-1)*(1+1e-12))
			}
		}
		last := math.Inf(1)
		for k := range s {
			n := mat.Norm(formOf(f, k), 2)
			assert.LessOrEqual(t, n, last*(1+1e-12))
			last = n
			for l := range k {
				var p mat.Dense
				p.Mul(formOf(f, k), formOf(f, l))
				assert.InDelta(t, 0, mat.Trace(&p), 1e-11)
			}
		}
		for k := range f.M {
			axis := f.Axis(k)
			assert.Positive(t, axis[dense.MaxAbsIdx(axis)])
		}
	}
}

// However a sheet is rotated, its canonical form is the same.
func TestCanonicalFormIsUnique(t *testing.T) {
	f, tau := randomSheet(3, 7, 2, 3), gaussians(9, 2*30)
	g, rotated := randomSheet(3, 7, 2, 3), gaussians(9, 2*30)
	r := mat.NewDense(2, 2, []float64{math.Cos(2), -math.Sin(2), math.Sin(2), math.Cos(2)})
	w := make([]float64, 9)
	copy(w, gaussians(5, 9))
	dense.OrthonormalizeRows(w, 3)
	rotate(g, rotated, r, mat.NewDense(3, 3, w))
	require.InDeltaSlice(t, reconstructions(t, f, tau), reconstructions(t, g, rotated), 1e-12)
	sheet.Canonicalize(f, tau, nil)
	sheet.Canonicalize(g, rotated, nil)
	assert.InDeltaSlice(t, f.QT, g.QT, 1e-10)
	assert.InDeltaSlice(t, f.Theta, g.Theta, 1e-10)
	assert.InDeltaSlice(t, tau, rotated, 1e-10)
}

// rotate applies tau -> r tau and V -> V w.
func rotate(f *sheet.Sheet, tau []float64, r, w *mat.Dense) {
	n := len(tau) / f.Latent
	var t, u, v, theta mat.Dense
	t.Mul(mat.NewDense(n, f.Latent, tau), r.T())
	copy(tau, t.RawMatrix().Data)
	u.Mul(r, mat.NewDense(f.Latent, f.D, f.QT[:f.Latent*f.D]))
	copy(f.QT[:f.Latent*f.D], u.RawMatrix().Data)
	for k := range f.S {
		var a mat.Dense
		a.Product(r, formOf(f, k), r.T())
		f.SetForm(k, a.RawMatrix().Data)
	}
	v.Mul(w.T(), mat.NewDense(f.S, f.D, f.QT[f.Latent*f.D:]))
	copy(f.QT[f.Latent*f.D:], v.RawMatrix().Data)
	theta.Mul(mat.NewDense(f.Q, f.S, f.Theta), w)
	copy(f.Theta, theta.RawMatrix().Data)
}

func TestFlatSheetsAreCentred(t *testing.T) {
	f, tau := randomSheet(3, 6, 2, 0), gaussians(9, 2*30)
	floats.AddConst(3, tau)
	before := reconstructions(t, f, tau)
	sheet.Canonicalize(f, tau, nil)
	assert.InDeltaSlice(t, before, reconstructions(t, f, tau), 1e-12)
	assert.InDelta(t, 0, floats.Sum(tau), 1e-12)
}

// TestWeightsCountAsRepetitions compares weighted rows with repeated ones.
func TestWeightsCountAsRepetitions(t *testing.T) {
	for _, s := range []int{0, 2} {
		weights := []float64{2, 0, 1, 3, 1, 0, 2, 1}
		tau, repeated := gaussians(9, 2*len(weights)), []float64(nil)
		for i, w := range weights {
			for range int(w) {
				repeated = append(repeated, tau[2*i:2*i+2]...)
			}
		}
		f, g := randomSheet(3, 6, 2, s), randomSheet(3, 6, 2, s)
		sheet.Canonicalize(f, tau, weights)
		sheet.Canonicalize(g, repeated, nil)
		assert.InDeltaSlice(t, g.C, f.C, 1e-13, "s = %d", s)
		assert.InDeltaSlice(t, g.QT, f.QT, 1e-12, "s = %d", s)
		assert.InDeltaSlice(t, g.Theta, f.Theta, 1e-12, "s = %d", s)
		assert.InDeltaSlice(t, repeated[:2], tau[:2], 1e-12, "s = %d", s)
	}
}

// formOf returns A_k.
func formOf(f *sheet.Sheet, k int) *mat.SymDense {
	a := make([]float64, f.Latent*f.Latent)
	f.Form(a, k)
	return mat.NewSymDense(f.Latent, a)
}
