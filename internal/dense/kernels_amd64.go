package dense

import "golang.org/x/sys/cpu"

// wide is AVX2, wider AVX-512. All processors with AVX-512 but the first have VL and DQ.
var (
	wide  = cpu.X86.HasAVX2
	fuses = cpu.X86.HasAVX2 && cpu.X86.HasFMA
	wider = cpu.X86.HasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ
)

// Wide reports whether kernels may use AVX2, and whether they may use AVX-512.
func Wide() (avx2, avx512 bool) { return wide, wider }

//go:noescape
func addScaledWider(dst []float64, factor float64, x []float64)

//go:noescape
func frameTileWider(y *float64, yStride int, squares, x *float64, xStride int, c, axes *float64, axesStride, length, count, ahead int)

//go:noescape
func addTileWider(dst *float64, dstStride int, w *float64, wRow, wColumn int, x *float64, xStride int, c *float64, n, count, columns int)

//go:noescape
func addTileFusedWider(dst *float64, dstStride int, w *float64, wRow, wColumn int, x *float64, xStride int, c *float64, n, count, columns int)

//go:noescape
func symmetricTileWider(y, sums, a *float64, stride int, v, weights *float64, blocks int)

//go:noescape
func eliminatePlanesWider(table, roots, c, f, grad, ff, b *float64, n, count int) bool
