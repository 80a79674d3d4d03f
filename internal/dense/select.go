package dense

// Select returns x_(k), the number with index k, from 0, in ascending order. It reorders
// x, and takes about 3 len(x) comparisons. x must not contain NaN.
//
// Source: C. A. R. Hoare, Algorithm 65: Find, Communications of the ACM 4 (1961); the pivot is the
// middle one of three.
func Select(x []float64, k int) float64 {
	for lo, hi := 0, len(x)-1; lo < hi; {
		a, pivot, b := x[lo], x[lo+(hi-lo)/2], x[hi]
		pivot = max(min(a, b), min(max(a, b), pivot))
		i, j := lo, hi
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return x[k]
		}
	}
	return x[k]
}
