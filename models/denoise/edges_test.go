package denoise

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/rows"
)

// slabRows are rows of the surface of a box of sides 1, 1 and thick, of unit diagonal, with noise, and what
// returns the root mean square distance from it. One row in five is anywhere near, and does not count, if so asked.
func slabRows(seed uint64, n int, thick, noise float64, outliers bool) (x rows.Data, off func(y []float64) float64) {
	m := boxMesh(1, 1, thick)
	m.scale()
	rng := rand.New(rand.NewPCG(seed, 7))
	x = rows.Data{N: n, D: 3}
	for i, p := range m.sample(n, rng, nil) {
		for j, v := range p {
			if outliers && i%5 == 0 {
				x.X = append(x.X, []float64{.7, .7, thick}[j]*rng.Float64()+.2*(rng.Float64()-.5))
				continue
			}
			x.X = append(x.X, v+noise*rng.NormFloat64())
		}
	}
	near := newMeshIndex(m, .02)
	return x, func(y []float64) float64 {
		var sum, counted float64
		for i := range n {
			if !outliers || i%5 != 0 {
				v := near.far([3]float64(y[3*i : 3*i+3]))
				sum += v * v
				counted++
			}
		}
		return math.Sqrt(sum / counted)
	}
}

// TestThinSheets wants both sides of sheets kept apart, far more or hardly more apart than the noise, and where one row
// in five is anywhere.
func TestThinSheets(t *testing.T) {
	needSpeed(t)
	for _, c := range []struct {
		n            int
		thick, noise float64
		outliers     bool
		gain         float64
	}{{1500, .09, .006, false, .5}, {700, .035, .003, false, .6}, {2500, .05, .01, true, .6}} {
		x, off := slabRows(11, c.n, c.thick, c.noise, c.outliers)
		r := run(t, Auto{Latent: 2}, x, Options{})
		t.Logf("%+v: %.3f", c, off(r.X)/off(x.X))
		assert.Less(t, off(r.X), c.gain*off(x.X), "%+v", c)
	}
}

// TestBetweenSheets: where nothing tells two sheets apart, as on the plane, no row is much further from these than it came. Noise that is as likely
// anywhere within its bounds is that of one sheet.
func TestBetweenSheets(t *testing.T) {
	needSpeed(t)
	rng := rand.New(rand.NewPCG(13, 13))
	x := rows.Data{N: 200, D: 2, X: make([]float64, 400)}
	for i := range x.N {
		copy(x.Row(i), []float64{rng.Float64(), .05*float64(i%2) + .006*rng.NormFloat64()})
	}
	off := func(y []float64) (sum float64) {
		for i := range x.N {
			v := y[2*i+1] - .05*float64(i%2)
			sum += v * v
		}
		return math.Sqrt(sum)
	}
	r := run(t, Auto{Latent: 1}, x, Options{})
	t.Logf("between: %.3f", off(r.X)/off(x.X))
	assert.LessOrEqual(t, off(r.X), 1.02*off(x.X))
	flat := rows.Data{N: 3000, D: 3, X: make([]float64, 9000)}
	for i := range flat.N {
		copy(flat.Row(i), []float64{rng.Float64(), rng.Float64(), .05 * rng.Float64()})
	}
	r = run(t, Auto{Latent: 2}, flat, Options{})
	var before, after float64
	for i := range flat.N {
		before += math.Pow(flat.Row(i)[2]-.025, 2)
		after += math.Pow(r.X[3*i+2]-.025, 2)
	}
	t.Logf("flat: %.3f", math.Sqrt(after/before))
	assert.Less(t, after, .25*before)
}

// finRows are rows of a gentle sheet, of which one in five is on the two sides of a fin that stands on it, at the distance half from
// the middle, with noise that may grow along it; off returns the root mean square distances of the rows of the fin, and of the others.
func finRows(seed uint64, n int, half, noise float64, uneven bool) (x rows.Data, off func(y []float64) (fin, sheet float64)) {
	const wide = .35
	rng := rand.New(rand.NewPCG(seed, 31))
	x = rows.Data{N: n, D: 3}
	bend := func(a, b float64) float64 { return .1 * (a*a - b*b) }
	for i := range n {
		p := [3]float64{rng.Float64() - .5, rng.Float64() - .5, 0}
		p[2] = bend(p[0], p[1])
		if i%5 == 0 {
			side := half * float64(1-2*(i/5%2))
			p = [3]float64{wide * (rng.Float64() - .5), side, .1 + wide*rng.Float64()}
		}
		s := noise
		if uneven {
			s *= math.Pow(6, p[0])
		}
		for _, v := range p {
			x.X = append(x.X, v+s*rng.NormFloat64())
		}
	}
	return x, func(y []float64) (fin, sheet float64) {
		for i := range n {
			p := y[3*i : 3*i+3]
			if i%5 == 0 {
				v := math.Abs(p[1]) - half
				fin += v * v / float64(n/5)
				continue
			}
			v := p[2] - bend(p[0], p[1])
			sheet += v * v / float64(n-n/5)
		}
		return math.Sqrt(fin), math.Sqrt(sheet)
	}
}

// TestThinParts wants both sides of a part kept apart that is as thin as neighbourhoods elsewhere are large, with noise that
// is even or not.
func TestThinParts(t *testing.T) {
	needSpeed(t)
	for _, c := range []struct {
		half, gain float64
		uneven     bool
	}{{.03, .7, false}, {.03, .85, true}, {.012, .8, false}} {
		x, off := finRows(3, 1800, c.half, .005, c.uneven)
		r := run(t, Auto{Latent: 2}, x, Options{})
		before, _ := off(x.X)
		fin, sheet := off(r.X)
		t.Logf("%+v: fin %.3f sheet %.5f", c, fin/before, sheet)
		assert.Less(t, fin, c.gain*before, "%+v", c)
		assert.Less(t, sheet, .0015, "%+v", c)
	}
}

// boxRows are rows of the surface of a cube of diagonal 1, with noise in % of that; off is the root mean square distance from the surface, in %.
func boxRows(seed uint64, n int, noise float64) (x rows.Data, off func(y []float64) float64) {
	cube := boxMesh(1, 1, 1)
	cube.scale()
	rng := rand.New(rand.NewPCG(seed, 81))
	x = rows.Data{N: n, D: 3}
	for _, p := range cube.sample(n, rng, nil) {
		for _, v := range p {
			x.X = append(x.X, v+noise/100*rng.NormFloat64())
		}
	}
	near := newMeshIndex(cube, .02)
	return x, func(y []float64) float64 {
		var sum float64
		for i := range n {
			v := near.far([3]float64(y[3*i : 3*i+3]))
			sum += v * v
		}
		return 100 * math.Sqrt(sum/float64(n))
	}
}

// TestCubes wants rows of cubes near these, in % of the diagonal, where charts without creases leave twice as much.
func TestCubes(t *testing.T) {
	needSpeed(t)
	for _, c := range []struct {
		seed        uint64
		n           int
		noise, most float64
	}{{101, 1500, .5, .29}, {101, 1500, .2, .25}, {104, 5000, .5, .1}, {105, 5000, .2, .07}} {
		x, off := boxRows(c.seed, c.n, c.noise)
		got := off(run(t, Auto{Latent: 2}, x, Options{}).X)
		t.Logf("%+v: %.3f", c, got)
		assert.Less(t, got, c.most, "%+v", c)
	}
}

// TestRays wants few points along rays nearer to a cube, and to a surface without edges, than they came.
func TestRays(t *testing.T) {
	needSpeed(t)
	for mesh, most := range map[string]float64{"cube": .75, "bumpy": .8} {
		scan := scanCase{mesh: mesh, n: 1500, noise: .5, kind: "rays"}
		surface, err := scan.surface()
		require.NoError(t, err)
		x, _ := scan.draw(surface, 760)
		r := run(t, Auto{Latent: 2}, x, Options{})
		near := newMeshIndex(surface, .02)
		off := func(y []float64) (sum float64) {
			for i := range x.N {
				v := near.far([3]float64(y[3*i : 3*i+3]))
				sum += v * v
			}
			return math.Sqrt(sum)
		}
		t.Logf("%s: %.3f", mesh, off(r.X)/off(x.X))
		assert.Less(t, off(r.X), most*off(x.X), mesh)
	}
}

// meanAngle is that of normals to those of the nearest faces of a box from boxRows, in degrees.
func meanAngle(t *testing.T, d *Denoiser, x rows.Data, r *Result) (sum float64) {
	t.Helper()
	g, err := d.Geometry(context.Background(), x, r, Orientation{}, Options{})
	require.NoError(t, err)
	half := .5 / math.Sqrt(3)
	for i := range x.N {
		face, most := 0, 0.0
		for j, v := range r.X[3*i : 3*i+3] {
			if far := math.Abs(v - half); far > most {
				face, most = j, far
			}
		}
		sum += math.Acos(min(math.Abs(g.Normals[3*i+face]), 1)) / float64(x.N) * 180 / math.Pi
	}
	return sum
}

// TestNormalsNearEdges wants normals to be those of the face that a point is on.
func TestNormalsNearEdges(t *testing.T) {
	needSpeed(t)
	for _, c := range []struct {
		seed uint64
		n    int
		most float64 // degrees
	}{{101, 1500, 11}, {104, 5000, 3}} {
		x, _ := boxRows(c.seed, c.n, .5)
		d, err := Fit(context.Background(), Auto{Latent: 2}, x, Options{})
		require.NoError(t, err)
		r, err := d.Denoise(context.Background(), x, Options{})
		require.NoError(t, err)
		got := meanAngle(t, d, x, r)
		t.Logf("%+v: %.2f", c, got)
		assert.Less(t, got, c.most, "%+v", c)
	}
}
