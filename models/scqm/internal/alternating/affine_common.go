package alternating

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
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
// of each row. The sums take nq^2 operations, the solutions sq^3.
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

func newCommonSystem(o *objective.Objective, f *sheet.Sheet, form objective.WeightForm) *commonSystem {
	s := &commonSystem{
		columns: 1, mean: make([]float64, f.Q), gram: make([]float64, f.Q*f.Q),
		values: make([]float64, f.S), vectors: make([]float64, f.S*f.S),
		rotated: make([]float64, f.Q*f.S), factor: make([]float64, f.Q*f.Q), column: make([]float64, f.Q),
		parts: make([][]float64, par.Shards(o.Data().N)),
	}
	if form == objective.PerEntry {
		s.columns = f.D
	}
	if form == objective.PerMatrix {
		s.matrix = o.Loss().(framework.Quadratic).Matrix()
	}
	for i := range s.parts {
		s.parts[i] = make([]float64, 1+f.Q+f.Q*f.Q+f.Q)
	}
	return s
}

func (s *commonSystem) assemble(o *objective.Objective, f *sheet.Sheet, tau, w []float64) error {
	s.lambda = o.Lambda
	par.Do(o.Threads(), len(s.parts), func(_, shard int) {
		part := s.parts[shard]
		clear(part)
		moments, phi := part[:1+f.Q+f.Q*f.Q], part[1+f.Q+f.Q*f.Q:]
		lo, hi := par.Bounds(o.Data().N, shard)
		for i := lo; i < hi; i++ {
			v := floats.Sum(w[i*s.columns:(i+1)*s.columns]) / float64(s.columns)
			sheet.Vech(phi, tau[i*f.Latent:(i+1)*f.Latent])
			moments[0] += v
			floats.AddScaled(moments[1:1+f.Q], v, phi)
			dense.AddOuterProduct(moments[1+f.Q:], phi, v)
		}
	})
	s.weight = 0
	clear(s.mean)
	clear(s.gram)
	for _, part := range s.parts {
		s.weight += part[0]
		floats.Add(s.mean, part[1:1+f.Q])
		floats.Add(s.gram, part[1+f.Q:1+f.Q+f.Q*f.Q])
	}
	if s.weight > 0 {
		floats.Scale(1/s.weight, s.mean)
	}
	for a := range f.Q {
		for c := range a + 1 {
			v := s.gram[c*f.Q+a] - s.weight*s.mean[a]*s.mean[c]
			s.gram[a*f.Q+c], s.gram[c*f.Q+a] = v, v
		}
	}
	if err := s.diagonalize(o, f); err != nil {
		return err
	}
	return o.Context().Err()
}

// diagonalize finds the eigenvectors of V'BV.
func (s *commonSystem) diagonalize(o *objective.Objective, f *sheet.Sheet) error {
	clear(s.vectors)
	for k := range f.S {
		s.values[k], s.vectors[k*f.S+k] = 1, 1
	}
	if s.matrix == nil {
		return nil
	}
	if s.metric == nil {
		s.metric = new(mat.Cholesky)
		if !s.metric.Factorize(mat.NewSymDense(f.D, s.matrix)) {
			return fmt.Errorf("scqm: loss %s: its matrix is not positive definite to working precision: %w", o.Loss().Name(), rows.ErrInput)
		}
	}
	if f.S == 0 {
		return nil
	}
	v := mat.NewDense(f.S, f.D, f.QT[f.Latent*f.D:])
	var mv, b mat.Dense
	mv.Mul(v, mat.NewSymDense(f.D, s.matrix))
	b.Mul(&mv, v.T())
	sym := mat.NewSymDense(f.S, nil)
	for k := range f.S {
		for l := range k + 1 {
			sym.SetSym(k, l, b.At(k, l)+b.At(l, k))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(sym, true) {
		return fmt.Errorf("scqm: loss %s: the eigenvalues of V'MV were not found: %w", o.Loss().Name(), rows.ErrInput)
	}
	eigen.Values(s.values)
	eigen.VectorsTo(mat.NewDense(f.S, f.S, s.vectors))
	return nil
}

func (s *commonSystem) solve(f *sheet.Sheet, dc, dt, gc, gt []float64) {
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
		for k := range f.S {
			floats.AddScaled(dc, -u*dt[a*f.S+k], f.Axis(f.Latent+k))
		}
	}
}

// solveTheta solves for the part of Theta.
func (s *commonSystem) solveTheta(f *sheet.Sheet, dt, gc, gt []float64) {
	if f.S == 0 {
		return
	}
	r, e := mat.NewDense(f.Q, f.S, s.rotated), mat.NewDense(f.S, f.S, s.vectors)
	copy(dt, gt)
	for k := range f.S {
		v := floats.Dot(f.Axis(f.Latent+k), gc)
		for a, u := range s.mean {
			dt[a*f.S+k] -= u * v
		}
	}
	step := mat.NewDense(f.Q, f.S, dt)
	r.Mul(step, e)
	for k, w := range s.values {
		for a := range f.Q {
			for c := range f.Q {
				s.factor[a*f.Q+c] = w * s.gram[a*f.Q+c]
			}
			s.factor[a*f.Q+a] += 2 * s.lambda * sheet.VechWeight(f.Latent, a)
			s.column[a] = -r.At(a, k)
		}
		dense.JitteredCholesky(s.factor, f.Q)
		dense.SolveCholesky(s.column, s.factor, f.Q)
		r.SetCol(k, s.column)
	}
	step.Mul(r, e.T())
}
