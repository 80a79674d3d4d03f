package dense

// PolynomialBlock is a divisor of the padded number of polynomials: [CombineColumns] processes this many at once.
const PolynomialBlock = 8

// CombineColumns writes sum_a factors_a column_a into dst. The columns have the length of dst, a multiple of
// [PolynomialBlock], and are stored one after the other; there is at least one factor. If columns hold the
// coefficients of many polynomials and factors the powers of a number, the results are their values at the number.
func CombineColumns(dst, columns, factors []float64) {
	n := len(dst)
	columns = columns[:n*len(factors)]
	switch {
	case n%PolynomialBlock != 0 || len(factors) == 0:
		panic("dense: columns are not padded")
	case n == 0:
	case HasAVX2():
		combineWide(dst, columns, factors)
	default:
		combine(dst, columns, factors)
	}
}

// AddColumnProducts adds sum_j x_j y_j, entry by entry, to dst. There are count columns x_j and y_j of the
// length of dst, a multiple of [PolynomialBlock]. Columns of x begin xStep entries apart, those of y yStep.
func AddColumnProducts(dst, x []float64, xStep int, y []float64, yStep, count int) {
	n := len(dst)
	if n%PolynomialBlock != 0 {
		panic("dense: columns are not padded")
	}
	if n == 0 || count == 0 {
		return
	}
	x, y = x[:(count-1)*xStep+n], y[:(count-1)*yStep+n]
	if HasAVX2() {
		addColumnProductsWide(dst, &x[0], xStep, &y[0], yStep, count)
		return
	}
	addColumnProducts(dst, x, xStep, y, yStep, count)
}

// addColumnProducts is the plain Go version of addColumnProductsWide.
func addColumnProducts(dst, x []float64, xStep int, y []float64, yStep, count int) {
	for j := range count {
		for k, v := range x[j*xStep:][:len(dst)] {
			dst[k] += float64(v * y[j*yStep+k])
		}
	}
}

// combine is the plain Go version of combineWide.
func combine(dst, columns, factors []float64) {
	for k := range dst {
		dst[k] = factors[0] * columns[k]
	}
	for a, factor := range factors[1:] {
		addScaled(dst, factor, columns[(a+1)*len(dst):(a+2)*len(dst)])
	}
}
