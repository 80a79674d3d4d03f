package manifolds

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/scqm/scqm/framework"
)

// Product is a manifold made of named blocks, such as the rigid motions of space, SE(3): rotations "R" times
// translations "t" of R^3. A point consists of the points of the blocks, one after the other.
//
// The factors of a problem's domain need no product: they are its blocks. A product is useful for copies, such as a
// pose per camera, and for tests and distances of the whole.
type Product interface {
	framework.Manifold
	framework.Transporter
	framework.Constrained
	RetractionOrder() int
	fmt.Stringer
	// Blocks returns the blocks, whose order is that of the coordinates.
	Blocks() []framework.Block
	// Part returns the coordinates of a block as a subslice of x. It panics if no block has the name.
	Part(x []float64, name string) []float64
}

// NewProduct returns the product of the blocks, with the sum of their inner products. Copies of one block are a
// power. The result is a [framework.Metric] if a factor is one. If all factors are, it is also a [framework.Exper], a
// [framework.Logarithm], a [framework.Distance], a [framework.HessianConverter] and a [framework.Rander]; otherwise
// none of these five. It panics if names are empty or repeated, and for quotients, which need a block of their own.
func NewProduct(blocks ...framework.Block) Product {
	p := &product{blocks: blocks, starts: make([]int, len(blocks)+1)}
	metric, geodesic := false, true
	taken := map[string]bool{}
	for k, b := range blocks {
		if b.Name == "" || taken[b.Name] {
			panic(fmt.Sprintf("manifolds: product: block %d has the name %q, which is empty or taken", k, b.Name))
		}
		if _, ok := b.Manifold.(interface {
			Same(dst, x []float64, rng *rand.Rand)
		}); ok {
			panic(fmt.Sprintf("manifolds: product: block %s is a quotient", b.Name))
		}
		taken[b.Name] = true
		p.starts[k+1] = p.starts[k] + b.Size()
		_, own := b.Manifold.(framework.Metric)
		metric = metric || own
		_, has := b.Manifold.(geodesicManifold)
		geodesic = geodesic && has
	}
	switch {
	case metric && geodesic:
		return &metricGeodesicProduct{geodesicProduct{p}, productMetric{p}}
	case metric:
		return &metricProduct{p, productMetric{p}}
	case geodesic:
		return &geodesicProduct{p}
	}
	return p
}

// NewSE returns SE(n), the rigid motions of R^n, as the product of rotations "R", n x n, and
// translations "t": a point is R, row by row, and then t. It panics for n below 1.
func NewSE(n int) Product {
	return NewProduct(framework.Block{Name: "R", Manifold: NewRotations(n)}, framework.Block{Name: "t", Manifold: Euclidean(n)})
}

// geodesicManifold is what every factor of a geodesicProduct offers.
type geodesicManifold interface {
	framework.Exper
	framework.Logarithm
	framework.Distance
	framework.HessianConverter
	framework.Rander
}

type (
	// product is the part that does not depend on the factors' capabilities.
	product struct {
		blocks framework.Product
		starts []int // offsets of the blocks' coordinates, and the end
	}
	// geodesicProduct is a product of geodesicManifolds.
	geodesicProduct struct{ *product }
	// productMetric is the inner product if a factor has its own.
	productMetric struct{ p *product }

	metricProduct struct {
		*product
		productMetric
	}
	metricGeodesicProduct struct {
		geodesicProduct
		productMetric
	}
)

// String returns a name such as "product R: rotations 3, t: euclidean 3".
func (m *product) String() string {
	names := make([]string, len(m.blocks))
	for k, b := range m.blocks {
		names[k] = fmt.Sprintf("%s: %v", b.Name, b.Manifold)
		if n := b.Rows(); n > 1 {
			names[k] = fmt.Sprintf("%s: %d of %v", b.Name, n, b.Manifold)
		}
	}
	return "product " + strings.Join(names, ", ")
}

// Blocks returns the blocks.
func (m *product) Blocks() []framework.Block { return m.blocks }

// Part returns the coordinates of a block.
func (m *product) Part(x []float64, name string) []float64 {
	mustFit(m.Size(), x)
	for k, b := range m.blocks {
		if b.Name == name {
			return m.part(x, k)
		}
	}
	panic(fmt.Sprintf("manifolds: %v: there is no block %q", m, name))
}

func (m *product) part(x []float64, k int) []float64 {
	return x[m.starts[k]:m.starts[k+1]:m.starts[k+1]]
}

// split returns the coordinates of the blocks as subslices of x.
func (m *product) split(x []float64) framework.Point {
	mustFit(m.Size(), x)
	parts := make(framework.Point, len(m.blocks))
	for k := range parts {
		parts[k] = m.part(x, k)
	}
	return parts
}

// Size is the sum of the sizes.
func (m *product) Size() int { return m.starts[len(m.blocks)] }

// Dim is the sum of the dimensions.
func (m *product) Dim() int { return m.blocks.Dim() }

// Project projects block by block.
func (m *product) Project(dst, x, v []float64) {
	m.blocks.Project(m.split(dst), m.split(x), m.split(v))
}

// Retract retracts block by block. It fails where a block does.
func (m *product) Retract(dst, x, v []float64) error {
	return failed(m, "retraction", m.blocks.Retract(m.split(dst), m.split(x), m.split(v)))
}

// RetractionOrder is the lowest of the blocks.
func (m *product) RetractionOrder() int {
	order := 2
	for _, b := range m.blocks {
		claimed, ok := b.Manifold.(interface{ RetractionOrder() int })
		if !ok {
			return 1
		}
		order = min(order, claimed.RetractionOrder())
	}
	return order
}

// Transport transports block by block, by projection where a block has no other.
func (m *product) Transport(dst, x, y, v []float64) {
	m.blocks.Transport(m.split(dst), m.split(x), m.split(y), m.split(v))
}

// Violation is the largest of the blocks, or +Inf where x is not finite.
func (m *product) Violation(x []float64) float64 {
	if !m.split(x).Finite() {
		return math.Inf(1)
	}
	return m.blocks.Violation(m.split(x))
}

// Restore restores block by block. It fails where a block does, or is not
// finite.
func (m *product) Restore(x []float64) error {
	if err := checkFinite(x); err != nil {
		return failed(m, "restoring", err)
	}
	return failed(m, "restoring", m.blocks.Restore(m.split(x)))
}

// Exp moves every block along its geodesic. It fails where a block does.
func (m *geodesicProduct) Exp(dst, x, v []float64) error {
	return failed(m, "exponential", m.blocks.Exp(m.split(dst), m.split(x), m.split(v)))
}

// Log inverts Exp block by block. It fails where a block does.
func (m *geodesicProduct) Log(dst, x, y []float64) error {
	return failed(m, "logarithm", m.blocks.Log(m.split(dst), m.split(x), m.split(y)))
}

// Distance is the root of the sum of the squared distances of the blocks. It
// fails where a block does.
func (m *geodesicProduct) Distance(x, y []float64) (float64, error) {
	far, err := m.blocks.Distance(m.split(x), m.split(y))
	return far, failed(m, "distance", err)
}

// RiemannianHessian converts block by block.
func (m *geodesicProduct) RiemannianHessian(dst, x, g, h, v []float64) {
	if err := m.blocks.Hessian(m.split(dst), m.split(x), m.split(g), m.split(h), m.split(v)); err != nil {
		panic(err) // NewProduct asked
	}
}

// Rand draws independent points of the blocks.
func (m *geodesicProduct) Rand(dst []float64, rng *rand.Rand) {
	if err := m.blocks.Rand(m.split(dst), rng); err != nil {
		panic(err) // NewProduct asked
	}
}

// Inner is the sum of the inner products of the blocks.
func (m productMetric) Inner(x, u, v []float64) float64 {
	return m.p.blocks.Inner(m.p.split(x), m.p.split(u), m.p.split(v))
}

// Gradient converts block by block.
func (m productMetric) Gradient(dst, x, g []float64) {
	m.p.blocks.Gradient(m.p.split(dst), m.p.split(x), m.p.split(g))
}
