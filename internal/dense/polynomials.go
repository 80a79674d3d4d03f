package dense

import "math"

// PolynomialBlock is what the number of polynomials is padded to by zeros: rounds of
// [CombineColumns] and [SignedSums] take so many at once.
const PolynomialBlock = 8

// CombineColumns writes sum_a factors_a column_a into dst, for columns of its length, a multiple of
// [PolynomialBlock], one after the other, and at least one factor. Where columns hold the coefficients of many
// polynomials and factors the powers of a number, these are their values there.
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

// AddColumnProducts adds sum_j x_j y_j, entry by entry, to dst, for count columns of its length, a multiple of
// [PolynomialBlock]. Columns of x begin xStep entries apart, those of y yStep.
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

// addColumnProducts is what addColumnProductsWide does.
func addColumnProducts(dst, x []float64, xStep int, y []float64, yStep, count int) {
	for j := range count {
		for k, v := range x[j*xStep:][:len(dst)] {
			dst[k] += float64(v * y[j*yStep+k])
		}
	}
}

// SignedSums writes sum_k sign(v_k) column_ak into sums_a, for v = sum_a factors_a column_a as
// in [CombineColumns] and n numbers in a column, and returns sum_k |v_k|. The sign of 0 is 0.
func SignedSums(sums, columns, factors []float64, n int) float64 {
	columns, sums = columns[:n*len(factors)], sums[:len(factors)]
	if n%PolynomialBlock != 0 {
		panic("dense: columns are not padded")
	}
	if HasAVX2() && n > 0 {
		switch len(factors) {
		case 3:
			return signedSums3Wide(sums, columns, factors, n)
		case 6:
			return signedSums6Wide(sums, columns, factors, n)
		case 10:
			return signedSums10Wide(sums, columns, factors, n)
		}
	}
	return signedSums(sums, columns, factors, n)
}

// combine is what combineWide does.
func combine(dst, columns, factors []float64) {
	for k := range dst {
		dst[k] = factors[0] * columns[k]
	}
	for a, factor := range factors[1:] {
		addScaled(dst, factor, columns[(a+1)*len(dst):(a+2)*len(dst)])
	}
}

// signedSums is what its versions for numbers of terms do: four partial sums, of entries
// whose numbers have one remainder by 4.
func signedSums(sums, columns, factors []float64, n int) float64 {
	var v, total [4]float64
	partial := make([][4]float64, len(factors))
	for from := 0; from < n; from += 4 {
		for k := range v {
			v[k] = factors[0] * columns[from+k]
			for a := 1; a < len(factors); a++ {
				v[k] += float64(factors[a] * columns[a*n+from+k])
			}
			total[k] += math.Abs(v[k])
			if v[k] == 0 {
				continue
			}
			for a := range partial {
				if c := columns[a*n+from+k]; math.Signbit(v[k]) {
					partial[a][k] -= c
				} else {
					partial[a][k] += c
				}
			}
		}
	}
	for a, p := range partial {
		sums[a] = (p[0] + p[2]) + (p[1] + p[3])
	}
	return (total[0] + total[2]) + (total[1] + total[3])
}
