package sheet

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/scqm/scqm/internal/dense"
)

// The products of many rows with the frame of a sheet take 2nDm operations, most of
// the time where rows are long. See [dense.TileSide] for the tiles.

// AddImages adds Q z_i to each of n rows of r, n x D, for z of n x m.
func (f *Sheet) AddImages(r, z []float64, n int) {
	for i := 0; i < n; i += dense.TileSide {
		rows := min(dense.TileSide, n-i)
		for j := 0; j < f.D; j += dense.TileLength {
			w := min(dense.TileLength, f.D-j)
			blas64.Gemm(blas.NoTrans, blas.NoTrans, 1,
				blas64.General{Rows: rows, Cols: f.M, Stride: f.M, Data: z[i*f.M:]},
				blas64.General{Rows: f.M, Cols: w, Stride: f.D, Data: f.QT[j:]}, 1,
				blas64.General{Rows: rows, Cols: w, Stride: f.D, Data: r[i*f.D+j:]})
		}
	}
}

// RowsToFrame writes Q'g_i for each of n rows of g, n x D, into b, n x m.
func (f *Sheet) RowsToFrame(b, g []float64, n int) {
	tall := dense.TileLength
	if f.M > dense.TileSide {
		tall = dense.TileSide
	}
	for i := 0; i < n; i += tall {
		rows := min(tall, n-i)
		for j := 0; j < f.M; j += dense.TileLength {
			w := min(dense.TileLength, f.M-j)
			blas64.Gemm(blas.NoTrans, blas.Trans, 1,
				blas64.General{Rows: rows, Cols: f.D, Stride: f.D, Data: g[i*f.D:]},
				blas64.General{Rows: w, Cols: f.D, Stride: f.D, Data: f.QT[j*f.D:]}, 0,
				blas64.General{Rows: rows, Cols: w, Stride: f.M, Data: b[i*f.M+j:]})
		}
	}
}
