package dense

// Select returns entry k, from 0, of x in ascending order. It changes the order of x, and takes about 3 len(x)
// comparisons. No number may be NaN.
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
