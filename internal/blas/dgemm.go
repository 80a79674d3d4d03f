//go:build cgo

package blas

/*
#include <stddef.h>

typedef void (*dgemm)(char *, char *, int *, int *, int *, double *, double *, int *, double *, int *, double *, double *, int *);

static int least(int a, int b) { return a < b ? a : b; }

// The row-major product is the column-major product of the transposes, in the
// other order. Only the first tile along k scales what c holds.
static void scqm_product(void *address, int ta, int tb, int m, int n, int k, double alpha, double *a, int lda,
		double *b, int ldb, double beta, double *c, int ldc, int tm, int tn, int tk) {
	dgemm f = (dgemm)address;
	char *flags = "NT";
	for (int i = 0; i < m; i += tm)
		for (int j = 0; j < n; j += tn)
			for (int l = 0; l < k; l += tk) {
				int rows = least(tm, m - i), columns = least(tn, n - j), inner = least(tk, k - l);
				double keep = l == 0 ? beta : 1;
				double *pa = ta ? a + (ptrdiff_t)l * lda + i : a + (ptrdiff_t)i * lda + l;
				double *pb = tb ? b + (ptrdiff_t)j * ldb + l : b + (ptrdiff_t)l * ldb + j;
				f(flags + tb, flags + ta, &columns, &rows, &inner, &alpha, pb, &ldb, pa, &lda, &keep,
					c + (ptrdiff_t)i * ldc + j, &ldc);
			}
}

#cgo noescape scqm_product
#cgo nocallback scqm_product
*/
import "C"

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

const (
	// smallest is the number of multiplications from which on products are
	// handed over. gonum does fewer in less than ten microseconds, and small
	// fits keep the bits that they have without a library.
	smallest = 1 << 15
	// largest is the number of multiplications up to which OpenBLAS computes a
	// product on one thread: SMP_THRESHOLD_MIN times
	// GEMM_MULTITHREAD_THRESHOLD in its interface/gemm.c.
	largest = 1 << 18
	// side and step shape the tiles of larger products.
	side, step = 64, 16
	// maxCalls bounds the products at a time: OpenBLAS has memory for twice
	// the threads it was built for, and those are 64 and more.
	maxCalls = 32
)

// Borrowed is gonum's BLAS with the Dgemm of another library for products of
// some size. It may be used from many goroutines; no more products than
// processors run at a time.
type Borrowed struct {
	gonum.Implementation
	address unsafe.Pointer
	calls   chan struct{}
}

// Borrow takes the address of a dgemm in the convention of Fortran: column-major,
// all arguments by reference, with int32 lengths and without lengths of strings.
func Borrow(address uintptr) (*Borrowed, error) {
	if address == 0 {
		return nil, fmt.Errorf("blas: borrow: the address of dgemm is 0")
	}
	return &Borrowed{
		// Of code in C, which the collector does not move.
		address: *(*unsafe.Pointer)(unsafe.Pointer(&address)),
		calls:   make(chan struct{}, min(runtime.NumCPU(), maxCalls)),
	}, nil
}

// Dgemm computes C = alpha op(A) op(B) + beta C for row-major matrices, as
// blas.Float64Level3 says. What is small, empty or invalid is left to gonum.
// Unlike gonum, libraries multiply zeros with what is not finite.
func (l *Borrowed) Dgemm(ta, tb blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if !worthwhile(m, n, k) ||
		!fits(ta, m, k, len(a), lda) || !fits(tb, k, n, len(b), ldb) || !fits(blas.NoTrans, m, n, len(c), ldc) {
		l.Implementation.Dgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	tm, tn, tk := tile(m, n, k)
	l.calls <- struct{}{}
	C.scqm_product(l.address, transposed(ta), transposed(tb), C.int(m), C.int(n), C.int(k),
		C.double(alpha), number(a), C.int(lda), number(b), C.int(ldb), C.double(beta), number(c), C.int(ldc),
		C.int(tm), C.int(tn), C.int(tk))
	<-l.calls
}

// worthwhile reports whether a product is large enough, and of matrices: some
// libraries treat vectors in other ways.
func worthwhile(m, n, k int) bool {
	if m < 2 || n < 2 || k < 2 {
		return false
	}
	return float64(m)*float64(n)*float64(k) >= smallest
}

// fits reports whether op(A), rows x columns, lies within n numbers, with
// lengths that the library can take.
func fits(t blas.Transpose, rows, columns, n, stride int) bool {
	switch t {
	case blas.NoTrans:
	case blas.Trans, blas.ConjTrans:
		rows, columns = columns, rows
	default:
		return false
	}
	return stride >= columns && stride <= math.MaxInt32 && rows <= math.MaxInt32 && n >= stride*(rows-1)+columns
}

// tile is the shape of the tiles that a product is cut into: near cubes, made
// longer where a matrix is thin.
func tile(m, n, k int) (tm, tn, tk int) {
	if float64(m)*float64(n)*float64(k) <= largest {
		return m, n, k
	}
	tm, tk = min(m, side), min(k, side)
	tn = stretch(n, tm*tk)
	tk = stretch(k, tm*tn)
	tm = stretch(m, tn*tk)
	return tm, tn, tk
}

// stretch is the longest side of a tile along a length, given the product of the
// other sides.
func stretch(length, others int) int {
	return min(length, max(largest/others/step, 1)*step)
}

func transposed(t blas.Transpose) C.int {
	if t == blas.NoTrans {
		return 0
	}
	return 1
}

func number(x []float64) *C.double { return (*C.double)(unsafe.Pointer(unsafe.SliceData(x))) }
