package denoise

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// mesh is a surface of triangles.
type mesh struct {
	v []([3]float64)
	f [][3]int
}

// box3 makes the mesh of a box with sides a, b, c.
func boxMesh(a, b, c float64) *mesh {
	m := &mesh{}
	for k := range 8 {
		m.v = append(m.v, [3]float64{a * float64(k&1), b * float64(k>>1&1), c * float64(k>>2&1)})
	}
	for _, q := range [][4]int{{0, 1, 3, 2}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 3, 7, 5}} {
		m.f = append(m.f, [3]int{q[0], q[1], q[2]}, [3]int{q[0], q[2], q[3]})
	}
	return m
}

// turnedMesh turns a profile of radii and heights about an axis.
func turnedMesh(profile [][2]float64) *mesh {
	const around = 240
	m := &mesh{}
	for _, p := range profile {
		for j := range around {
			s, c := math.Sincos(2 * math.Pi * float64(j) / around)
			m.v = append(m.v, [3]float64{p[0] * c, p[0] * s, p[1]})
		}
	}
	for i := range len(profile) - 1 {
		for j := range around {
			a, b := i*around+j, i*around+(j+1)%around
			if profile[i][0] > 0 { // on the axis all points of a ring are one
				m.f = append(m.f, [3]int{a, b, a + around})
			}
			if profile[i+1][0] > 0 {
				m.f = append(m.f, [3]int{b, b + around, a + around})
			}
		}
	}
	return m
}

// lensMesh is what two balls share whose centres are one radius apart: one sharp edge between two bent faces.
func lensMesh() *mesh {
	const steps = 80
	profile := make([][2]float64, 0, 2*steps+1)
	for i := range 2*steps + 1 {
		s, c := math.Sincos(math.Pi / 3 * float64(min(i, 2*steps-i)) / steps)
		profile = append(profile, [2]float64{s, math.Copysign(c-.5, float64(steps-i))})
	}
	return turnedMesh(profile)
}

// bumpyMesh is a sphere with bumps of several sizes.
func bumpyMesh() *mesh {
	const rings, around = 160, 320
	m := &mesh{}
	for i := range rings + 1 {
		for j := range around {
			a, b := math.Pi*float64(i)/rings, 2*math.Pi*float64(j)/around
			x, y, z := math.Sin(a)*math.Cos(b), math.Sin(a)*math.Sin(b), math.Cos(a)
			r := 1 + .15*math.Sin(3*x+1)*math.Cos(2*y) + .06*math.Sin(7*z+2*x)*math.Sin(6*y) + .02*math.Sin(15*x)*math.Sin(14*y)*math.Sin(13*z)
			m.v = append(m.v, [3]float64{r * x, r * y, r * z})
		}
	}
	for i := range rings {
		for j := range around {
			a, b := i*around+j, i*around+(j+1)%around
			if i > 0 { // at the poles all points of a ring are one
				m.f = append(m.f, [3]int{a, b, a + around})
			}
			if i < rings-1 {
				m.f = append(m.f, [3]int{b, b + around, a + around})
			}
		}
	}
	return m
}

// loadMesh reads NAME.off from the folder that SCQM_MESHES names.
func loadMesh(name string) (*mesh, error) {
	f, err := os.Open(filepath.Join(os.Getenv("SCQM_MESHES"), name+".off"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	var head string
	var nv, nf, other int
	if _, err := fmt.Fscan(in, &head, &nv, &nf, &other); err != nil {
		return nil, err
	}
	m := &mesh{v: make([][3]float64, nv), f: make([][3]int, nf)}
	for i := range m.v {
		if _, err := fmt.Fscan(in, &m.v[i][0], &m.v[i][1], &m.v[i][2]); err != nil {
			return nil, err
		}
	}
	for i := range m.f {
		if _, err := fmt.Fscan(in, &other, &m.f[i][0], &m.f[i][1], &m.f[i][2]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// scale makes the diagonal of the bounding box 1.
func (m *mesh) scale() {
	b := lookup.NewBox(3)
	for _, v := range m.v {
		b.Include(v[:])
	}
	size := rows.Distance(b.Lo, b.Hi)
	for i := range m.v {
		for j := range 3 {
			m.v[i][j] /= size
		}
	}
}

// sample draws points by area.
func (m *mesh) sample(n int, rng *rand.Rand, accept func(x [3]float64) float64) [][3]float64 {
	total, area := 0.0, make([]float64, len(m.f))
	for k, f := range m.f {
		a, b := sub3(m.v[f[1]], m.v[f[0]]), sub3(m.v[f[2]], m.v[f[0]])
		c := [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
		total += math.Sqrt(dense.Dot(c[:], c[:]))
		area[k] = total
	}
	var list [][3]float64
	for len(list) < n {
		k, _ := slices.BinarySearch(area, total*rng.Float64())
		f := m.f[min(k, len(m.f)-1)]
		s, t := rng.Float64(), rng.Float64()
		if s+t > 1 {
			s, t = 1-s, 1-t
		}
		var p [3]float64
		for j := range p {
			p[j] = m.v[f[0]][j] + s*(m.v[f[1]][j]-m.v[f[0]][j]) + t*(m.v[f[2]][j]-m.v[f[0]][j])
		}
		if accept == nil || rng.Float64() < accept(p) {
			list = append(list, p)
		}
	}
	return list
}

func sub3(a, b [3]float64) [3]float64 { return [3]float64{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }

// farFrom is the square of the distance of p from the triangle a, b, c (Ericson, Real-Time
// Collision Detection, 5.1.5).
func farFrom(p, a, b, c [3]float64) float64 {
	dot := func(x, y [3]float64) float64 { return x[0]*y[0] + x[1]*y[1] + x[2]*y[2] }
	ab, ac, ap := sub3(b, a), sub3(c, a), sub3(p, a)
	to := func(s, t float64) float64 {
		var sum float64
		for j := range 3 {
			d := ap[j] - s*ab[j] - t*ac[j]
			sum += d * d
		}
		return sum
	}
	d1, d2 := dot(ab, ap), dot(ac, ap)
	if d1 <= 0 && d2 <= 0 {
		return to(0, 0)
	}
	bp := sub3(p, b)
	d3, d4 := dot(ab, bp), dot(ac, bp)
	if d3 >= 0 && d4 <= d3 {
		return to(1, 0)
	}
	vc := d1*d4 - d3*d2
	if vc <= 0 && d1 >= 0 && d3 <= 0 {
		return to(d1/(d1-d3), 0)
	}
	cp := sub3(p, c)
	d5, d6 := dot(ab, cp), dot(ac, cp)
	if d6 >= 0 && d5 <= d6 {
		return to(0, 1)
	}
	vb := d5*d2 - d1*d6
	if vb <= 0 && d2 >= 0 && d6 <= 0 {
		return to(0, d2/(d2-d6))
	}
	va := d3*d6 - d5*d4
	if va <= 0 && d4-d3 >= 0 && d5-d6 >= 0 {
		w := (d4 - d3) / ((d4 - d3) + (d5 - d6))
		return to(1-w, w)
	}
	return to(vb/(va+vb+vc), vc/(va+vb+vc))
}

// nearest says how far points are from the mesh: grid cells around a point are searched in
// shells.
type meshIndex struct {
	m    *mesh
	cell float64
	in   map[[3]int32][]int32
}

func newMeshIndex(m *mesh, cell float64) *meshIndex {
	g := &meshIndex{m, cell, map[[3]int32][]int32{}}
	for k, f := range m.f {
		lo, hi := m.v[f[0]], m.v[f[0]]
		for _, i := range f[1:] {
			for j := range 3 {
				lo[j], hi[j] = min(lo[j], m.v[i][j]), max(hi[j], m.v[i][j])
			}
		}
		a, b := g.at(lo), g.at(hi)
		for x := a[0]; x <= b[0]; x++ {
			for y := a[1]; y <= b[1]; y++ {
				for z := a[2]; z <= b[2]; z++ {
					g.in[[3]int32{x, y, z}] = append(g.in[[3]int32{x, y, z}], int32(k))
				}
			}
		}
	}
	return g
}

func (g *meshIndex) at(p [3]float64) [3]int32 {
	var c [3]int32
	for j := range 3 {
		c[j] = int32(math.Floor(p[j] / g.cell))
	}
	return c
}

func (g *meshIndex) far(p [3]float64) float64 {
	best, c := math.Inf(1), g.at(p)
	for r := int32(0); ; r++ {
		for x := -r; x <= r; x++ {
			for y := -r; y <= r; y++ {
				for z := -r; z <= r; z++ {
					if max(x, -x, y, -y, z, -z) != r {
						continue
					}
					for _, k := range g.in[[3]int32{c[0] + x, c[1] + y, c[2] + z}] {
						f := g.m.f[k]
						best = min(best, farFrom(p, g.m.v[f[0]], g.m.v[f[1]], g.m.v[f[2]]))
					}
				}
			}
		}
		if reach := float64(r) * g.cell; best <= reach*reach || r > 60 {
			return math.Sqrt(best)
		}
	}
}

// scan is a noisy sample of a mesh; noise is in % of the diagonal.
type scanCase struct {
	name, mesh string
	n          int
	noise      float64
	kind       string
}

var scanCases = []scanCase{
	{"bumpy .2", "bumpy", 10000, .2, ""},
	{"bumpy .5", "bumpy", 10000, .5, ""},
	{"bumpy 1", "bumpy", 10000, 1, ""},
	{"bumpy 2", "bumpy", 10000, 2, ""},
	{"bumpy .5 density", "bumpy", 10000, .5, "density"},
	{"bumpy uneven", "bumpy", 10000, 0, "uneven"},
	{"bumpy .5 outliers", "bumpy", 10000, .5, "outliers"},
	{"bumpy .5 rays", "bumpy", 10000, .5, "rays"},
	{"cube .2", "cube", 10000, .2, ""},
	{"cube .5", "cube", 10000, .5, ""},
	{"cube 1", "cube", 10000, 1, ""},
	{"cube 2", "cube", 10000, 2, ""},
	{"cube .5 outliers", "cube", 10000, .5, "outliers"},
	{"cube uneven", "cube", 10000, 0, "uneven"},
	{"bumpy 1500 .5", "bumpy", 1500, .5, ""},
	{"bumpy 1500 .5 outliers", "bumpy", 1500, .5, "outliers"},
	{"cube 1500 .2", "cube", 1500, .2, ""},
	{"cube 1500 .5", "cube", 1500, .5, ""},
	{"cube 1500 1", "cube", 1500, 1, ""},
	{"cube 1500 2", "cube", 1500, 2, ""},
	{"cube 1500 uneven", "cube", 1500, 0, "uneven"},
	{"cube 1500 .5 outliers", "cube", 1500, .5, "outliers"},
	{"cube 1500 .5 rays", "cube", 1500, .5, "rays"},
	{"cube .5 rays", "cube", 10000, .5, "rays"},
	{"lens 1500 .5 rays", "lens", 1500, .5, "rays"},
	{"lens 1500 uneven", "lens", 1500, 0, "uneven"},
	{"cube 300 .2", "cube", 300, .2, ""},
	{"cube 300 1", "cube", 300, 1, ""},
	{"lens 1500 .2", "lens", 1500, .2, ""},
	{"lens 1500 .5", "lens", 1500, .5, ""},
	{"cylinder 1500 .2", "cylinder", 1500, .2, ""},
	{"cylinder 1500 .5", "cylinder", 1500, .5, ""},
	{"slab .25", "slab", 10000, .25, ""},
	{"bunny .2", "bunny", 10000, .2, ""},
	{"bunny .5", "bunny", 10000, .5, ""},
	{"bunny 1", "bunny", 10000, 1, ""},
	{"bunny 2", "bunny", 10000, 2, ""},
	{"bunny .5 density", "bunny", 10000, .5, "density"},
	{"bunny uneven", "bunny", 10000, 0, "uneven"},
	{"bunny .5 outliers", "bunny", 10000, .5, "outliers"},
	{"bunny .5 rays", "bunny", 10000, .5, "rays"},
	{"cube .5 density", "cube", 10000, .5, "density"},
	{"cube .5 boundary", "cube", 10000, .5, "boundary"},
	{"bunny .5 boundary", "bunny", 10000, .5, "boundary"},
	{"fandisk .2", "fandisk", 10000, .2, ""},
	{"fandisk .5", "fandisk", 10000, .5, ""},
	{"fandisk .5 density", "fandisk", 10000, .5, "density"},
	{"fandisk .5 boundary", "fandisk", 10000, .5, "boundary"},
	{"dragon .2", "dragon", 10000, .2, ""},
	{"dragon .5", "dragon", 10000, .5, ""},
	{"dragon .5 density", "dragon", 10000, .5, "density"},
	{"dragon .5 boundary", "dragon", 10000, .5, "boundary"},
	{"dragon .3", "dragon", 10000, .3, ""},
	{"dragon .3 100000", "dragon", 100000, .3, ""},
}

func (c scanCase) draw(m *mesh, seed uint64) (x rows.Data, outlier []bool) {
	rng := rand.New(rand.NewPCG(seed, 81))
	var accept func(p [3]float64) float64
	b := lookup.NewBox(3)
	for _, v := range m.v {
		b.Include(v[:])
	}
	along := func(p [3]float64) float64 { return (p[0] - b.Lo[0]) / (b.Hi[0] - b.Lo[0]) }
	if c.kind == "density" {
		accept = func(p [3]float64) float64 { return math.Exp(-math.Log(20) * along(p)) }
	}
	if c.kind == "boundary" { // half of the surface
		accept = func(p [3]float64) float64 { return math.Max(0, math.Ceil(.5-along(p))) }
	}
	x = rows.Data{N: c.n, D: 3}
	for k, p := range m.sample(c.n, rng, accept) {
		s := c.noise / 100
		if c.kind == "uneven" {
			s = .002 * math.Exp(math.Log(10)*along(p))
		}
		out := c.kind == "outliers" && k%5 == 0
		outlier = append(outlier, out)
		if c.kind == "rays" { // of a scanner two diagonals away
			ray := sub3(p, [3]float64{(b.Lo[0]+b.Hi[0])/2 + 2, (b.Lo[1] + b.Hi[1]) / 2, (b.Lo[2] + b.Hi[2]) / 2})
			move := s * rng.NormFloat64() / math.Sqrt(dense.Dot(ray[:], ray[:]))
			x.X = append(x.X, p[0]+move*ray[0], p[1]+move*ray[1], p[2]+move*ray[2])
			continue
		}
		for j := range 3 {
			if out {
				x.X = append(x.X, b.Lo[j]-.05+(b.Hi[j]-b.Lo[j]+.1)*rng.Float64())
				continue
			}
			x.X = append(x.X, p[j]+s*rng.NormFloat64())
		}
	}
	return x, outlier
}

func (c scanCase) surface() (*mesh, error) {
	var m *mesh
	var err error
	switch c.mesh {
	case "cube":
		m = boxMesh(1, 1, 1)
	case "slab":
		m = boxMesh(1, 1, .02*math.Sqrt2)
	case "bumpy":
		m = bumpyMesh()
	case "lens":
		m = lensMesh()
	case "cylinder":
		m = turnedMesh([][2]float64{{0, -.5}, {.5, -.5}, {.5, .5}, {0, .5}})
	default:
		m, err = loadMesh(c.mesh)
	}
	if err == nil {
		m.scale()
	}
	return m, err
}

// BenchmarkScans denoises noisy samples of surfaces and reports, in % of the diagonal, the
// root mean square distance to the surface and its 99 % quantile, before (raw) and after,
// and the processor time. Meshes other than bumpy, cube, slab, lens and cylinder are NAME.off in the
// folder SCQM_MESHES, or left out; SCQM_SCAN_METHOD is another method than auto.
func BenchmarkScans(b *testing.B) {
	name := os.Getenv("SCQM_SCAN_METHOD")
	if name == "" {
		name = "auto"
	}
	m, err := ByName(name, Settings{Latent: 2})
	require.NoError(b, err)
	for _, c := range scanCases {
		b.Run(strings.ReplaceAll(c.name, " ", "_"), func(b *testing.B) {
			surface, err := c.surface()
			if err != nil {
				b.Skip(err)
			}
			near := newMeshIndex(surface, .02)
			for range b.N {
				for seed := range *seeds {
					c.measure(b, m, surface, near, *firstSeed+seed, float64(*seeds))
				}
			}
		})
	}
}

func (c scanCase) measure(b *testing.B, m Method, surface *mesh, near *meshIndex, seed uint64, seeds float64) {
	x, outlier := c.draw(surface, seed)
	before := processorSeconds(b)
	d, err := Fit(context.Background(), m, x, Options{Threads: 1})
	require.NoError(b, err)
	r, err := d.Denoise(context.Background(), x, Options{Threads: 1})
	require.NoError(b, err)
	cpu := processorSeconds(b) - before
	far := func(x []float64) (rms, most float64) {
		var list []float64
		for i := range c.n {
			if !outlier[i] {
				v := near.far([3]float64(x[3*i : 3*i+3]))
				list = append(list, v)
				rms += v * v
			}
		}
		slices.Sort(list)
		return 100 * math.Sqrt(rms/float64(len(list))), 100 * list[len(list)*99/100]
	}
	raw, _ := far(x.X)
	rms, most := far(r.X)
	scale := 0.0
	if a, ok := d.prepared.Fitted.(interface{ Noise() float64 }); ok {
		scale = a.Noise()
	}
	b.Logf("%-20s seed %d: raw %.3f auto %.4f (%.3f) K %d ridge %v sigma %.4f cpu %.2f", c.name, seed, raw, rms, most, r.Rows[0].Neighbors, r.Rows[0].Ridge, 100*scale, cpu)
}

// BenchmarkRatios reports the mean squared error over that of the projection on the
// true surface.
func BenchmarkRatios(b *testing.B) {
	sphere := func(sigma float64) func(uint64) sample {
		return func(seed uint64) sample { return sphereSample(seed, 300, sigma) }
	}
	surface := func(n, D int, sigma float64, d int, point func(x []float64, rng *rand.Rand, t []float64)) func(uint64) sample {
		return func(seed uint64) sample { return surfaceSample(seed, n, D, sigma, d, point) }
	}
	for _, c := range []struct {
		name string
		d    int
		draw func(seed uint64) sample
	}{
		{"sphere .03", 2, sphere(.03)}, {"sphere .06", 2, sphere(.06)}, {"sphere .12", 2, sphere(.12)}, {"sphere .21", 2, sphere(.21)},
		{"sphere .06 outliers", 2, outlierSample},
		{"torus .10", 2, surface(1000, 3, .1, 2, torusPoint)},
		{"helix .10", 1, surface(400, 3, .1, 1, helixPoint)},
		{"helix .10 outliers", 1, helixOutlierSample},
		{"sphere .06 t3", 2, sphereTailSample},
		{"R20 .05", 2, surface(600, 20, .05, 2, widePoint)},
	} {
		b.Run(strings.ReplaceAll(c.name, " ", "_"), func(b *testing.B) {
			for range b.N {
				from := processorSeconds(b)
				mean, e := ratio(b, Auto{Latent: c.d}, c.draw)
				cpu := (processorSeconds(b) - from) / float64(*seeds)
				mls, _ := ratio(b, classic.MLS{Latent: c.d, Flat: true}, c.draw)
				b.Logf("%-20s ratio %.4f +- %.4f cpu %.2f, mls %.4f", c.name, mean, e, cpu, mls)
			}
		})
	}
}

// helixOutlierSample is a helix on which one row in ten is far off; these do not count.
func helixOutlierSample(seed uint64) sample {
	s := surfaceSample(seed, 400, 3, .1, 1, helixPoint)
	rng := rand.New(rand.NewPCG(seed, 79))
	for i := 0; i < s.x.N; i += 10 {
		s.ignored = append(s.ignored, i)
		for j := range 3 {
			s.x.Row(i)[j] = 3 * (2*rng.Float64() - 1)
		}
	}
	return s
}

// sphereTailSample is a sphere with noise of Student's t with three degrees of freedom.
func sphereTailSample(seed uint64) sample {
	s := sphereSample(seed, 300, 0)
	rng := rand.New(rand.NewPCG(seed, 80))
	for i := range s.x.X {
		var chi float64
		for range 3 {
			v := rng.NormFloat64()
			chi += v * v
		}
		s.x.X[i] += .06 * rng.NormFloat64() / math.Sqrt(chi)
	}
	return s
}
