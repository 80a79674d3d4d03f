package dense

//go:generate sh -c "go run ./assembly gram_arm64 > gram_rows_arm64.s"

// gramTile is the number of columns of a tile of rows, which fits in the first-level cache.
const gramTile = 512

// GramRows writes the lower triangle of FF' into the p x p matrix dst, for F of p rows of length n. It multiplies two
// rows by four at once, so that each number loaded from memory serves several products.
func GramRows(dst, f []float64, p, n int) {
	for q := range p {
		clear(dst[q*p : q*p+q+1])
	}
	for from := 0; from < n; from += gramTile {
		to := min(from+gramTile, n)
		for k := 0; k < p; k += 4 {
			q := k &^ 1
			if k+4 <= p {
				for ; q+2 <= p; q += 2 {
					addBlock(dst, f, p, n, q, k, from, to)
				}
			}
			for ; q < p; q++ {
				for j := k; j <= min(k+3, q); j++ {
					dst[q*p+j] += InnerProduct(f[q*n+from:q*n+to], f[j*n+from:j*n+to])
				}
			}
		}
	}
}

// addBlock adds the products of rows q and q+1 with rows k to k+3, for the entries that
// are in the lower triangle.
func addBlock(dst, f []float64, p, n, q, k, from, to int) {
	var block [8]float64
	products2x4(&block, f[q*n+from:(q+1)*n+to], f[k*n+from:(k+3)*n+to], n, to-from)
	for r := range 2 {
		row := dst[(q+r)*p : (q+r)*p+q+r+1]
		for j := k; j < min(k+4, len(row)); j++ {
			row[j] += block[4*r+j-k]
		}
	}
}

// products2x4 writes the inner products of two rows with four, all of length n. The rows
// of each group are stride apart.
func products2x4(dst *[8]float64, a, b []float64, stride, n int) {
	if n == 0 || !wide {
		products2x4Plain(dst, a, b, stride, n)
		return
	}
	_, _ = a[stride+n-1], b[3*stride+n-1]
	products2x4Wide(dst, &a[0], &b[0], stride, n)
}

// products2x4Plain is the plain Go version of products2x4Wide. Conversions prevent products from being fused with
// their sums.
func products2x4Plain(dst *[8]float64, a, b []float64, stride, n int) {
	for r := range 2 {
		for j := range 4 {
			x, y := a[r*stride:r*stride+n], b[j*stride:j*stride+n]
			var s [4]float64
			for len(x) >= 4 {
				for l := range s {
					s[l] += float64(x[l] * y[l])
				}
				x, y = x[4:], y[4:]
			}
			sum := (s[0] + s[2]) + (s[1] + s[3])
			for l, v := range x {
				sum += float64(v * y[l])
			}
			dst[4*r+j] = sum
		}
	}
}
