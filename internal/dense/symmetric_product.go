package dense

// symmetricLanes is the number of rows and columns of the blocks of addSymmetricProduct.
const symmetricLanes = 8

// addSymmetricProduct adds the product of a symmetric matrix with v to y. Of a, n x n, it reads what
// is on and above the diagonal blocks of eight, once; n is a multiple of eight, and so is first: rows
// and columns before it are left out. It takes 4 operations for an entry.
func addSymmetricProduct(y, a, v []float64, n, first int) {
	y, a, v = y[:n], a[:n*n], v[:n]
	if !wide {
		symmetricProduct(y, a, v, n, first)
		return
	}
	var sums [symmetricLanes]float64
	for i := first; i < n; i += symmetricLanes {
		blocks := (n - i) / symmetricLanes
		if wider {
			symmetricTileWider(&y[i], &sums[0], &a[i*n+i], 8*n, &v[i], &v[i], blocks)
		} else {
			symmetricTileWide(&y[i], &sums[0], &a[i*n+i], 8*n, &v[i], &v[i], blocks)
			symmetricTileWide(&y[i], &sums[4], &a[(i+4)*n+i], 8*n, &v[i], &v[i+4], blocks)
		}
		for k, s := range sums {
			y[i+k] += s
		}
	}
}

// symmetricProduct is what the kernels do. Conversions keep products from being fused with their
// sums.
func symmetricProduct(y, a, v []float64, n, first int) {
	for i := first; i < n; i += symmetricLanes {
		var sums [symmetricLanes]float64
		for k := range sums {
			row := a[(i+k)*n : (i+k+1)*n]
			sums[k] = laneProduct(row[i:], nil, v[i:])
			for j := i + symmetricLanes; j < n; j++ {
				y[j] += float64(row[j] * v[i+k])
			}
		}
		for k, s := range sums {
			y[i+k] += s
		}
	}
}
