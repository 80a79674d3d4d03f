package denoise

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/rows"
)

// cellSphere is rows with noise about the unit sphere, which cellSize cuts into cells.
func cellSphere(noise float64) rows.Data {
	rng := rand.New(rand.NewPCG(1, 2))
	x := rows.Data{N: 13000, D: 3}
	for range x.N {
		v := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		length := math.Sqrt(dense.Dot(v, v))
		for _, a := range v {
			x.X = append(x.X, a/length+noise*rng.NormFloat64())
		}
	}
	return x
}

const cellSize = 3000

func inCells(t *testing.T, m Method, x, y rows.Data, o Options) (*Denoiser, *Result) {
	t.Helper()
	d, err := Fit(context.Background(), m, x, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Denoise(context.Background(), y, o)
	if err != nil {
		t.Fatal(err)
	}
	return d, r
}

// offSphere is the root mean square distance from the unit sphere.
func offSphere(v []float64) float64 {
	sum := 0.0
	for i := 0; i < len(v); i += 3 {
		off := math.Sqrt(dense.Dot(v[i:i+3], v[i:i+3])) - 1
		sum += off * off
	}
	return math.Sqrt(sum / float64(len(v)/3))
}

func rootMeanSquare(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return math.Sqrt(3 * sum / float64(len(a)))
}

func TestCellsDenoiseAsTheWhole(t *testing.T) {
	const noise = 0.002 // for which the best charts are smaller than cells
	x := cellSphere(noise)
	_, whole := inCells(t, Auto{Latent: 2}, x, x, Options{})
	d, r := inCells(t, Auto{Latent: 2}, x, x, Options{CellRows: cellSize, Threads: 1})
	if n := len(d.cells.list); n < 4 {
		t.Fatalf("%d cells", n)
	}
	if d.Method().Name() != "auto" || d.Note() != "" {
		t.Errorf("method %s, note %q", d.Method().Name(), d.Note())
	}
	if apart := rootMeanSquare(r.X, whole.X); apart > noise/3 {
		t.Errorf("cells are %v from the whole", apart)
	}
	if got, want := offSphere(r.X), offSphere(whole.X); got > 1.03*want {
		t.Errorf("error in cells %v, of the whole %v", got, want)
	}

	order := rand.New(rand.NewPCG(3, 4)).Perm(x.N)
	permuted := x.Select(order)
	_, again := inCells(t, Auto{Latent: 2}, permuted, permuted, Options{CellRows: cellSize, Threads: 4})
	for k, i := range order {
		if !slices.Equal(r.X[3*i:3*i+3], again.X[3*k:3*k+3]) || r.Rows[i] != again.Rows[k] {
			t.Fatalf("row %d depends on the order of rows or on threads", i)
		}
	}
}

func TestNormalsOfCellsAgree(t *testing.T) {
	for name, side := range map[string]Orientation{"consistency": {}, "viewpoint": {Viewpoint: []float64{0, 0, 0}}} {
		t.Run(name, func(t *testing.T) {
			x := cellSphere(0.003)
			for i := range x.X {
				x.X[i] *= 0x1p-200 // another unit
			}
			d, r := inCells(t, classic.LPCA{Latent: 2}, x, x, Options{CellRows: cellSize, Surface: true})
			if r.Surface == nil {
				t.Error("the surface was not found with the rows")
			}
			g, err := d.Geometry(context.Background(), x, r, side, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range x.N {
				along := dense.Dot(g.Normals[3*i:3*i+3], x.Row(i)) / math.Sqrt(dense.Dot(x.Row(i), x.Row(i)))
				if side.Viewpoint != nil {
					along = -along
				}
				if along < 0.9 {
					t.Fatalf("the normal of row %d is %v from outwards", i, along)
				}
			}
			slices.Sort(g.Curvature)
			if middle := math.Abs(g.Curvature[x.N/2]) * 0x1p-200; math.Abs(middle-1) > 0.2 {
				t.Errorf("the median of curvatures is %v", middle)
			}
		})
	}
}

// TestRowsLeftHaveNoSide: outliers, which have no normal, do not turn those of the others inwards.
func TestRowsLeftHaveNoSide(t *testing.T) {
	x := cellSphere(0.01)
	x.N, x.X = 1000, x.X[:3000]
	for i := range 6 {
		copy(x.X[3*i:3*i+3], []float64{0, 0, 0})
		x.X[3*i+i/2] = float64(2*(i%2)-1) * 1.5
	}
	d, r := inCells(t, Auto{Latent: 2}, x, x, Options{})
	g, err := d.Geometry(context.Background(), x, r, Orientation{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := 6; i < x.N; i++ {
		if dense.Dot(g.Normals[3*i:3*i+3], x.Row(i)) < 0 {
			t.Fatalf("the normal of row %d points inwards", i)
		}
	}
}

func TestCellsDenoiseOtherRows(t *testing.T) {
	x := cellSphere(0.01)
	x.Weights = make([]float64, x.N)
	for i := range x.Weights {
		x.Weights[i] = float64(i % 7)
	}
	few := rows.Data{N: 3, D: 3, X: []float64{1.1, 0, 0, 0, -0.9, 0, 0.6, 0.6, 0.6}}
	d, r := inCells(t, classic.LPCA{Latent: 2}, x, few, Options{CellRows: 1000})
	_, whole := inCells(t, classic.LPCA{Latent: 2}, x, few, Options{})
	if !slices.Equal(r.X, whole.X) {
		t.Errorf("%v in cells, %v by the whole", r.X, whole.X)
	}
	g, err := d.Geometry(context.Background(), few, r, Orientation{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if g.Normals[0] < 0.9 || g.Normals[4] > -0.9 {
		t.Errorf("normals %v", g.Normals)
	}
}

func TestCellsChooseOneDimension(t *testing.T) {
	x := cellSphere(0.03)
	d, err := Fit(context.Background(), SelectDimension{classic.MLS{}}, x, Options{CellRows: cellSize})
	if err != nil {
		t.Fatal(err)
	}
	if d.Latent() != 2 || d.cells == nil {
		t.Errorf("dimension %d", d.Latent())
	}
}

func TestCellsLeaveRowsWhenInterrupted(t *testing.T) {
	x := cellSphere(0.01)
	d, err := Fit(context.Background(), classic.LPCA{Latent: 2}, x, Options{CellRows: cellSize})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, err := d.Denoise(ctx, x, Options{Progress: func(float64) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	done := 0
	for i, row := range r.Rows {
		if !row.Unchanged {
			done++
		} else if !slices.Equal(r.X[3*i:3*i+3], x.Row(i)) {
			t.Fatalf("row %d is unchanged but not as it came", i)
		}
	}
	if done == 0 || done == x.N {
		t.Errorf("%d of %d rows are done", done, x.N)
	}
}

func TestPartition(t *testing.T) {
	x := cellSphere(0.01)
	for i := range 2 * x.N {
		x.X[i] = 0.5 // two thirds of the rows are equal
	}
	list := core.Smallest(x, 2000)
	_, cells, err := Partition(context.Background(), classic.LPCA{Latent: 2}, x.Select(list), x.N, Options{CellRows: 500})
	if err != nil {
		t.Fatal(err)
	}
	if len(cells) < 20 {
		t.Errorf("%d cells", len(cells))
	}
	for i := range x.N {
		held := 0
		for _, c := range cells {
			if c.holds(x.Row(i), 0) {
				held++
			}
		}
		if held != 1 {
			t.Fatalf("row %d is in %d cells", i, held)
		}
	}
}
