package arrowhead

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// A sheet is the graph of quadratic functions over its plane, whose slopes at a fixed point are
// -2 A_k delta where its vertex is at delta. A move along tangent coordinates that changes A_k to A'_k and
// shifts the vertex by delta means, to first order, to change heights, slopes and curvatures there. So the
// vertex goes to the t at which the slopes are those,
//
//	sum_k |A'_k t - A_k delta|^2 + mu |t - delta|^2 -> min,
//
// and to the heights -t'A'_k t, in the axes after the move of Q. That differs from the move by second order.
// Where the curvature in a direction is nearly 0, as for a cylinder, rows determine A_k delta rather than
// delta, which a linear move would change much.

// straightFloor is mu relative to sum_k |A'_k|^2.
const straightFloor = 1e-6

// straightener holds the buffers of a move.
type straightener struct {
	form     []float64 // q
	twice    []float64 // d x d: 2 A'_k
	gram     []float64 // d x d
	old      []float64 // d: 2 A_k delta
	to, rest []float64 // d
}

func newStraightener(f *sheet.Sheet) *straightener {
	vec, d := func(n int) []float64 { return make([]float64, n) }, f.Latent
	return &straightener{form: vec(f.Q), twice: vec(d * d), gram: vec(d * d), old: vec(d), to: vec(d), rest: vec(d)}
}

// Straighten implements [framework.Straightener]. Without a ridge, under losses with kinks, it does nothing:
// many objectives have no minimum then, and long moves along their valleys mostly end higher.
func (a *Hessian) Straighten(dst, x framework.Point, v, other []float64) {
	if _, kinks := a.o.PlainLoss().(framework.Smoother); kinks && a.o.Lambda == 0 {
		return
	}
	a.prepare(x)
	if a.straight == nil {
		a.straight = newStraightener(a.F)
	}
	f, fr, s := a.F, a.Frame, a.straight
	fr.Complete()
	theta, delta, c := dst[objective.BlockTheta], v[:f.Latent], dst[objective.BlockC]
	axis := func(r int) []float64 { return fr.moved[r*f.D : (r+1)*f.D] } // of the plane and the normals in dst
	dense.Transpose(fr.moved, dst[objective.BlockQ], f.D, f.M)
	for r := range f.M {
		floats.AddScaled(c, v[r], axis(r))
		floats.AddScaled(c, -v[r], fr.Axis(r))
	}
	s.find(f, theta, delta)
	for k := range f.S {
		s.column(theta, f.S, k)
		clear(s.old)
		sheet.AddForm(s.old, s.form, s.to)
		floats.AddScaled(c, -dense.Dot(s.old, s.to)/2, axis(f.Latent+k))
	}
	floats.Sub(s.to, delta)
	for j, w := range s.to {
		floats.AddScaled(c, w, axis(j))
	}
	subtractRow(dst[objective.BlockTau], s.to)
	subtractRow(other, s.to)
}

// subtractRow subtracts a row from every row.
func subtractRow(rows, row []float64) {
	if len(row) == 2 {
		x, y := row[0], row[1]
		for i := 0; i+1 < len(rows); i += 2 {
			rows[i] -= x
			rows[i+1] -= y
		}
		return
	}
	for i := 0; i < len(rows); i += len(row) {
		floats.Sub(rows[i:i+len(row)], row)
	}
}

// column loads the form A_k of theta.
func (s *straightener) column(theta []float64, columns, k int) {
	for a := range s.form {
		s.form[a] = theta[a*columns+k]
	}
}

// find writes the vertex, or delta where it is not unique.
func (s *straightener) find(f *sheet.Sheet, theta, delta []float64) {
	d := f.Latent
	clear(s.gram)
	clear(s.to)
	for k := range f.S {
		clear(s.twice)
		clear(s.old)
		s.column(f.Theta, f.S, k)
		sheet.AddForm(s.old, s.form, delta)
		s.column(theta, f.S, k)
		f.AddCurvature(s.twice, s.form)
		for i := range d {
			row := s.twice[i*d : (i+1)*d]
			s.to[i] += dense.Dot(row, s.old)
			for j := range d {
				s.gram[i*d+j] += dense.Dot(row, s.twice[j*d:(j+1)*d])
			}
		}
	}
	var floor float64
	for i := range d {
		floor += straightFloor * s.gram[i*d+i]
	}
	for i := range d {
		s.gram[i*d+i] += floor
		s.to[i] += floor * delta[i]
	}
	if !(floor > 0) || math.IsInf(floor, 0) || !dense.FactorCholesky(s.gram, d, 0, 0) {
		copy(s.to, delta)
		return
	}
	dense.SolveCholesky(s.to, s.gram, d)
	if !(floats.Norm(s.to, math.Inf(1)) <= mostLonger*floats.Norm(delta, math.Inf(1))) {
		copy(s.to, delta)
	}
}

// mostLonger bounds the shift of the vertex, as a multiple of that of the move.
const mostLonger = 100
