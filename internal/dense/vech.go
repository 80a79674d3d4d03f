package dense

// Vech writes the products t_i t_j, i <= j, into dst, of length d(d+1)/2. They are the
// half vectorization of tt'.
func Vech(dst, t []float64) {
	a := 0
	for i, ti := range t {
		for _, tj := range t[i:] {
			dst[a] = ti * tj
			a++
		}
	}
}
