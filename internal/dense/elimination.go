package dense

import "math"

// Solve solves a x = b by Gaussian elimination with partial pivoting: 2n^3/3 operations.
// It overwrites the n x n matrix a, and b by x. It returns false if a is singular to
// working precision.
func Solve(a, b []float64, n int) bool {
	var largest float64
	for _, v := range a[:n*n] {
		largest = math.Max(largest, math.Abs(v))
	}
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if math.Abs(a[i*n+k]) > math.Abs(a[p*n+k]) {
				p = i
			}
		}
		if !(math.Abs(a[p*n+k]) > 0x1p-46*largest) {
			return false
		}
		if p != k {
			swapRows(a, n, p, k)
			b[p], b[k] = b[k], b[p]
		}
		for i := k + 1; i < n; i++ {
			f := a[i*n+k] / a[k*n+k]
			for j := k; j < n; j++ {
				a[i*n+j] -= float64(f * a[k*n+j])
			}
			b[i] -= float64(f * b[k])
		}
	}
	for k := n - 1; k >= 0; k-- {
		b[k] = (b[k] - Dot(a[k*n+k+1:(k+1)*n], b[k+1:n])) / a[k*n+k]
	}
	return true
}
