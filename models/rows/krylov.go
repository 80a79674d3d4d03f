package rows

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

const (
	// oversampling is the number of vectors of a block beyond the wanted ones. More vectors take fewer reads of the
	// data, and more work in each.
	oversampling = 2
	// eigenPrecision is the residual, in units of the largest eigenvalue, at which eigenpairs count as exact.
	eigenPrecision = 1e-11
)

// effort bounds the work for eigenvectors. Directions of nearly equal variance, as those of noise, take many products
// to separate, which is not necessary.
type effort struct {
	// products bounds the number of products of the matrix with a block.
	products int
	// vectors bounds the order of the projected matrix, whose eigenvectors take its cube in operations, if that is more
	// than three products give; 0 stands for no bound. Large blocks need few products.
	vectors int
	// settled is the growth of the sum of the wanted eigenvalues in the last block step below
	// which the iteration stops, relative to the sum of the other eigenvalues. For second
	// moments that sum is the variance outside the components.
	settled float64
}

// Symmetric is a positive semidefinite matrix that is only used in products.
type Symmetric interface {
	// Order is its number of rows.
	Order() int
	// Trace is the sum of the eigenvalues. It may only be called after Multiply.
	Trace() float64
	// Multiply writes the products of the matrix with the rows of v, l x order, to the rows of dst.
	Multiply(ctx context.Context, dst, v []float64) error
}

// explicit is a symmetric matrix in memory.
type explicit struct {
	a []float64
	n int
}

// Order implements [Symmetric].
func (e explicit) Order() int { return e.n }

// Trace implements [Symmetric].
func (e explicit) Trace() (sum float64) {
	for i := range e.n {
		sum += e.a[i*e.n+i]
	}
	return sum
}

func normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// Multiply implements [Symmetric].
func (e explicit) Multiply(_ context.Context, dst, v []float64) error {
	clear(dst)
	dense.AddRowProduct(dst, v, e.a, len(v)/e.n, e.n, e.n)
	return nil
}

// krylov is the space spanned by a block of random vectors and its repeated products with
// a matrix.
type krylov struct {
	a           Symmetric
	n, l, k     int       // order, vectors of a block, wanted
	count, fits int       // vectors found, and how many there can be
	basis       []float64 // fits x n, orthonormal rows
	images      []float64 // fits x n: their products with a
	projected   []float64 // fits x fits: the lower triangle of basis a basis', count x count
	values      []float64 // k, descending
	vectors     []float64 // k x n
	residual    float64   // the largest of |a v - value v|
}

// krylovEigenvectors returns the k largest eigenvalues of a, descending, and their eigenvectors as rows, from a block
// Krylov space with full orthogonalisation. It reports whether they are accurate eigenvectors. Otherwise they are
// orthonormal directions along which a has almost its largest eigenvalues. There are fewer than k if the rank of a is
// lower.
//
// Sources: N. Halko, P. Martinsson, J. Tropp, Finding structure with randomness:
// probabilistic algorithms for constructing approximate matrix decompositions (2011);
// C. Musco, C. Musco, Randomized block Krylov methods for stronger and faster
// approximate singular value decomposition (2015).
func krylovEigenvectors(ctx context.Context, a Symmetric, k int, most effort) (values, vectors []float64, exact bool, err error) {
	s := newKrylov(a, k, most)
	rng := rand.New(rand.NewPCG(1, 1)) // any start does, but always the same
	if err := a.Multiply(ctx, s.basis[:s.l*s.n], normals(rng, s.l*s.n)); err != nil {
		return nil, nil, false, err
	}
	added := s.orthonormalize(s.l)
	for step := 0; ; step++ {
		if err := ctx.Err(); err != nil {
			return nil, nil, false, fmt.Errorf("scqm: principal components: %w", err)
		}
		if err := s.project(ctx, added); err != nil {
			return nil, nil, false, err
		}
		growth, ok := s.rayleighRitz()
		if !ok {
			return nil, nil, false, fmt.Errorf("scqm: principal components: eigenvalues did not converge: %w", ErrInput)
		}
		exact = s.residual <= eigenPrecision*s.values[0]
		next := min(added, s.fits-s.count)
		if exact || step > 0 && growth <= most.settled*(a.Trace()-floats.Sum(s.values)) || next == 0 {
			break
		}
		copy(s.basis[s.count*s.n:], s.images[(s.count-added)*s.n:(s.count-added+next)*s.n])
		if added = s.orthonormalize(next); added == 0 {
			exact = true // the space holds all that a does not take to 0
			break
		}
	}
	return s.values[:min(k, s.count)], s.vectors[:min(k, s.count)*s.n], exact, nil
}

func newKrylov(a Symmetric, k int, most effort) *krylov {
	s := &krylov{a: a, n: a.Order(), k: k}
	s.l = min(k+oversampling, s.n)
	s.fits = min(most.products*s.l, s.n)
	if most.vectors > 0 {
		s.fits = min(s.fits, max(3*s.l, most.vectors))
	}
	s.basis, s.images = make([]float64, s.fits*s.n), make([]float64, s.fits*s.n)
	s.projected = make([]float64, s.fits*s.fits)
	s.values, s.vectors = make([]float64, k), make([]float64, k*s.n)
	return s
}

// orthonormalize makes the next rows of the basis orthonormal, and drops those that depend on others.
// It does so twice, which suffices, and reads blocks of rows once for all products.
func (s *krylov) orthonormalize(next int) (kept int) {
	block := s.basis[s.count*s.n : (s.count+next)*s.n]
	for range 2 {
		kept = 0
		for i := range next {
			row := block[i*s.n : (i+1)*s.n]
			if norm := floats.Norm(row, 2); norm > 0 {
				floats.Scale(1/norm, row)
			}
		}
		s.removeBasis(block[:next*s.n], next)
		for i := range next {
			row := block[kept*s.n : (kept+1)*s.n]
			copy(row, block[i*s.n:(i+1)*s.n])
			if floats.Norm(row, 2) > dense.Independent && dense.OrthogonalizeRow(block, kept, s.n) {
				kept++
			}
		}
		next = kept
	}
	s.count += kept
	return kept
}

// removeBasis subtracts from rows their projection onto the span of the basis.
func (s *krylov) removeBasis(rows []float64, n int) {
	if s.count == 0 || n == 0 {
		return
	}
	part := make([]float64, n*s.count)
	s.products(part, s.count, rows, n)
	dense.Scale(part, -1)
	dense.AddRowProduct(rows, part, s.basis, n, s.count, s.n)
}

// products writes the products of n rows with the basis, n x stride.
func (s *krylov) products(dst []float64, stride int, rows []float64, n int) {
	dense.FrameProducts(dst, stride, nil, s.basis, nil, rows, s.count, n, s.n)
}

// project computes the products of the last rows of the basis with the matrix, and of these with the basis.
func (s *krylov) project(ctx context.Context, added int) error {
	from := s.count - added
	images := s.images[from*s.n : s.count*s.n]
	if err := s.a.Multiply(ctx, images, s.basis[from*s.n:s.count*s.n]); err != nil {
		return err
	}
	s.products(s.projected[from*s.fits:], s.fits, images, added)
	return nil
}

// rayleighRitz computes the best eigenpairs in the space and their residual. It returns
// the growth of the sum of the eigenvalues.
func (s *krylov) rayleighRitz() (growth float64, ok bool) {
	eigen := dense.NewSymmetricEigen(s.count)
	for i := range s.count {
		for j := i; j < s.count; j++ {
			eigen.A[i*s.count+j] = s.projected[j*s.fits+i]
		}
	}
	if !eigen.Factorize() {
		return 0, false
	}
	turn := make([]float64, s.k*s.count)
	for a := range min(s.k, s.count) {
		column := s.count - 1 - a
		value := math.Max(eigen.Values[column], 0)
		growth += value - s.values[a]
		s.values[a] = value
		for i := range s.count {
			turn[a*s.count+i] = eigen.A[i*s.count+column]
		}
	}
	image := make([]float64, s.k*s.n)
	clear(s.vectors)
	dense.AddRowProduct(s.vectors, turn, s.basis, s.k, s.count, s.n)
	dense.AddRowProduct(image, turn, s.images, s.k, s.count, s.n)
	s.residual = 0
	for a, value := range s.values {
		r := image[a*s.n : (a+1)*s.n]
		floats.AddScaled(r, -value, s.vectors[a*s.n:(a+1)*s.n])
		s.residual = math.Max(s.residual, floats.Norm(r, 2))
	}
	return growth, true
}
