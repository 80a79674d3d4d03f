package experiments

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/models/scqm"
)

// kernelPCA is kernel principal component analysis with the kernel
// exp(-|x-y|^2/2m^2), m the median distance of two rows. Rows are reconstructed
// from codes by kernel ridge regression: the same kernel, with the median distance
// of two codes, and the ridge of the smallest error when each row is left out.
//
// Sources: B. Schoelkopf, A. Smola and K.-R. Mueller, Nonlinear component analysis
// as a kernel eigenvalue problem, Neural Computation 10 (1998); G. Bakir, J. Weston
// and B. Schoelkopf, Learning to find pre-images, NIPS 16 (2003).
type kernelPCA struct {
	x      scqm.Data
	d      int
	width  float64   // m
	means  []float64 // of the kernel of each row with all
	mean   float64   // of the kernel
	scaled *mat.Dense

	codes     []float64 // n x d
	codeWidth float64
	centre    []float64  // D
	dual      *mat.Dense // n x D
}

// preimageRidges are those tried.
var preimageRidges = []float64{1e-3, 1e-2, 1e-1, 1}

var errKernel = errors.New("kernel principal components do not exist: rows are all equal")

func newKernelPCA(x scqm.Data, d int) (*kernelPCA, error) {
	k := &kernelPCA{x: x, d: d, width: medianDistance(x.X, x.D), means: make([]float64, x.N), centre: make([]float64, x.D)}
	gram := kernelMatrix(x.X, x.X, x.D, k.width)
	for i := range x.N {
		k.means[i] = floats.Sum(gram.RawRowView(i)) / float64(x.N)
	}
	k.mean = floats.Sum(k.means) / float64(x.N)
	k.centreKernel(gram)
	symmetric := mat.NewSymDense(x.N, nil)
	for i := range x.N {
		for j := i; j < x.N; j++ {
			symmetric.SetSym(i, j, gram.At(i, j))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetric, true) {
		return nil, errKernel
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	k.scaled = mat.NewDense(x.N, d, nil)
	for j := range d {
		value := values[x.N-1-j]
		if !(value > 0) {
			return nil, errKernel
		}
		for i := range x.N {
			k.scaled.Set(i, j, vectors.At(i, x.N-1-j)/math.Sqrt(value))
		}
	}
	var codes mat.Dense
	codes.Mul(gram, k.scaled)
	k.codes = codes.RawMatrix().Data
	return k, k.learnPreimages()
}

// centreKernel makes the kernel of rows with those fitted that of vectors whose
// mean over these is zero.
func (k *kernelPCA) centreKernel(rows *mat.Dense) {
	n, _ := rows.Dims()
	for i := range n {
		row := rows.RawRowView(i)
		mean := floats.Sum(row) / float64(len(row))
		for j := range row {
			row[j] += k.mean - mean - k.means[j]
		}
	}
}

// learnPreimages fits the regression of rows on codes.
func (k *kernelPCA) learnPreimages() error {
	n, D := k.x.N, k.x.D
	centred := mat.NewDense(n, D, slices.Clone(k.x.X))
	for i := range n {
		floats.AddScaled(k.centre, 1/float64(n), centred.RawRowView(i))
	}
	for i := range n {
		floats.Sub(centred.RawRowView(i), k.centre)
	}
	k.codeWidth = medianDistance(k.codes, k.d)
	gram := kernelMatrix(k.codes, k.codes, k.d, k.codeWidth)
	best := math.Inf(1)
	for _, ridge := range preimageRidges {
		ridged := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				ridged.SetSym(i, j, gram.At(i, j))
			}
			ridged.SetSym(i, i, gram.At(i, i)+ridge)
		}
		var factor mat.Cholesky
		var inverse mat.SymDense
		if !factor.Factorize(ridged) || factor.InverseTo(&inverse) != nil {
			continue
		}
		var dual mat.Dense
		dual.Mul(&inverse, centred)
		var sum float64 // of squares of what a row is off when it is left out
		for i := range n {
			off := floats.Norm(dual.RawRowView(i), 2) / inverse.At(i, i)
			sum += off * off
		}
		if sum < best {
			best, k.dual = sum, &dual
		}
	}
	if k.dual == nil {
		return errKernel
	}
	return nil
}

// transform returns the codes of rows.
func (k *kernelPCA) transform(x scqm.Data) []float64 {
	rows := kernelMatrix(x.X, k.x.X, x.D, k.width)
	k.centreKernel(rows)
	var codes mat.Dense
	codes.Mul(rows, k.scaled)
	return codes.RawMatrix().Data
}

// reconstruct returns the rows of codes.
func (k *kernelPCA) reconstruct(codes []float64) []float64 {
	var y mat.Dense
	y.Mul(kernelMatrix(codes, k.codes, k.d, k.codeWidth), k.dual)
	n, _ := y.Dims()
	for i := range n {
		floats.Add(y.RawRowView(i), k.centre)
	}
	return y.RawMatrix().Data
}

// kernelMatrix returns the kernel of each row of x with each of y, of length D.
func kernelMatrix(x, y []float64, D int, width float64) *mat.Dense {
	n, m := len(x)/D, len(y)/D
	k := mat.NewDense(n, m, nil)
	for i := range n {
		for j := range m {
			far := floats.Distance(x[i*D:(i+1)*D], y[j*D:(j+1)*D], 2) / width
			k.Set(i, j, math.Exp(-far*far/2))
		}
	}
	return k
}

// medianDistance is that of two rows of length D, at least the smallest number
// above 0.
func medianDistance(x []float64, D int) float64 {
	var list []float64
	for i := 0; i < len(x); i += D {
		for j := 0; j < i; j += D {
			list = append(list, floats.Distance(x[i:i+D], x[j:j+D], 2))
		}
	}
	if len(list) == 0 {
		return 1
	}
	slices.Sort(list)
	return max(list[len(list)/2], math.SmallestNonzeroFloat64)
}
