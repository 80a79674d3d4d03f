package dense

import "golang.org/x/sys/cpu"

// wide reports AVX2, wider AVX-512 with VL and DQ, which all processors with AVX-512 but the first have.
var (
	wide  = cpu.X86.HasAVX2
	wider = cpu.X86.HasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ
)

// HasAVX2 reports whether kernels may use AVX2.
func HasAVX2() bool { return wide }

//go:noescape
func frameTileWider(y *float64, yStride int, squares, x *float64, xStride int, c, axes *float64, axesStride, length, count, ahead int)

//go:noescape
func addTileWider(dst *float64, dstStride int, w *float64, wRow, wColumn int, x *float64, xStride int, c *float64, n, count, columns int)

//go:noescape
func combineWide(dst, columns, factors []float64)

//go:noescape
func addColumnProductsWide(dst []float64, x *float64, xStep int, y *float64, yStep, count int)
