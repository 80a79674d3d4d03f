package denoise

import (
	"math"
	"math/rand/v2"

	"github.com/scqm/scqm/models/rows"
)

// noisyShape is noisy rows with the distance of a point from the true surface.
type noisyShape struct {
	x       rows.Data
	far     func(p []float64) float64
	outlier []bool // nil for none
}

// off is the root mean square distance of the rows that are no outliers.
func (s noisyShape) off(y []float64) float64 {
	var sum, n float64
	for i := range s.x.N {
		if s.outlier == nil || !s.outlier[i] {
			v := s.far(y[i*s.x.D : (i+1)*s.x.D])
			sum += v * v
			n++
		}
	}
	return math.Sqrt(sum / n)
}

// noisy draws n points with normal noise.
func noisy(rng *rand.Rand, n, D int, sigma float64, far func(p []float64) float64, draw func(p []float64)) noisyShape {
	s := noisyShape{x: rows.Data{N: n, D: D, X: make([]float64, n*D)}, far: far}
	for i := range n {
		draw(s.x.Row(i))
	}
	for i := range s.x.X {
		s.x.X[i] += sigma * rng.NormFloat64()
	}
	return s
}

// scatter replaces a part of the rows by points anywhere in a cube.
func (s *noisyShape) scatter(rng *rand.Rand, part, half float64) {
	s.outlier = make([]bool, s.x.N)
	for i := range s.x.N {
		if s.outlier[i] = rng.Float64() < part; s.outlier[i] {
			for j := range s.x.D {
				s.x.Row(i)[j] = half * (2*rng.Float64() - 1)
			}
		}
	}
}

// unitSphere sets p to a point of the sphere, and sphereFar is the distance from it.
func unitSphere(rng *rand.Rand, p []float64) {
	var square float64
	for j := range p {
		p[j] = rng.NormFloat64()
		square += p[j] * p[j]
	}
	for j := range p {
		p[j] /= math.Sqrt(square)
	}
}

func sphereFar(p []float64) float64 {
	var square float64
	for _, v := range p {
		square += v * v
	}
	return math.Abs(math.Sqrt(square) - 1)
}

// noisyCurve draws points of a curve, whose parameter is in [0, 1].
func noisyCurve(rng *rand.Rand, n, D int, sigma float64, point func(p []float64, t float64)) noisyShape {
	const fine = 3000
	line := make([]float64, fine*D)
	for k := range fine {
		point(line[k*D:(k+1)*D], float64(k)/(fine-1))
	}
	far := func(p []float64) float64 {
		least := math.Inf(1)
		for k := range fine - 1 {
			least = min(least, farFromSegment(p, line[k*D:(k+1)*D], line[(k+1)*D:(k+2)*D]))
		}
		return math.Sqrt(least)
	}
	return noisy(rng, n, D, sigma, far, func(p []float64) { point(p, rng.Float64()) })
}

// farFromSegment is the squared distance of a point from a segment.
func farFromSegment(p, a, b []float64) (square float64) {
	var along, length float64
	for j := range p {
		along += (p[j] - a[j]) * (b[j] - a[j])
		length += (b[j] - a[j]) * (b[j] - a[j])
	}
	along = min(max(along/length, 0), 1)
	for j := range p {
		v := p[j] - a[j] - along*(b[j]-a[j])
		square += v * v
	}
	return square
}

func circle(p []float64, t float64) { p[1], p[0] = math.Sincos(2 * math.Pi * t) }

func helix(p []float64, t float64) {
	circle(p, 2*t)
	p[2] = math.Pi * t
}

func trefoil(p []float64, t float64) {
	a := 2 * math.Pi * t
	p[0], p[1], p[2] = math.Sin(a)+2*math.Sin(2*a), math.Cos(a)-2*math.Cos(2*a), -math.Sin(3*a)
}

func spiral(p []float64, t float64) {
	circle(p, 2*t)
	for j := range p {
		p[j] *= .2 + t
	}
}

// wave bends into all columns.
func wave(p []float64, t float64) {
	for j := range p {
		p[j] = math.Cos(2*t+float64(j)) + .3*math.Sin(float64(j)*t)
	}
}

// plates are two parallel squares.
func plates(rng *rand.Rand, n int, gap, sigma float64) noisyShape {
	far := func(p []float64) float64 { return min(math.Abs(p[2]), math.Abs(p[2]-gap)) }
	return noisy(rng, n, 3, sigma, far, func(p []float64) {
		p[0], p[1], p[2] = rng.Float64(), rng.Float64(), gap*float64(rng.IntN(2))
	})
}

// growing is a sphere whose noise grows from pole to pole.
func growing(rng *rand.Rand, n int, least, most float64) noisyShape {
	s := noisy(rng, n, 3, 0, sphereFar, func(p []float64) { unitSphere(rng, p) })
	for i := range n {
		sigma := least + (most-least)*(s.x.Row(i)[2]+1)/2
		for j := range 3 {
			s.x.Row(i)[j] += sigma * rng.NormFloat64()
		}
	}
	return s
}

// cuboid is a box between two corners.
type cuboid [2][3]float64

// signed is the distance of a point from the surface of a box, negative inside.
func (b cuboid) signed(p []float64) float64 {
	var outside float64
	inside := math.Inf(-1)
	for j, v := range p {
		q := max(b[0][j]-v, v-b[1][j])
		outside += max(q, 0) * max(q, 0)
		inside = max(inside, q)
	}
	return math.Sqrt(outside) + min(inside, 0)
}

// chair has a seat, a back and four legs.
var chair = []cuboid{
	{{-.5, -.5, 0}, {.5, .5, .12}}, {{-.5, .4, .12}, {.5, .5, 1.1}}, {{-.5, -.5, -.9}, {-.38, -.38, 0}},
	{{.38, -.5, -.9}, {.5, -.38, 0}}, {{-.5, .38, -.9}, {-.38, .5, 0}}, {{.38, .38, -.9}, {.5, .5, 0}},
}

// boxes draws points of the surface of the union of boxes, evenly.
func boxes(rng *rand.Rand, list []cuboid, n int, sigma float64) noisyShape {
	signed := func(p []float64) float64 {
		least := math.Inf(1)
		for _, b := range list {
			least = min(least, b.signed(p))
		}
		return least
	}
	var ends []float64 // of the areas of faces, three pairs a box
	total := 0.0
	for _, b := range list {
		for k := range 3 {
			i, j := (k+1)%3, (k+2)%3
			total += (b[1][i] - b[0][i]) * (b[1][j] - b[0][j])
			ends = append(ends, total)
		}
	}
	draw := func(p []float64) {
		for {
			at, k := total*rng.Float64(), 0
			for ends[k] < at {
				k++
			}
			b := list[k/3]
			for j := range 3 {
				p[j] = b[0][j] + (b[1][j]-b[0][j])*rng.Float64()
			}
			if p[k%3] = b[rng.IntN(2)][k%3]; signed(p) > -1e-9 {
				return
			}
		}
	}
	return noisy(rng, n, 3, sigma, func(p []float64) float64 { return math.Abs(signed(p)) }, draw)
}
