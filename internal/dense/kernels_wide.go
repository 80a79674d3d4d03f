//go:build amd64 || arm64

package dense

//go:noescape
func innerProductWide(x, y []float64) float64

//go:noescape
func farthestWide(x, y []float64) float64

//go:noescape
func addScaledWide(dst []float64, factor float64, x []float64)

//go:noescape
func productsWide(dst, x, y []float64)

//go:noescape
func magnitudesWide(dst, x []float64)

//go:noescape
func rootsWide(dst, x []float64)

//go:noescape
func withSignsWide(dst []float64, factor float64, x, y []float64)

//go:noescape
func frameTileWide(y *float64, yStride int, squares, x *float64, xStride int, c, axes *float64, axesStride, length, count, ahead int)

//go:noescape
func addTileWide(dst *float64, dstStride int, w *float64, wRow, wColumn int, x *float64, xStride int, c *float64, n, count, columns int)

//go:noescape
func addTileFusedWide(dst *float64, dstStride int, w *float64, wRow, wColumn int, x *float64, xStride int, c *float64, n, count, columns int)

//go:noescape
func symmetricTileWide(y, sums, a *float64, stride int, v, weights *float64, blocks int)

//go:noescape
func eliminatePlanesWide(table, roots, c, f, grad, ff, b *float64, n, count int) bool

//go:noescape
func products2x4Wide(dst *[8]float64, a, b *float64, stride, n int)

//go:noescape
func combineWide(dst, columns, factors []float64)

//go:noescape
func signedSums3Wide(sums, columns, factors []float64, n int) float64

//go:noescape
func signedSums6Wide(sums, columns, factors []float64, n int) float64

//go:noescape
func signedSums10Wide(sums, columns, factors []float64, n int) float64
