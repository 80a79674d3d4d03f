package scqm

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
)

// commonSystem is the normal equations where W_i is a number w_i times a matrix
// B common to all rows: I, or 2M for the loss r'Mr. With the weighted mean
// phi of the phi_i, psi_i = phi_i - phi, and c moved along by -V dTheta' phi,
// the equations of Theta are
//
//	(sum_i w_i psi_i psi_i') dTheta V'BV + 2 Lambda diag(u) dTheta = -g,
//
// one system of q unknowns for each eigenvector of V'BV. Entries of diagonal
// W_i, where there are too many for an [entrySystem], are replaced by the mean
// of each row.
type commonSystem struct {
	columns int           // weights per row
	metric  *mat.Cholesky // of M; nil where B = I
	matrix  []float64     // M
	lambda  float64
	weight  float64   // sum w_i
	mean    []float64 // q: the mean phi
	gram    []float64 // q x q: sum w psi psi'
	parts   [][]float64

	values, vectors []float64 // of V'BV
	rotated         []float64 // q x s
	factor, column  []float64 // q x q, q
}

func newCommonSystem(o *objective, f *sheet, form weightForm) *commonSystem {
	s := &commonSystem{
		columns: 1, mean: make([]float64, f.q), gram: make([]float64, f.q*f.q),
		values: make([]float64, f.s), vectors: make([]float64, f.s*f.s),
		rotated: make([]float64, f.q*f.s), factor: make([]float64, f.q*f.q), column: make([]float64, f.q),
		parts: make([][]float64, par.Shards(o.Data().N)),
	}
	if form == perEntry {
		s.columns = f.D
	}
	if form == perMatrix {
		s.matrix = o.Loss().(framework.Quadratic).Matrix()
	}
	for i := range s.parts {
		s.parts[i] = make([]float64, 1+f.q+f.q*f.q+f.q)
	}
	return s
}

func (s *commonSystem) assemble(o *objective, f *sheet, tau, w []float64) error {
	s.lambda = o.Lambda
	par.Do(o.Threads(), len(s.parts), func(_, shard int) {
		part := s.parts[shard]
		clear(part)
		moments, phi := part[:1+f.q+f.q*f.q], part[1+f.q+f.q*f.q:]
		lo, hi := par.Bounds(o.Data().N, shard)
		for i := lo; i < hi; i++ {
			v := floats.Sum(w[i*s.columns:(i+1)*s.columns]) / float64(s.columns)
			vech(phi, tau[i*f.d:(i+1)*f.d])
			moments[0] += v
			floats.AddScaled(moments[1:1+f.q], v, phi)
			dense.AddOuterProduct(moments[1+f.q:], phi, v)
		}
	})
	s.weight = 0
	clear(s.mean)
	clear(s.gram)
	for _, part := range s.parts {
		s.weight += part[0]
		floats.Add(s.mean, part[1:1+f.q])
		floats.Add(s.gram, part[1+f.q:1+f.q+f.q*f.q])
	}
	if s.weight > 0 {
		floats.Scale(1/s.weight, s.mean)
	}
	for a := range f.q {
		for c := range a + 1 {
			v := s.gram[c*f.q+a] - s.weight*s.mean[a]*s.mean[c]
			s.gram[a*f.q+c], s.gram[c*f.q+a] = v, v
		}
	}
	if err := s.diagonalize(o, f); err != nil {
		return err
	}
	return o.Context().Err()
}

// diagonalize finds the eigenvectors of V'BV.
func (s *commonSystem) diagonalize(o *objective, f *sheet) error {
	clear(s.vectors)
	for k := range f.s {
		s.values[k], s.vectors[k*f.s+k] = 1, 1
	}
	if s.matrix == nil {
		return nil
	}
	if s.metric == nil {
		s.metric = new(mat.Cholesky)
		if !s.metric.Factorize(mat.NewSymDense(f.D, s.matrix)) {
			return fmt.Errorf("scqm: loss %s: its matrix is not positive definite to working precision: %w", o.Loss().Name(), ErrInput)
		}
	}
	if f.s == 0 {
		return nil
	}
	v := mat.NewDense(f.s, f.D, f.qt[f.d*f.D:])
	var mv, b mat.Dense
	mv.Mul(v, mat.NewSymDense(f.D, s.matrix))
	b.Mul(&mv, v.T())
	sym := mat.NewSymDense(f.s, nil)
	for k := range f.s {
		for l := range k + 1 {
			sym.SetSym(k, l, b.At(k, l)+b.At(l, k))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(sym, true) {
		return fmt.Errorf("scqm: loss %s: the eigenvalues of V'MV were not found: %w", o.Loss().Name(), ErrInput)
	}
	eigen.Values(s.values)
	eigen.VectorsTo(mat.NewDense(f.s, f.s, s.vectors))
	return nil
}

func (s *commonSystem) solve(f *sheet, dc, dt, gc, gt []float64) {
	s.solveTheta(f, dt, gc, gt)
	floats.ScaleTo(dc, -1/s.weight, gc)
	if s.metric != nil {
		v := mat.NewVecDense(f.D, dc)
		// The factor exists; a bad condition is no reason to stop, as the line
		// search tries the step.
		_ = s.metric.SolveVecTo(v, v)
		floats.Scale(0.5, dc)
	}
	for a, u := range s.mean {
		for k := range f.s {
			floats.AddScaled(dc, -u*dt[a*f.s+k], f.axis(f.d+k))
		}
	}
}

// solveTheta solves for the part of Theta.
func (s *commonSystem) solveTheta(f *sheet, dt, gc, gt []float64) {
	if f.s == 0 {
		return
	}
	r, e := mat.NewDense(f.q, f.s, s.rotated), mat.NewDense(f.s, f.s, s.vectors)
	copy(dt, gt)
	for k := range f.s {
		v := floats.Dot(f.axis(f.d+k), gc)
		for a, u := range s.mean {
			dt[a*f.s+k] -= u * v
		}
	}
	step := mat.NewDense(f.q, f.s, dt)
	r.Mul(step, e)
	for k, w := range s.values {
		for a := range f.q {
			for c := range f.q {
				s.factor[a*f.q+c] = w * s.gram[a*f.q+c]
			}
			s.factor[a*f.q+a] += 2 * s.lambda * vechWeight(f.d, a)
			s.column[a] = -r.At(a, k)
		}
		dense.JitteredCholesky(s.factor, f.q)
		dense.SolveCholesky(s.column, s.factor, f.q)
		r.SetCol(k, s.column)
	}
	step.Mul(r, e.T())
}
