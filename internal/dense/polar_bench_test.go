package dense

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/floats"
)

func BenchmarkPolar(b *testing.B) {
	for _, shape := range [][2]int{{3, 3}, {5, 10}, {15, 30}, {50, 50}, {65, 130}} {
		m, n := shape[0], shape[1]
		a := gaussians(8, m*n)
		for i := range m {
			floats.Scale(1/float64(1+i), a[i*n:(i+1)*n])
		}
		q := make([]float64, m*n)
		p := NewPolar(m, n)
		b.Run(fmt.Sprintf("%dx%d", n, m), func(b *testing.B) {
			for b.Loop() {
				p.Factor(q, a, n)
			}
		})
	}
}
