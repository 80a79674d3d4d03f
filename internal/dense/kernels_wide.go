//go:build amd64 || arm64

package dense

//go:noescape
func innerProductWide(x, y []float64) float64

//go:noescape
func addScaledWide(dst []float64, factor float64, x []float64)

//go:noescape
func frameTileWide(y *float64, yStride int, squares, x *float64, xStride int, c, axes *float64, axesStride, length, count, ahead int)

//go:noescape
func addTileWide(dst *float64, dstStride int, w *float64, wRow, wColumn int, x *float64, xStride int, c *float64, n, count, columns int)

//go:noescape
func products2x4Wide(dst *[8]float64, a, b *float64, stride, n int)
