package dense

// Products of many rows with few axes, which take most of the time of fits of long rows.
// Each has the bits of its plain form on any processor: products are rounded before they
// are added, and the order of a sum is that of its terms, or one of eight lanes.

//go:generate sh -c "go run ./assembly > products_amd64.s"

const (
	// tileAxes is the number of axes, or of sums, that a kernel takes at a time.
	tileAxes = 6
	// tileRows is the number of rows that a kernel takes at a time.
	tileRows = 4
	// tileColumns is the number of columns whose sums a kernel keeps in registers.
	tileColumns = 32
	// prefetchBytes is how far ahead of their use rows are asked for, at least: as long as
	// memory takes to answer.
	prefetchBytes = 4096
	// tileLength is the number of rows that are summed before other columns are.
	tileLength = 256
)

// Wide reports whether kernels may use AVX2, and whether they may use AVX-512.
func Wide() (avx2, avx512 bool) { return wide, wider }

// FrameProducts writes the products of n rows of x, n x length, less c, with m >= 1 axes, m
// x length, into y, m x stride: y[k*stride+i] = axis_k'(x_i - c). Where squares is not nil
// it writes |x_i - c|^2 there. Nil for c stands for 0. It takes 2(m+1) operations for an
// entry of x, and reads x once for five axes, and once more for each six others.
func FrameProducts(y []float64, stride int, squares, x, c, axes []float64, n, m, length int) {
	x, axes, y = x[:n*length], axes[:m*length], y[:(m-1)*stride+n]
	if squares != nil {
		squares = squares[:n]
	}
	if c != nil {
		c = c[:length]
	}
	if !wide || n == 0 || length == 0 {
		frameProducts(y, stride, squares, x, c, axes, n, m, length)
		return
	}
	for k := 0; k < m; {
		count := min(tileAxes, m-k)
		if squares != nil {
			count = min(count, tileAxes-1)
		}
		framePanel(y[k*stride:], stride, squares, x, c, axes[k*length:], n, count, length)
		k += count
		squares = nil
	}
}

// framePanel does so for as many axes as a kernel takes.
func framePanel(y []float64, stride int, squares, x, c, axes []float64, n, count, length int) {
	last := (count-1)*stride + n
	y = y[:last]
	tile := 8 * tileRows * length
	ahead := (prefetchBytes + tile - 1) / tile * tile
	if !wider || n < tileRows {
		for i := range n {
			frameTileAVX2(&y[i], 8*stride, at(squares, i), &x[i*length], 0, at(c, 0), &axes[0], length, count, ahead)
		}
		return
	}
	for i := 0; i < n; i += tileRows {
		from := min(i, n-tileRows) // some of the last ones once more
		frameTileAVX512(&y[from], 8*stride, at(squares, from), &x[from*length], 8*length, at(c, 0), &axes[0], length, count, ahead)
	}
}

// at is where number i of x is, nil where x is.
func at(x []float64, i int) *float64 {
	if x == nil {
		return nil
	}
	return &x[i]
}

// frameProducts is what the kernels do. Conversions keep products from being fused with
// their sums.
func frameProducts(y []float64, stride int, squares, x, c, axes []float64, n, m, length int) {
	for i := range n {
		row := x[i*length : (i+1)*length]
		for k := range m {
			y[k*stride+i] = laneProduct(row, c, axes[k*length:(k+1)*length])
		}
		if squares != nil {
			squares[i] = laneProduct(row, c, nil)
		}
	}
}

// laneProduct returns the product of x - c with an axis, with itself where that is nil, by
// sums of eight lanes.
func laneProduct(x, c, axis []float64) float64 {
	var s [8]float64
	for j, e := range x {
		if c != nil {
			e -= c[j]
		}
		v := e
		if axis != nil {
			v = axis[j]
		}
		s[j%8] += float64(e * v)
	}
	return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))
}

// AddProduct adds A'B to C, k x cols, for A of n x k and B of n x cols.
func AddProduct(c, a, b []float64, n, k, cols int) {
	AddCentredProduct(c, a, b, nil, n, k, cols)
}

// AddCentredProduct adds A'(B - 1c') to sums, k x cols, for A of n x k and B of n x cols. Nil for
// c stands for 0.
func AddCentredProduct(sums, a, b, c []float64, n, k, cols int) {
	addProducts(sums[:k*cols], a[:n*k], k, 1, b[:n*cols], c, n, k, cols)
}

// AddRowProduct adds AB to C, n x cols, for A of n x k and B of k x cols.
func AddRowProduct(c, a, b []float64, n, k, cols int) {
	addProducts(c[:n*cols], a[:n*k], 1, k, b[:k*cols], nil, k, n, cols)
}

// addProducts adds the rows of x, n x cols, less c, with weights to each of count sums: row i
// counts w[i*row+k*column] times in sum k.
func addProducts(sums, w []float64, row, column int, x, c []float64, n, count, cols int) {
	if n == 0 || count == 0 || cols == 0 {
		return
	}
	if c != nil {
		c = c[:cols]
	}
	if !wide {
		addProductsPlain(sums, w, row, column, x, c, n, count, cols)
		return
	}
	columns := tileColumns
	if !wider {
		columns = tileColumns / 4
	}
	for i := 0; i < n; i += tileLength {
		length := min(tileLength, n-i)
		for j := 0; j < cols; j += columns {
			some := min(columns, cols-j)
			for k := 0; k < count; k += tileAxes {
				sum, weight, from := &sums[k*cols+j], &w[i*row+k*column], &x[i*cols+j]
				if axes := min(tileAxes, count-k); wider {
					addTileAVX512(sum, 8*cols, weight, 8*row, 8*column, from, 8*cols, at(c, j), length, axes, some)
				} else {
					addTileAVX2(sum, 8*cols, weight, 8*row, 8*column, from, 8*cols, at(c, j), length, axes, some)
				}
			}
		}
	}
}

// addProductsPlain is what the kernels do.
func addProductsPlain(sums, w []float64, row, column int, x, c []float64, n, count, cols int) {
	for i := range n {
		for k := range count {
			weight, sum := w[i*row+k*column], sums[k*cols:(k+1)*cols]
			for j, e := range x[i*cols : (i+1)*cols] {
				if c != nil {
					e -= c[j]
				}
				sum[j] += float64(e * weight)
			}
		}
	}
}
