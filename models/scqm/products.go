package scqm

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/scqm/scqm/internal/par"
)

// The products of many rows with the frame of a sheet, which take most of the
// time where rows are long. They are handed to BLAS in tiles that stay in the
// cache, and small enough that gonum starts no threads for them.
const (
	// tileSide is the side of the blocks that gonum works on.
	tileSide = 64
	// tileLength is the number of rows or columns of a thin tile.
	tileLength = 3 * tileSide
)

// addProduct adds A'B to C, k x cols, for A of n x k and B of n x cols.
func addProduct(c, a, b []float64, n, k, cols int) {
	for i := 0; i < k; i += tileSide {
		rows := min(tileSide, k-i)
		wide := tileSide
		if rows <= tileSide/4 {
			wide = tileLength
		}
		for j := 0; j < cols; j += wide {
			w := min(wide, cols-j)
			blas64.Gemm(blas.Trans, blas.NoTrans, 1,
				blas64.General{Rows: n, Cols: rows, Stride: k, Data: a[i:]},
				blas64.General{Rows: n, Cols: w, Stride: cols, Data: b[j:]}, 1,
				blas64.General{Rows: rows, Cols: w, Stride: cols, Data: c[i*cols+j:]})
		}
	}
}

// addSecondMoments adds the blocks of X'X on and above the diagonal to c, D x D,
// for n rows x of length D.
func addSecondMoments(c, x []float64, n, D, threads int) {
	par.Do(threads, (D+tileSide-1)/tileSide, func(_, strip int) {
		i := strip * tileSide
		rows := min(tileSide, D-i)
		for j := i; j < D; j += tileSide {
			w := min(tileSide, D-j)
			blas64.Gemm(blas.Trans, blas.NoTrans, 1,
				blas64.General{Rows: n, Cols: rows, Stride: D, Data: x[i:]},
				blas64.General{Rows: n, Cols: w, Stride: D, Data: x[j:]}, 1,
				blas64.General{Rows: rows, Cols: w, Stride: D, Data: c[i*D+j:]})
		}
	})
}

// addImages adds Q z_i to each of n rows of r, n x D, for z of n x m.
func (f *sheet) addImages(r, z []float64, n int) {
	for i := 0; i < n; i += tileSide {
		rows := min(tileSide, n-i)
		for j := 0; j < f.D; j += tileLength {
			w := min(tileLength, f.D-j)
			blas64.Gemm(blas.NoTrans, blas.NoTrans, 1,
				blas64.General{Rows: rows, Cols: f.m, Stride: f.m, Data: z[i*f.m:]},
				blas64.General{Rows: f.m, Cols: w, Stride: f.D, Data: f.qt[j:]}, 1,
				blas64.General{Rows: rows, Cols: w, Stride: f.D, Data: r[i*f.D+j:]})
		}
	}
}

// pullRows writes Q'g_i for each of n rows of g, n x D, into b, n x m.
func (f *sheet) pullRows(b, g []float64, n int) {
	tall := tileLength
	if f.m > tileSide {
		tall = tileSide
	}
	for i := 0; i < n; i += tall {
		rows := min(tall, n-i)
		for j := 0; j < f.m; j += tileLength {
			w := min(tileLength, f.m-j)
			blas64.Gemm(blas.NoTrans, blas.Trans, 1,
				blas64.General{Rows: rows, Cols: f.D, Stride: f.D, Data: g[i*f.D:]},
				blas64.General{Rows: w, Cols: f.D, Stride: f.D, Data: f.qt[j*f.D:]}, 0,
				blas64.General{Rows: rows, Cols: w, Stride: f.m, Data: b[i*f.m+j:]})
		}
	}
}
