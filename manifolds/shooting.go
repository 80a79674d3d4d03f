package manifolds

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

const (
	// aimed is the distance from the target, in radians, that counts as zero. missed is the distance from which on
	// the target is not reached.
	aimed, missed = 0x1p-47, 0x1p-36
	// aimSteps bounds the steps of Newton's method, krylovSize the products with the derivative in each.
	aimSteps, krylovSize = 40, 100
	// longestAim bounds the length of a step, in radians.
	longestAim = 1
	// aimDifference is the step length for differentiating the end of a geodesic.
	aimDifference = 0x1p-24
)

// shooting finds the geodesic of St(p+k, p) that leads from [I; 0] to a target. Matrices are (p+k) x p, row-major.
type shooting struct {
	p, k       int
	target     []float64
	v          []float64 // [A; R], the tangent vector
	turn, back mat.Dense // exp([2A -R'; R 0]) and exp(A)
	end        []float64
}

func newShooting(p, k int) *shooting {
	s := &shooting{p: p, k: k}
	for _, entries := range []*[]float64{&s.target, &s.v, &s.end} {
		*entries = make([]float64, (p+k)*p)
	}
	return s
}

// block returns rows of a matrix.
func (s *shooting) block(entries []float64, from, rows int) blas64.General {
	return matrix(rows, s.p, entries[from*s.p:(from+rows)*s.p])
}

func (s *shooting) dense(entries []float64) *mat.Dense { return mat.NewDense(s.p+s.k, s.p, entries) }

// tangent projects a matrix on the tangent space at [I; 0].
func (s *shooting) tangent(v []float64) { skew(s.block(v, 0, s.p)) }

// arrive follows the geodesic along v to its end
//
//	exp([2A -R'; R 0]) [I; 0] exp(-A).
func (s *shooting) arrive(dst, v []float64) {
	s.turn.Exp(geodesicExponent(s.block(v, 0, s.p), s.block(v, s.p, s.k)))
	s.back.Exp(mat.NewDense(s.p, s.p, v[:s.p*s.p]))
	s.dense(dst).Mul(s.turn.Slice(0, s.p+s.k, 0, s.p), s.back.T()) // A' = -A
}

// carry writes into dst, which is not w, the image of a vector w at the end of the geodesic of turn and back under
// the isometry that maps the end to [I; 0].
func carry(s *shooting, dst, w []float64, turn, back *mat.Dense) {
	var turned mat.Dense
	turned.Mul(turn.T(), s.dense(w))
	s.dense(dst).Mul(&turned, back)
	s.tangent(dst)
}

// aim finds v, shorter than pi, by Newton's method for the tangent vector from the end to the target, mapped to [I;
// 0]. It starts along the projection of the straight line to the target, with its length.
func (s *shooting) aim() error {
	if err := newFrame(s.p+s.k, s.p).restore(s.target); err != nil {
		return err
	}
	copy(s.v, s.target)
	for i := range s.p {
		s.v[i*s.p+i]--
	}
	straight := floats.Norm(s.v, 2)
	s.tangent(s.v)
	if length := floats.Norm(s.v, 2); length > 0 {
		floats.Scale(straight/length, s.v)
	}
	off, ok := s.miss(s.v), true
	for i := 0; i < aimSteps && ok && off > aimed; i++ {
		off, ok = s.step(off)
	}
	if !(off <= missed) || !(floats.Norm(s.v, 2) < math.Pi) {
		return ErrNoShortestGeodesic
	}
	return nil
}

// miss returns the distance from the end of the geodesic along v to the target.
func (s *shooting) miss(v []float64) float64 {
	s.arrive(s.end, v)
	return floats.Distance(s.end, s.target, 2)
}

// step takes a step of Newton's method, shortened if it would not come nearer to the target. It returns the new
// distance to the target and whether it is smaller.
func (s *shooting) step(off float64) (float64, bool) {
	s.arrive(s.end, s.v)
	end := slices.Clone(s.end)
	turn, back := mat.DenseCopyOf(&s.turn), mat.DenseCopyOf(&s.back)
	side, aside, b := make([]float64, len(s.v)), make([]float64, len(s.v)), make([]float64, len(s.v))
	floats.SubTo(side, s.target, end)
	carry(s, b, side, turn, back)
	derivative := func(dst, w []float64) {
		h := aimDifference / floats.Norm(w, 2)
		floats.AddScaledTo(side, s.v, h, w)
		s.arrive(aside, side)
		floats.Sub(aside, end)
		floats.Scale(1/h, aside)
		carry(s, dst, aside, turn, back)
	}
	move := gmres(derivative, b, math.Min(0.1, off), krylovSize)
	if length := floats.Norm(move, 2); length > longestAim {
		floats.Scale(longestAim/length, move)
	}
	for t := 1.0; t > 1e-3; t /= 2 {
		floats.AddScaledTo(side, s.v, t, move)
		if next := s.miss(side); next < (1-0.1*t)*off {
			copy(s.v, side)
			s.tangent(s.v)
			return next, true
		}
	}
	return off, false
}

// gmres solves Ax = b approximately, for products w of a matrix with vectors, until the residual is at most a given
// fraction of b or after the given number of products.
//
// Source: Y. Saad, M. H. Schultz, GMRES: a generalized minimal residual algorithm for
// solving nonsymmetric linear systems, SIAM J. Sci. Stat. Comput. 7 (1986) 856-869.
func gmres(product func(dst, w []float64), b []float64, part float64, most int) []float64 {
	x, size := make([]float64, len(b)), floats.Norm(b, 2)
	if size == 0 {
		return x
	}
	most = min(most, len(b))
	basis := [][]float64{floats.ScaleTo(make([]float64, len(b)), 1/size, b)}
	h := mat.NewDense(most+1, most, nil)
	rhs := make([]float64, most+1)
	rhs[0] = size
	var turns [][2]float64 // Givens rotations that make h triangular
	for j := 0; j < most && math.Abs(rhs[j]) > part*size; j++ {
		w := make([]float64, len(b))
		product(w, basis[j])
		for i, q := range basis {
			c := floats.Dot(q, w)
			h.Set(i, j, c)
			floats.AddScaled(w, -c, q)
		}
		length := floats.Norm(w, 2)
		for i, t := range turns {
			top, bottom := h.At(i, j), h.At(i+1, j)
			h.Set(i, j, t[0]*top+t[1]*bottom)
			h.Set(i+1, j, t[0]*bottom-t[1]*top)
		}
		diagonal := math.Hypot(h.At(j, j), length)
		if diagonal == 0 {
			break
		}
		cos, sin := h.At(j, j)/diagonal, length/diagonal
		turns = append(turns, [2]float64{cos, sin})
		h.Set(j, j, diagonal)
		rhs[j], rhs[j+1] = cos*rhs[j], -sin*rhs[j]
		if length > 0 {
			floats.Scale(1/length, w)
		}
		basis = append(basis, w)
	}
	for i := len(turns) - 1; i >= 0; i-- {
		c := rhs[i]
		for j := i + 1; j < len(turns); j++ {
			c -= h.At(i, j) * rhs[j]
		}
		rhs[i] = c / h.At(i, i)
		floats.AddScaled(x, rhs[i], basis[i])
	}
	return x
}
