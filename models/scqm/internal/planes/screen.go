package planes

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
)

const (
	// farScores is the length of scores or products, in medians, above which a row is downweighted.
	farScores = 2.5
	// signDraws is the number of random sign flips. A direction of curvature is significant if its singular value
	// exceeds the one of rank signRank among them, the 95 % quantile.
	signDraws, signRank = 99, 94
	// leastProducts is the relative variance below which a combination of products is dropped.
	leastProducts = 1e-10
	// pairs bounds the number of products of scores in the plane, times the number of scores off the plane.
	pairs = 420
)

// Evidence is the result of the test for curvature off a plane.
type Evidence struct {
	// P is the p-value of the correlation of products of scores with scores off the plane,
	// under the hypothesis that the distribution is symmetric about the plane.
	P float64

	c *correlation // nil where products vanish
}

// Screen tests for curvature off a plane. It regresses the leading scores off the plane on the products of the scores
// in the plane. From both it first removes what 1 and the scores predict, and it downweights outliers. It compares
// the sum of squares with that under random signs of the rows.
func (s *Scores) Screen(p *Plane) Evidence {
	c, ok := s.correlate(p)
	if !ok {
		return Evidence{P: 1}
	}
	return Evidence{P: totalProbability(c), c: c}
}

// orient rotates the axes off the plane to the directions of curvature, the strongest first.
func (s *Scores) orient(p *Plane) {
	c, ok := s.correlate(p)
	if !ok {
		return
	}
	var turned mat.Dense
	m, _ := c.v.Dims()
	off := p.turn[p.d*s.k:]
	turned.Mul(c.v.T(), mat.NewDense(m, s.k, slices.Clone(off[:m*s.k])))
	copy(off, turned.RawMatrix().Data)
}

// correlation is the matrix Q'Y with its singular values and right singular vectors. Y are the scores off a plane,
// and Q is an orthonormal basis of the products of the scores in the plane.
type correlation struct {
	q, y, qy, v *mat.Dense
	values      []float64
}

// correlate computes the correlation. It returns false if the products vanish.
func (s *Scores) correlate(p *Plane) (*correlation, bool) {
	a, y := s.within(p)
	h := products(a)
	w := make([]float64, len(s.weights))
	for i, v := range s.weights {
		w[i] = math.Sqrt(v)
	}
	s.residuals(h, a)
	s.residuals(y, a)
	weighDown(w, h)
	weighDown(w, y)
	scaleRows(y, w)
	c := &correlation{q: orthogonal(h, w), y: y, qy: new(mat.Dense), v: new(mat.Dense)}
	if c.q == nil {
		return nil, false
	}
	c.qy.Mul(c.q.T(), y)
	var svd mat.SVD
	if !svd.Factorize(c.qy, mat.SVDFull) {
		return nil, false
	}
	svd.VTo(c.v)
	c.values = svd.Values(nil)
	return c, true
}

// within returns the standardised scores in the plane, n x d, and the scores off it.
func (s *Scores) within(p *Plane) (in, off *mat.Dense) {
	n, k, d := s.sample.N, s.k, p.d
	z := make([]float64, n*k)
	for i, v := range s.y {
		z[i] = v * s.scale[i%k]
	}
	var turned mat.Dense
	turned.Mul(mat.NewDense(n, k, z), mat.NewDense(k, k, p.turn).T())
	in, off = mat.DenseCopyOf(turned.Slice(0, n, 0, d)), mat.DenseCopyOf(turned.Slice(0, n, d, min(k, d+offPlane, d+max(1, pairs/(features(d)-1-d)))))
	total := float64(n)
	for j := range d {
		var mean, square float64
		for i := range n {
			v := in.At(i, j)
			mean += s.weights[i] * v / total
			square += s.weights[i] * v * v / total
		}
		deviation := math.Sqrt(math.Max(square-mean*mean, 0))
		if deviation == 0 {
			deviation = 1
		}
		for i := range n {
			in.Set(i, j, (in.At(i, j)-mean)/deviation)
		}
	}
	return in, off
}

// products returns the products of the scores of each row, n x d(d+1)/2.
func products(a *mat.Dense) *mat.Dense {
	n, d := a.Dims()
	h := mat.NewDense(n, d*(d+1)/2, nil)
	for i := range n {
		dense.Vech(h.RawRowView(i), a.RawRowView(i))
	}
	return h
}

// residuals subtracts from y its weighted regression on 1 and a.
func (s *Scores) residuals(y, a *mat.Dense) {
	n, d := a.Dims()
	_, columns := y.Dims()
	f := mat.NewDense(n, 1+d, nil)
	for i := range n {
		row := f.RawRowView(i)
		row[0] = 1
		copy(row[1:], a.RawRowView(i))
	}
	wf := mat.DenseCopyOf(f)
	for i, w := range s.weights {
		floats.Scale(w, wf.RawRowView(i))
	}
	gram, rhs := make([]float64, (1+d)*(1+d)), make([]float64, (1+d)*columns)
	dense.AddProduct(gram, wf.RawMatrix().Data, f.RawMatrix().Data, n, 1+d, 1+d)
	dense.AddProduct(rhs, wf.RawMatrix().Data, y.RawMatrix().Data, n, 1+d, columns)
	dense.JitteredCholesky(gram, 1+d)
	dense.SolveCholeskyRows(rhs, gram, 1+d, columns)
	var predicted mat.Dense
	predicted.Mul(f, mat.NewDense(1+d, columns, rhs))
	y.Sub(y, &predicted)
}

// weighDown downweights rows longer than farScores medians.
func weighDown(w []float64, y *mat.Dense) {
	length := make([]float64, len(w))
	for i := range length {
		length[i] = floats.Norm(y.RawRowView(i), 2)
	}
	far := farScores * slices.Sorted(slices.Values(length))[len(w)/2]
	for i, v := range length {
		if v > far {
			w[i] *= far / v
		}
	}
}

// scaleRows multiplies each row by its weight.
func scaleRows(y *mat.Dense, w []float64) {
	for i, v := range w {
		floats.Scale(v, y.RawRowView(i))
	}
}

// orthogonal returns an orthonormal basis of the columns of h with rows scaled by w; nil if they vanish.
func orthogonal(h *mat.Dense, w []float64) *mat.Dense {
	scaleRows(h, w)
	_, q := h.Dims()
	e := dense.NewSymmetricEigen(q)
	n := len(w)
	dense.AddProduct(e.A, h.RawMatrix().Data, h.RawMatrix().Data, n, q, q)
	if !e.Factorize() {
		return nil
	}
	largest := e.Values[q-1]
	if !(largest > leastProducts*float64(n)) {
		return nil
	}
	var basis []float64
	count := 0
	for k := q - 1; k >= 0 && e.Values[k] > leastProducts*largest; k-- {
		for i := range q {
			basis = append(basis, e.A[i*q+k]/math.Sqrt(e.Values[k]))
		}
		count++
	}
	var out mat.Dense
	out.Mul(h, mat.NewDense(count, q, basis).T())
	return &out
}

// totalProbability returns the p-value of the sum of squares of C = Q'Y under random signs of the rows. It is the
// upper tail of the gamma distribution with the same mean and variance. With p_i = vec(q_i y_i') and G = sum_i p_i
// p_i', these are trace G and 2 (|G|^2 - sum_i |p_i|^4).
//
// Source: F. Satterthwaite, An approximate distribution of estimates of variance components, Biometrics
// Bulletin 2 (1946).
func totalProbability(c *correlation) float64 {
	n, a := c.q.Dims()
	_, b := c.y.Dims()
	p, single := outerProducts(c.q, c.y), 0.0
	for i := range n {
		square := floats.Dot(p[i*a*b:(i+1)*a*b], p[i*a*b:(i+1)*a*b])
		single += square * square
	}
	g := make([]float64, a*b*a*b)
	dense.AddProduct(g, p, p, n, a*b, a*b)
	var mean float64
	for j := range a * b {
		mean += g[j*a*b+j]
	}
	variance := 2 * (floats.Dot(g, g) - single)
	if !(mean > 0) || !(variance > dense.Negligible*mean*mean) {
		return 1
	}
	square := mat.Norm(c.qy, 2)
	return mathext.GammaIncRegComp(mean*mean/variance, square*square*mean/variance)
}

// outerProducts returns vec(q_i y_i') for each row.
func outerProducts(q, y *mat.Dense) []float64 {
	n, a := q.Dims()
	_, b := y.Dims()
	p := make([]float64, n*a*b)
	for i := range n {
		for j, v := range q.RawRowView(i) {
			floats.ScaleTo(p[(i*a+j)*b:(i*a+j+1)*b], v, y.RawRowView(i))
		}
	}
	return p
}

// Directions returns the number of significant directions of curvature. A direction is significant if its singular
// value of Q'Y exceeds the 95 % quantile of the largest one under random signs. Each is tested in the complement of
// the earlier ones, so that strong curvature does not count as noise in the test of weak curvature.
func (e Evidence) Directions(seed uint64) int {
	c := e.c
	if c == nil {
		return 0
	}
	n, a := c.q.Dims()
	_, b := c.y.Dims()
	rng := rand.New(rand.NewPCG(seed, 0x7369676e))
	signs, turned, draws := make([]float64, n*signDraws), new(mat.Dense), make([]float64, signDraws*a*b)
	for i := range signs {
		signs[i] = float64(1 - 2*int(rng.Uint64()&1))
	}
	turned.Mul(c.y, c.v)
	dense.AddProduct(draws, signs, outerProducts(c.q, turned), n, signDraws, a*b)
	var svd mat.SVD
	for count, value := range c.values {
		larger := 0
		for k := range signDraws {
			draw := mat.NewDense(a, b, draws[k*a*b:(k+1)*a*b]).Slice(0, a, count, b)
			if mat.Norm(draw, 2) >= value && (!svd.Factorize(draw, mat.SVDNone) || svd.Values(nil)[0] >= value) {
				larger++
			}
		}
		if larger >= signDraws-signRank {
			return count
		}
	}
	return len(c.values)
}

// Slope compares the fitted curvature of a sheet with that of the rows.
type Slope struct {
	// Slope is sum fitted observed / sum fitted^2: 1 if the rows have the fitted curvature, about 0 if the sheet
	// folds.
	Slope float64
	// Share is the fraction of the variance off the plane, in the curved directions, that the fitted curvature
	// explains, at least 0.
	Share float64
}

// SlopeOf regresses V'(x - c) on Theta'h(U'(x - c)), after removing the linear regression on U'(x - c) from both.
// axes are the rows of U' and V', (d + s) x D, and bend is Theta, d(d+1)/2 x s. No entry of x may be missing.
func SlopeOf(x rows.Data, c, axes, bend []float64, d int) Slope {
	if x = Sample(x); x.N == 0 {
		return Slope{}
	}
	m := len(axes) / x.D
	a, seen := mat.NewDense(x.N, d, nil), mat.NewDense(x.N, m-d, nil)
	x.EachProduct(c, axes, nil, func(i int, z []float64) {
		copy(a.RawRowView(i), z[:d])
		copy(seen.RawRowView(i), z[d:])
	})
	var drawn mat.Dense
	drawn.Mul(products(a), mat.NewDense(d*(d+1)/2, m-d, bend))
	s := &Scores{weights: rows.Shares(x.Weights, x.N)}
	s.residuals(&drawn, a)
	s.residuals(seen, a)
	both := make([]float64, x.N)
	var drawnSquares, seenSquares float64
	for i, w := range s.weights {
		p, y := drawn.RawRowView(i), seen.RawRowView(i)
		both[i] = w * floats.Dot(p, y)
		drawnSquares += w * floats.Dot(p, p)
		seenSquares += w * floats.Dot(y, y)
	}
	sum := floats.Sum(both)
	if !(drawnSquares > 0) || !(seenSquares > 0) {
		return Slope{}
	}
	slope := sum / drawnSquares
	return Slope{Slope: slope, Share: math.Max(0, slope) * math.Max(0, sum/seenSquares)}
}
