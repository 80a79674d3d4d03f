package dense

import "golang.org/x/sys/cpu"

// The instruction sets of kernels. All processors with AVX-512 but the first have VL and DQ.
var (
	wide  = cpu.X86.HasAVX2
	fuses = cpu.X86.HasAVX2 && cpu.X86.HasFMA
	wider = cpu.X86.HasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ
)

//go:noescape
func innerProductAVX(x, y []float64) float64

//go:noescape
func farthestAVX(x, y []float64) float64

//go:noescape
func addScaledAVX(dst []float64, factor float64, x []float64)

//go:noescape
func addScaledAVX512(dst []float64, factor float64, x []float64)

//go:noescape
func productsAVX(dst, x, y []float64)

//go:noescape
func magnitudesAVX(dst, x []float64)

//go:noescape
func rootsAVX(dst, x []float64)

//go:noescape
func withSignsAVX(dst []float64, factor float64, x, y []float64)

//go:noescape
func frameTileAVX512(y *float64, yStride int, squares, x *float64, xStride int, c, axes *float64, axesStride, length, count, ahead int)

//go:noescape
func frameTileAVX2(y *float64, yStride int, squares, x *float64, xStride int, c, axes *float64, axesStride, length, count, ahead int)

//go:noescape
func addTileAVX512(dst *float64, dstStride int, w *float64, wRow, wColumn int, x *float64, xStride int, c *float64, n, count, columns int)

//go:noescape
func addTileFusedAVX512(dst *float64, dstStride int, w *float64, wRow, wColumn int, x *float64, xStride int, c *float64, n, count, columns int)

//go:noescape
func addTileAVX2(dst *float64, dstStride int, w *float64, wRow, wColumn int, x *float64, xStride int, c *float64, n, count, columns int)

//go:noescape
func addTileFusedAVX2(dst *float64, dstStride int, w *float64, wRow, wColumn int, x *float64, xStride int, c *float64, n, count, columns int)

//go:noescape
func symmetricTileAVX512(y, sums, a *float64, stride int, v, weights *float64, blocks int)

//go:noescape
func symmetricTileAVX2(y, sums, a *float64, stride int, v, weights *float64, blocks int)

//go:noescape
func eliminatePlanesAVX512(table, roots, c, f, grad, ff, b *float64, n, count int) bool

//go:noescape
func eliminatePlanesAVX2(table, roots, c, f, grad, ff, b *float64, n, count int) bool
