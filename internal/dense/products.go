package dense

// Products of many rows with few axes, which take most of the time of fits of long rows.
// Each has the bits of its plain form on any processor: products are rounded before they
// are added, and the order of a sum is that of its terms, or one of eight lanes.

//go:generate sh -c "go run ./assembly products > products_amd64.s"
//go:generate sh -c "go run ./assembly products_arm64 > products_arm64.s"

const (
	// tileAxes is the number of axes, or of sums, that a kernel processes at a time.
	tileAxes = 6
	// tileRows is the number of rows that a kernel processes at a time.
	tileRows = 4
	// tileColumns is the number of columns whose sums a kernel keeps in registers.
	tileColumns = 32
	// prefetchBytes is the least prefetch distance, which corresponds to the memory latency.
	prefetchBytes = 4096
	// tileLength is the number of rows that are summed for a tile of columns before the next tile.
	tileLength = 256
)

// FrameProducts writes y[k*stride+i] = axis_k'(x_i - c) for n rows x_i of x, n x length,
// and the m >= 1 rows of axes, m x length; y is m x stride. If squares is not nil, it
// receives |x_i - c|^2. A nil c means 0. It takes 2(m+1) operations per entry of x, and
// reads x once for five axes and again for each six more.
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
		framePanel(y[k*stride:], stride, squares, addressed{x, length}, c, addressed{axes[k*length:], length}, n, count, length)
		k += count
		squares = nil
	}
}

// addressed is a matrix whose rows begin apart entries from each other.
type addressed struct {
	x     []float64
	apart int
}

// SquaredDistances writes |x_i - c|^2 of n rows of x, n x length; see [FrameProducts].
func SquaredDistances(squares, x, c []float64, n, length int) {
	x, c, squares = x[:n*length], c[:length], squares[:n]
	if !wide || n == 0 || length == 0 {
		frameProducts(nil, 0, squares, x, c, nil, n, 0, length)
		return
	}
	rows := addressed{x, length}
	framePanel(squares, 0, squares, rows, c, rows, n, 0, length) // there are no axes, and no products
}

// framePanel is FrameProducts for as many axes as a kernel processes.
func framePanel(y []float64, stride int, squares []float64, x addressed, c []float64, axes addressed, n, count, length int) {
	y = y[:max(count-1, 0)*stride+n]
	tile := 8 * tileRows * x.apart
	ahead := (prefetchBytes + tile - 1) / tile * tile
	if !wider || n < tileRows {
		for i := range n {
			frameTileWide(&y[i], 8*stride, at(squares, i), &x.x[i*x.apart], 0, at(c, 0), &axes.x[0], 8*axes.apart, length, count, ahead)
		}
		return
	}
	for i := 0; i < n; i += tileRows {
		from := min(i, n-tileRows) // some of the last ones once more
		frameTileWider(&y[from], 8*stride, at(squares, from), &x.x[from*x.apart], 8*x.apart, at(c, 0), &axes.x[0], 8*axes.apart, length, count, ahead)
	}
}

// at returns the address of x[i], nil if x is nil.
func at(x []float64, i int) *float64 {
	if x == nil {
		return nil
	}
	return &x[i]
}

// frameProducts is the plain Go version of the kernels. Conversions prevent products from being fused with their
// sums.
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

// laneProduct returns the product of x - c with axis in eight partial sums. If axis is nil it returns |x - c|^2.
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

// AddProduct adds A'B to the k x cols matrix C, for A of n x k and B of n x cols.
func AddProduct(c, a, b []float64, n, k, cols int) {
	AddCentredProduct(c, a, b, nil, n, k, cols)
}

// AddCentredProduct adds A'(B - 1c') to sums, k x cols, for A of n x k and B of n x cols.
// A nil c means 0.
func AddCentredProduct(sums, a, b, c []float64, n, k, cols int) {
	add := weighted{w: a[:n*k], row: k, column: 1, x: b[:n*cols], stride: cols, c: c, n: n}
	add.to(sums[:k*cols], cols, k, cols)
}

// AddColumnsProduct is AddProduct for the columns from..to of B, n x stride: C is k x
// (to-from).
func AddColumnsProduct(c, a, b []float64, n, k, stride, from, to int) {
	if n > 0 && from < to {
		add := weighted{w: a[:n*k], row: k, column: 1, x: b[from : n*stride], stride: stride, n: n}
		add.to(c[:k*(to-from)], to-from, k, to-from)
	}
}

// AddRowProduct adds AB to the n x cols matrix C, for A of n x k and B of k x cols.
func AddRowProduct(c, a, b []float64, n, k, cols int) {
	AddCentredRowProduct(c, a, b, nil, n, k, cols)
}

// AddCentredRowProduct adds A(B - 1c') to sums, n x cols, for A of n x k and B of k x
// cols. A nil c means 0.
func AddCentredRowProduct(sums, a, b, c []float64, n, k, cols int) {
	add := weighted{w: a[:n*k], row: 1, column: k, x: b[:k*cols], stride: cols, c: c, n: k}
	add.to(sums[:n*cols], cols, n, cols)
}

// AddSquare adds rows from..to of X'X to C, cols x cols, for X of n x cols. It writes the
// entries on and above the diagonal, and up to five below it in each row. If bits must not
// depend on from, it must be a multiple of SquareRows.
func AddSquare(c, x []float64, n, cols, from, to int) { addUpper(c, x, x, n, cols, from, to) }

// AddWeightedSquare adds X'WX to C, cols x cols, for X of n x cols; wx is WX, the weighted
// rows. It writes the entries on and above the diagonal, and up to five below it in each
// row. The result has the same bits as [AddOuterProduct] row by row.
func AddWeightedSquare(c, wx, x []float64, n, cols int) { addUpper(c, wx, x, n, cols, 0, cols) }

// addUpper adds rows from..to of W'X to C, like AddSquare; W'X is symmetric.
func addUpper(c, w, x []float64, n, cols, from, to int) {
	for k := from; k < to && n > 0; k += tileAxes {
		add := weighted{w: w[k:], row: cols, column: 1, x: x[k:], stride: cols, n: n}
		add.to(c[k*cols+k:], cols, min(tileAxes, to-k), cols-k)
	}
}

// SquareRows is the least number of rows of a square for which a goroutine pays off.
const SquareRows = 8 * tileAxes

// weighted are n rows of x, stride apart, minus c unless that is nil, with a weight for
// each row and sum: row i has the weight w[i*row+k*column] in sum k.
type weighted struct {
	w           []float64
	row, column int
	x           []float64
	stride      int
	c           []float64
	n           int
}

// to adds the first count columns of the weighted rows to the sums, which are stride apart.
func (a *weighted) to(sums []float64, stride, count, cols int) {
	if a.n == 0 || count == 0 || cols == 0 {
		return
	}
	if a.c != nil {
		a.c = a.c[:cols]
	}
	if !wide {
		a.plain(sums, stride, count, cols)
		return
	}
	_, _, _ = sums[(count-1)*stride+cols-1], a.x[(a.n-1)*a.stride+cols-1], a.w[(a.n-1)*a.row+(count-1)*a.column]
	columns, tile := tileColumns, addTileWider
	if !wider {
		columns, tile = tileColumns/4, addTileWide
	}
	for i := 0; i < a.n; i += tileLength {
		length := min(tileLength, a.n-i)
		for j := 0; j < cols; j += columns {
			some := min(columns, cols-j)
			for k := 0; k < count; k += tileAxes {
				sum, weight, from := &sums[k*stride+j], &a.w[i*a.row+k*a.column], &a.x[i*a.stride+j]
				tile(sum, 8*stride, weight, 8*a.row, 8*a.column, from, 8*a.stride, at(a.c, j), length, min(tileAxes, count-k), some)
			}
		}
	}
}

// plain is the plain Go version of the kernels.
func (a *weighted) plain(sums []float64, stride, count, cols int) {
	for i := range a.n {
		for k := range count {
			weight, sum := a.w[i*a.row+k*a.column], sums[k*stride:k*stride+cols]
			for j, e := range a.x[i*a.stride : i*a.stride+cols] {
				if a.c != nil {
					e -= a.c[j]
				}
				sum[j] += float64(e * weight)
			}
		}
	}
}
