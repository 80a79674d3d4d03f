package nearest

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

//go:generate sh -c "go run ../../../../internal/dense/assembly rounded > rounded_sums_amd64.s"

const (
	// roundedSteps is the number of Newton steps from the nearest point under l2, roundedFirst the length
	// to which the absolute value is rounded at the first, in units of the root of the mean square of
	// residuals, and roundedLess the factor from one to the next.
	roundedSteps, roundedFirst, roundedLess = 6, 0.2, 0.3
	// roundedLongest bounds a step in the same unit.
	roundedLongest = 2
)

// The kernels by d.
var (
	roundedSums512 = [...]func(table, coefficients, x, multipliers, at, sums *float64, n int){1: roundedSums1AVX512, 2: roundedSums2AVX512, 3: roundedSums3AVX512}
	roundedSums2   = [...]func(table, coefficients, x, multipliers, at, sums *float64, n int){1: roundedSums1AVX2, 2: roundedSums2AVX2, 3: roundedSums3AVX2}
)

// absoluteStarts moves rows from the nearest point under l2 close to a minimum of the sum of absolute
// residuals, eight together, by Newton's method with sqrt(r^2 + mu^2) in place of |r| and ever smaller mu. The
// multiplier g of an entry is a number of its own, and (1 - g r / s) / s the weight of the products of its slopes
// for s = sqrt(r^2 + mu^2). Near a minimum those entries are the smallest that vanish there. Bits are those of
// plain Go, and those of a row do not depend on the others.
//
// Source: K. D. Andersen, E. Christiansen, A. R. Conn, M. L. Overton, An efficient primal-dual
// interior-point method for minimizing a sum of Euclidean norms, SIAM Journal on Scientific Computing 22
// (2000) 243-262.
type absoluteStarts struct {
	f            *sheet.Sheet
	coefficients []float64 // D x cutTerms: those of the entries of f(tau), one after the other
	x            []float64 // D x cellLanes
	multipliers  []float64 // D x 2: from which g follows at the next step, as a + b r, of all lanes
	at           []float64 // d + 2: tau, mu^2, and whether this is the first step, of all lanes
	sums         []float64 // gradient, products of slopes, and coefficients of degree 2 by multipliers, of all lanes
	table        [3]float64
	unit         [cellLanes]float64
}

// hasAbsoluteStarts reports whether the way by absoluteStarts is shorter: along a line the kinks are as near,
// and of many entries a descent takes some only.
func hasAbsoluteStarts(f *sheet.Sheet) bool { return f.Latent > 1 && f.D < manyEntries }

func newAbsoluteStarts(f *sheet.Sheet) *absoluteStarts {
	d := f.Latent
	forms := d * (d + 1) / 2
	s := &absoluteStarts{
		f: f, coefficients: make([]float64, f.D*cutTerms(d)), x: make([]float64, f.D*cellLanes), multipliers: make([]float64, 2*f.D*cellLanes),
		at: make([]float64, (d+2)*cellLanes), sums: make([]float64, (d+2*forms)*cellLanes), table: [3]float64{1, -1, 0},
	}
	s.reload(newEntries(f))
	return s
}

// reload has to be called where the sheet has changed, with its entries.
func (s *absoluteStarts) reload(e *entries) {
	f := s.f
	d := f.Latent
	for k := range f.D {
		to := s.coefficients[k*cutTerms(d) : (k+1)*cutTerms(d)]
		to[0] = f.C[k]
		for j := range d {
			to[1+j] = f.Axis(j)[k]
		}
		for a := 1 + d; a < len(to); a++ {
			to[a] = 0
			if a < e.terms {
				to[a] = e.column(a)[k]
			}
		}
	}
}

// moveAll is move for any number of rows.
func (s *absoluteStarts) moveAll(tau, x, squares []float64, n int) {
	d, D := s.f.Latent, s.f.D
	for i := 0; i < n; i += cellLanes {
		to := min(i+cellLanes, n)
		s.move(tau[i*d:to*d], x[i*D:to*D], squares[i:to], to-i)
	}
}

// move takes tau of n rows, cellLanes at most, of which squares are the squared residuals there.
func (s *absoluteStarts) move(tau, x, squares []float64, n int) {
	d, D := s.f.Latent, s.f.D
	for i := range n {
		for k, v := range x[i*D : (i+1)*D] {
			s.x[k*cellLanes+i] = v
		}
		s.unit[i] = math.Sqrt(squares[i] / float64(D))
		for j := range d {
			s.at[j*cellLanes+i] = tau[i*d+j]
		}
	}
	length := roundedFirst
	for step := range roundedSteps {
		for i, unit := range s.unit {
			s.at[d*cellLanes+i], s.at[(d+1)*cellLanes+i] = unit*length*unit*length, 0
			if step == 0 {
				s.at[(d+1)*cellLanes+i] = 1
			}
		}
		s.add(n)
		for i := range n {
			s.step(i)
		}
		length *= roundedLess
	}
	for i := range n {
		for j := range d {
			if v := s.at[j*cellLanes+i]; squares[i] != Refused && !math.IsNaN(v) {
				tau[i*d+j] = v
			}
		}
	}
}

// add computes the sums of n rows at least.
func (s *absoluteStarts) add(n int) {
	clear(s.sums)
	const half = cellLanes / 2
	d, D := s.f.Latent, s.f.D
	switch wide, wider := dense.Wide(); {
	case wider && n > half:
		roundedSums512[d](&s.table[0], &s.coefficients[0], &s.x[0], &s.multipliers[0], &s.at[0], &s.sums[0], D)
	case wide:
		for k := 0; k < n; k += half {
			roundedSums2[d](&s.table[0], &s.coefficients[0], &s.x[k], &s.multipliers[k], &s.at[k], &s.sums[k], D)
		}
	default:
		s.plain(n)
	}
}

// plain is what the kernels do.
func (s *absoluteStarts) plain(n int) {
	d := s.f.Latent
	forms := d * (d + 1) / 2
	for i := range n {
		at := func(j int) float64 { return s.at[j*cellLanes+i] }
		sum := func(a int, v float64) { s.sums[a*cellLanes+i] += v }
		for k := range s.f.D {
			c := s.coefficients[k*cutTerms(d):]
			r := c[0] - s.x[k*cellLanes+i]
			var slopes place
			for a := range d {
				inner, slope := c[1+a], c[1+a]
				for j := range d {
					term := float64(c[1+d+upper(a, j, d)] * at(j))
					if slope += term; j == a {
						slope += term
					}
					if j >= a {
						inner += term
					}
				}
				r += float64(inner * at(a))
				slopes[a] = slope
			}
			inverse := 1 / math.Sqrt(float64(r*r)+at(d))
			q := float64(r * inverse)
			known := s.multipliers[2*k*cellLanes+i:]
			g := greater(less(known[0]+float64(known[cellLanes]*r), s.table[0]), s.table[1])
			if at(d+1) > 0 {
				g = q
			}
			weight := float64(greater(1-float64(g*q), 0) * inverse)
			known[0], known[cellLanes] = q-float64(weight*r), weight
			for a, v := range slopes[:d] {
				sum(a, float64(q*v))
				by := float64(weight * v)
				for j := a; j < d; j++ {
					sum(d+upper(a, j, d), float64(by*slopes[j]))
				}
			}
			for a := range forms {
				sum(d+forms+a, float64(g*c[1+d+a]))
			}
		}
	}
}

// step takes a Newton step of row i.
func (s *absoluteStarts) step(i int) {
	d := s.f.Latent
	forms := d * (d + 1) / 2
	var g, u place
	var h [maxBounded * maxBounded]float64
	a := 0
	for j := range d {
		g[j] = s.sums[j*cellLanes+i]
		for k := j; k < d; k++ {
			v := s.sums[(d+a)*cellLanes+i] + s.sums[(d+forms+a)*cellLanes+i]
			if j == k {
				v += s.sums[(d+forms+a)*cellLanes+i]
			}
			h[j*d+k], h[k*d+j] = v, v
			a++
		}
	}
	dense.NewtonStep(u[:d], h[:d*d], g[:d], dense.Flat)
	size := math.Sqrt(dense.Dot(u[:d], u[:d]))
	by := 1.0
	if most := roundedLongest * s.unit[i]; !(size <= most) {
		by = most / size
	}
	for j := range d {
		s.at[j*cellLanes+i] += by * u[j]
	}
}
