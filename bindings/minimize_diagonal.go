package bindings

import (
	"github.com/scqm/scqm/framework"
)

// diagonal is the cost sum_k a_k x_k + d_k x_k^2 / 2 of the entries of a point,
// block after block, whose sum begins at the first.
type diagonal struct {
	blocks                     framework.Product
	a, d                       []float64
	x, out                     []float64
	costs, gradients, products int64
}

// Blocks implements [framework.Problem].
func (p *diagonal) Blocks() []framework.Block { return p.blocks }

// Evaluate implements [framework.Problem].
func (p *diagonal) Evaluate(grad, x framework.Point) (float64, error) {
	pack(p.x, x)
	p.costs++
	var sum float64
	for k, v := range p.x {
		// Conversions keep products and sums from being fused.
		sum += float64(p.a[k]*v) + float64(float64(p.d[k]*float64(v*v))/2)
	}
	if asked(grad) {
		return sum, p.Resume(grad)
	}
	return sum, nil
}

// Resume implements [framework.Problem].
func (p *diagonal) Resume(grad framework.Point) error {
	p.gradients++
	for k, v := range p.x {
		p.out[k] = p.a[k] + float64(p.d[k]*v)
	}
	for k, from := range split(p.blocks, p.out) {
		if grad[k] != nil {
			copy(grad[k], from)
		}
	}
	return nil
}

// HessianProduct implements [framework.TwiceDifferentiable].
func (p *diagonal) HessianProduct(dst, _, v framework.Point) error {
	p.products++
	pack(p.out, v)
	for k, v := range p.out {
		p.out[k] = p.d[k] * v
	}
	unpack(dst, p.out)
	return nil
}

// MinimizeDiagonal is [Minimize] for the cost sum_k a_k x_k + d_k x_k^2 / 2 of the
// entries of a point, computed in Go: a test compares it with the same cost in
// Python. The start is read from the array at iterate, and the result
// written there.
func MinimizeDiagonal(settings string, a, d, iterate uint64) (string, error) {
	return guarded("minimize", func() (string, error) {
		var s minimizeSettings
		if err := decode(settings, &s); err != nil {
			return "", err
		}
		blocks, err := describedBlocks(s.Blocks, nil)
		if err != nil {
			return "", err
		}
		n := blocks.Size()
		p := &diagonal{blocks: blocks, x: make([]float64, n), out: make([]float64, n)}
		if p.a, err = view("a", a, n); err != nil {
			return "", err
		}
		if p.d, err = view("d", d, n); err != nil {
			return "", err
		}
		x, err := view("iterate", iterate, n)
		if err != nil {
			return "", err
		}
		result, err := s.solve(p, x, func(func()) func(framework.Record) { return nil })
		if err != nil {
			return "", err
		}
		pack(x, result.Point)
		return result.report(0, p.costs, p.gradients, p.products)
	})
}
