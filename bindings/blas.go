package bindings

import (
	"fmt"
	"sync"

	gonumblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/blas"
)

// lent is the dgemm in use, 0 for that of gonum.
var lent struct {
	sync.Mutex
	address uint64
}

// UseDgemm lets larger matrix products be computed by the dgemm at an address,
// in the convention of Fortran with int32 lengths, from now on. It returns 1
// where that one is in use, and 0 where it is too late: with another one in use,
// or while there are jobs.
func UseDgemm(address uint64) (int64, error) {
	return guarded("use dgemm", func() (int64, error) {
		lent.Lock()
		defer lent.Unlock()
		jobs.Lock()
		defer jobs.Unlock()
		if lent.address != 0 || len(jobs.byNumber) > 0 {
			return int64(truth(address == lent.address)), nil
		}
		l, err := blas.Borrow(uintptr(address))
		if err != nil {
			return 0, err
		}
		blas64.Use(l)
		lent.address = address
		return 1, nil
	})
}

// StartProduct begins to compute C = alpha op(A) op(B) + beta C with the BLAS
// that fits use, for row-major matrices with the strides given; op transposes
// where a flag is not 0. C is m x n, and op(A) has k columns. It is there to
// test and measure that BLAS. It returns 1.
func StartProduct(number, ta, tb, m, n, k int64, alpha float64, a uint64, lda int64, b uint64, ldb int64, beta float64, c uint64, ldc int64) (int64, error) {
	return guarded("product", func() (int64, error) {
		left, err := readGeneral("a", ta, a, m, k, lda)
		if err != nil {
			return 0, err
		}
		right, err := readGeneral("b", tb, b, k, n, ldb)
		if err != nil {
			return 0, err
		}
		to, err := readGeneral("c", 0, c, m, n, ldc)
		if err != nil {
			return 0, err
		}
		return start(number, "product", func(*job) (any, error) {
			blas64.Gemm(transpose(ta), transpose(tb), alpha, left, right, beta, to)
			return nil, nil
		})
	})
}

func transpose(flag int64) gonumblas.Transpose {
	if flag == 0 {
		return gonumblas.NoTrans
	}
	return gonumblas.Trans
}

// readGeneral is the matrix A at an address, given the shape of op(A).
func readGeneral(what string, flag int64, address uint64, rows, columns, stride int64) (blas64.General, error) {
	if flag != 0 {
		rows, columns = columns, rows
	}
	if _, err := product(what, rows, columns); err != nil {
		return blas64.General{}, err
	}
	if stride < max(columns, 1) {
		return blas64.General{}, fmt.Errorf("%s: stride %d of rows of length %d: %w", what, stride, columns, framework.ErrInvalid)
	}
	n, err := product(what, rows, stride)
	if err != nil {
		return blas64.General{}, err
	}
	if n > 0 {
		n -= int(stride - columns)
	}
	data, err := view(what, address, n)
	return blas64.General{Rows: int(rows), Cols: int(columns), Stride: int(stride), Data: data}, err
}
