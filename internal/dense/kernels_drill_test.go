package dense

import (
	"fmt"
	"math"
	"testing"

	"github.com/scqm/scqm/internal/drill"
)

// Kernels have the bits of plain Go for all sizes, strides and places in memory, and for numbers that
// are none, on every instruction set that the processor has.
func TestDrillKernels(t *testing.T) {
	was, more := wide, wider
	defer func() { setWidth(was, more) }()
	drill.Run(t, "kernels", 2000, func(c drill.Case) error {
		for _, has := range [][2]bool{{true, false}, {true, true}} {
			if has[0] && !was || has[1] && !more {
				continue
			}
			setWidth(has[0], has[1])
			// The numbers are drawn anew, for each set the same.
			if err := tryKernels(drill.Case{Index: c.Index, Rand: drill.Rand(t, "kernels of a case", c.Index)}); err != nil {
				return fmt.Errorf("wider %v: %w", has[1], err)
			}
		}
		return nil
	})
}

// tryKernels compares all kernels with what they are to do, for sizes about multiples of lanes.
func tryKernels(c drill.Case) error {
	special := specials[c.Index%2]
	D, n, m := 1+c.IntN(70), c.IntN(20), 1+c.IntN(15)
	if c.IntN(50) == 0 {
		n += tileLength
	}
	stride := D + c.IntN(4)
	x, axes, weights := numbers(c.Rand, n*stride, special), numbers(c.Rand, m*D, special), numbers(c.Rand, n*m, special)
	var centre []float64
	if c.IntN(3) > 0 {
		centre = numbers(c.Rand, D, special)
	}
	packed := x[:n*D]

	y, squares := numbers(c.Rand, m*(n+2), nil), numbers(c.Rand, n, nil)
	want, wantSquares := copied(y), copied(squares)
	FrameProducts(y, n+2, squares, packed, centre, axes, n, m, D)
	frameProducts(want, n+2, wantSquares, packed, centre, axes, n, m, D)
	if err := differ("products with a frame", append(want, wantSquares...), append(y, squares...)); err != nil {
		return err
	}

	sums := numbers(c.Rand, m*stride, nil)
	want = copied(sums)
	add := &weighted{w: weights, row: m, column: 1, x: x, stride: stride, c: centre, n: n}
	add.to(sums, stride, m, D)
	add.plain(want, stride, m, D)
	if err := differ("sums of rows", want, sums); err != nil {
		return err
	}

	images := numbers(c.Rand, n*stride, nil)
	want = copied(images)
	add = &weighted{w: weights, row: 1, column: m, x: axes, stride: D, c: centre, n: m}
	add.to(images, stride, n, D)
	add.plain(want, stride, n, D)
	if err := differ("images", want, images); err != nil {
		return err
	}

	a, b := numbers(c.Rand, D, special), numbers(c.Rand, D, special)
	to := copied(b)
	want = copied(b)
	AddScaled(to, a[0], a)
	addScaled(want, a[0], a)
	return differ("vectors", append(want, innerProduct(a, b)), append(to, InnerProduct(a, b)))
}

func copied(x []float64) []float64 { return append([]float64{}, x...) }

// differ returns an error where numbers are not the same, of which one NaN is as good as another.
func differ(what string, want, got []float64) error {
	for i, v := range want {
		if math.Float64bits(v) != math.Float64bits(got[i]) && !(math.IsNaN(v) && math.IsNaN(got[i])) {
			return fmt.Errorf("%s: number %d is %v, plain %v", what, i, got[i], v)
		}
	}
	return nil
}
