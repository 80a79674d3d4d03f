package denoise

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/denoise/internal/principal"
	"github.com/scqm/scqm/models/rows"
)

// tileCloud makes rows near a curve in the plane or a surface in more columns: plain; with
// duplicates, rows on a grid that have ties, and weights of 0 to 2; with outliers; or in
// two sheets with a thin gap.
func tileCloud(kind string, n, D int, rng *rand.Rand) rows.Data {
	d := min(2, D-1)
	x := surfaceSample(rng.Uint64(), n, D, .03, d, func(x []float64, rng *rand.Rand, t []float64) {
		if rng != nil {
			for k := range t {
				t[k] = 2*rng.Float64() - 1
			}
		}
		for j := range x {
			x[j] = t[j%d] * math.Cos(float64(j/d))
		}
		x[D-1] += .5 * t[0] * t[0]
	}).x
	switch kind {
	case "ties":
		for k, v := range x.X {
			x.X[k] = math.Round(v*8) / 8
		}
		for range n {
			x.Weights = append(x.Weights, float64(rng.IntN(3)))
		}
	case "outliers":
		for range n / 12 {
			row := x.Row(rng.IntN(n))
			for j := range row {
				row[j] = 6 * rng.NormFloat64()
			}
		}
	case "gap":
		for i := range n / 2 {
			x.X[i*D+D-1] += .1
		}
	}
	return x
}

var tileKinds = []string{"plain", "ties", "outliers", "gap"}

func tileMethod(name string, d int) Method {
	switch name {
	case "lpca":
		return classic.LPCA{Latent: d, Neighbors: 8}
	case "mls":
		return classic.MLS{Latent: d, Neighbors: 9}
	case "scqm":
		return classic.SCQM{Latent: d, Neighbors: 9, Steps: 20, LossFor: func(far []float64) (framework.Loss, error) {
			return losses.Huber(losses.DefaultHuberDelta(far))
		}}
	}
	return Auto{Latent: d, Neighbors: 14}
}

var tileMethods = []string{"lpca", "mls", "scqm", "auto"}

// wireEngine sends all that it is given, and all that it keeps, through its encoding.
type wireEngine struct{ *memoryEngine }

func (e wireEngine) Run(ctx context.Context, tasks []*Task) ([]*Reply, error) {
	sent := make([]*Task, len(tasks))
	for k, task := range tasks {
		sent[k] = new(Task)
		if err := resend(task, sent[k]); err != nil {
			return nil, err
		}
	}
	for k, t := range e.tiles {
		e.tiles[k] = new(Tile)
		if err := resend(t, e.tiles[k]); err != nil {
			return nil, err
		}
	}
	for k, q := range e.queries {
		e.queries[k] = new(Queries)
		if err := resend(q, e.queries[k]); err != nil {
			return nil, err
		}
	}
	replies, err := e.memoryEngine.Run(ctx, sent)
	for k, r := range replies {
		replies[k] = new(Reply)
		if err := resend(r, replies[k]); err != nil {
			return nil, err
		}
	}
	return replies, err
}

func resend(from interface{ MarshalBinary() ([]byte, error) }, to interface{ UnmarshalBinary([]byte) error }) error {
	b, err := from.MarshalBinary()
	if err != nil {
		return err
	}
	return to.UnmarshalBinary(b)
}

// inTiles is [InTiles], through encodings, and with the fit encoded in between.
func inTiles(m Method, x rows.Data, tiles int, halo float64, o Options) (*Result, *TilingReport, error) {
	r, fit, err := othersInTiles(m, x, x, tiles, halo, o)
	if err != nil {
		return nil, nil, err
	}
	report := fit.Report()
	return r, &report, nil
}

// requireSameInTiles wants the bits of one cloud from tiles.
func requireSameInTiles(t *testing.T, m Method, x rows.Data, tiles int, halo float64, want *Result) {
	t.Helper()
	got, _, err := inTiles(m, x, tiles, halo, Options{})
	require.NoError(t, err)
	require.Equal(t, want.X, got.X)
	require.Equal(t, want.Rows, got.Rows)
}

// othersInTiles is that for other rows than those fitted.
func othersInTiles(m Method, x, y rows.Data, tiles int, halo float64, o Options) (*Result, *TileFit, error) {
	ctx := context.Background()
	of, err := newMemoryEngine(m, x, y, tiles)
	if err != nil {
		return nil, nil, err
	}
	e := wireEngine{of}
	fit, err := FitTiles(ctx, m, e, Tiling{Halo: halo}, o)
	if err != nil {
		return nil, nil, err
	}
	b, err := fit.MarshalBinary()
	if err != nil {
		return nil, nil, err
	}
	if fit, err = LoadTileFit(b, m); err != nil {
		return nil, nil, err
	}
	if err := fit.Denoise(ctx, e, o); err != nil {
		return nil, nil, err
	}
	return e.gather(y), fit, nil
}

// TestDrillTiles: tiles give the bits of one cloud, whatever the method, the rows, the
// number of tiles and the halo.
func TestDrillTiles(t *testing.T) {
	halos := []float64{0, .02, -1, math.Inf(1)}
	counts := []int{1, 2, 5, 16}
	columns := []int{2, 3, 10, 12}
	tried, again := 0, 0
	drill.Run(t, "tiles", 16, func(c drill.Case) error {
		name, D := tileMethods[c.Index%4], columns[c.Index/4%4]
		kind, halo := tileKinds[c.IntN(4)], halos[c.IntN(4)]
		tiles, n := counts[c.IntN(4)], 60+c.IntN(20)
		if drill.Whole() {
			n += c.IntN(240)
		}
		if name == "auto" && D >= 10 {
			n += 20
		}
		x := tileCloud(kind, n, D, c.Rand)
		m := tileMethod(name, min(2, D-1))
		o := Options{Average: []int{0, 0, 3}[c.IntN(3)], Axes: AllColumns}
		if D == 12 { // along axes, for auto of a given number
			o.Axes = 4
			if name != "auto" {
				o.Axes *= c.IntN(2)
			}
			if name == "scqm" { // huber's threshold is of columns
				m = classic.SCQM{Latent: 2, Neighbors: 9, Steps: 20, Loss: losses.L2()}
			}
		}
		want, err := wholeCloud(m, x, o)
		if err != nil {
			return fmt.Errorf("%s, %s, D = %d, n = %d: %w", name, kind, D, n, err)
		}
		got, report, err := inTiles(m, x, tiles, halo, o)
		if err != nil {
			return fmt.Errorf("%s, %s, D = %d, n = %d, %d tiles, halo %v: %w", name, kind, D, n, tiles, halo, err)
		}
		tried++
		again += report.Again
		for i := range n {
			if !sameBits(got.X[i*D:(i+1)*D], want.X[i*D:(i+1)*D]) || got.Rows[i] != want.Rows[i] {
				return fmt.Errorf("%s, %s, D = %d, n = %d, %d tiles, halo %v: row %d is %v %+v, want %v %+v",
					name, kind, D, n, tiles, halo, i, got.X[i*D:(i+1)*D], got.Rows[i], want.X[i*D:(i+1)*D], want.Rows[i])
			}
		}
		return nil
	})
	if tried >= 8 {
		require.Positive(t, again, "no halo was too small")
	}
}

// TestDraw: axes are found by the rows that one cloud finds them by, some of many.
func TestDraw(t *testing.T) {
	rng := drill.Rand(t, "draw", 0)
	x := rows.Data{N: principal.PlaneRows + 9000, D: 2}
	for range x.N {
		x.X = append(x.X, math.Round(1e4*rng.NormFloat64()), math.Round(1e4*rng.NormFloat64()))
		x.Weights = append(x.Weights, float64(rng.IntN(50)))
	}
	want := principal.PlaneSample(x)
	require.Equal(t, principal.PlaneRows, want.N)
	e, err := newMemoryEngine(classic.LPCA{Latent: 1}, x, x, 3)
	require.NoError(t, err)
	f := tiling{ctx: context.Background(), method: classic.LPCA{Latent: 1}, engine: wireEngine{e}, D: 2, report: &TilingReport{}}
	require.NoError(t, f.survey())
	got, err := f.draw()
	require.NoError(t, err)
	require.Equal(t, want.X, got.X)
	require.Equal(t, want.Weights, got.Weights)
}

func wholeCloud(m Method, x rows.Data, o Options) (*Result, error) {
	d, err := Fit(context.Background(), m, x, o)
	if err != nil {
		return nil, err
	}
	return d.Denoise(context.Background(), x, o)
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(v, w float64) bool { return math.Float64bits(v) == math.Float64bits(w) })
}

// TestTilesAlongAxes: rows of many columns in tiles, and others that are far off their plane, come out
// as on one machine.
func TestTilesAlongAxes(t *testing.T) {
	x, y := wideSphere(11, 300, 20, 0.05).x, wideSphere(12, 40, 20, 0.05).x
	for i := range 5 {
		y.Row(i)[i] += 4
	}
	copy(x.Row(7), x.Row(3))
	for _, m := range []Method{principal.PCA{}, classic.LPCA{Latent: 2, Neighbors: 12}, classic.SCQM{Latent: 2, Neighbors: 12}, classic.MLS{Latent: 2, Neighbors: 12}} {
		d, err := Fit(context.Background(), m, x, Options{})
		require.NoError(t, err)
		require.Positive(t, d.Axes())
		want, err := d.Denoise(context.Background(), y, Options{})
		require.NoError(t, err)
		for _, halo := range []float64{0, -1} {
			got, _, err := InTiles(context.Background(), m, x, y, 4, Tiling{Halo: halo}, Options{})
			require.NoError(t, err)
			require.Equal(t, want.X, got.X, m.Name())
			require.Equal(t, want.Rows, got.Rows, m.Name())
		}
	}
	line := rows.Data{N: 4, D: 1, X: []float64{0, 1, 2, 4}}
	_, _, err := inTiles(principal.PCA{}, line, 2, -1, Options{})
	require.NoError(t, err)
}

// TestCertificate: rows that tiles with small halos pass are right, and many of those
// that they do not pass would have been wrong.
func TestCertificate(t *testing.T) {
	rng := drill.Rand(t, "certificate", 0)
	x := tileCloud("plain", 400, 3, rng)
	m := classic.MLS{Latent: 2, Neighbors: 10}
	want, err := wholeCloud(m, x, Options{})
	require.NoError(t, err)
	e, err := newMemoryEngine(m, x, x, 6)
	require.NoError(t, err)
	wrong, missed := 0, 0
	for k, q := range e.queries {
		known := q.bounds(rows.Data{N: q.Rows(), D: 3, X: q.x}).Widen(.08)
		task := &Task{act: actDenoise, first: true, all: x.N, wants: []nearby{{rowField, known}}}
		var parts []*Tile
		for _, s := range e.tiles {
			s.all = x.N
			parts = append(parts, task.Cut(s))
		}
		// Without the certificate:
		all := union(3, x.N, parts)
		d, err := core.Prepare(context.Background(), m, &Cloud{Data: rows.Data{N: all.Rows(), D: 3, X: all.x}, Index: lookup.NewScan(all.x, 3, upTo(all.Rows())), Used: upTo(all.Rows())}, Options{})
		require.NoError(t, err)
		trusting, err := d.Denoise(context.Background(), rows.Data{N: len(q.number), D: 3, X: q.x}, Options{})
		require.NoError(t, err)
		_, err = task.DoQueries(context.Background(), m, q, parts)
		require.NoError(t, err)
		for l, i := range q.number {
			right := sameBits(trusting.X[3*l:3*l+3], want.X[3*i:3*i+3])
			if !right {
				wrong++
				require.False(t, q.result.Rows[l].Done, "tile %d passes row %d, which is wrong", k, i)
			}
			if !q.result.Rows[l].Done {
				missed++
				continue
			}
			require.Equal(t, want.X[3*i:3*i+3], q.result.X[3*l:3*l+3])
		}
	}
	require.Greater(t, wrong, x.N/50, "halos that small are wrong somewhere")
	require.Less(t, missed, x.N*3/4, "halos that wide serve somebody")
}

// nearby is what a task wants; want is a variable there.
type nearby = want

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// TestTies: a row beyond a face at the very distance of the last neighbour may come before
// it, so that the search has missed it.
func TestTies(t *testing.T) {
	x := []float64{0, 0, 1, 0}
	known := lookup.NewBox(2)
	known.Include([]float64{-2, -1})
	known.Include([]float64{1, 1})
	in := lookup.KnownIndex{Index: lookup.NewScan(x, 2, []int{0, 1}), Known: known}
	var s lookup.Search
	s.Find(in, []float64{0, 0}, 2)
	require.True(t, s.Missed, "another row at the distance 1 may be beyond the face")
	require.Equal(t, 1.0, s.Need)
	s = lookup.Search{}
	s.Find(in, []float64{0, 0}, 1)
	require.False(t, s.Missed)
	s.Find(in, []float64{0, 0}, 3)
	require.True(t, s.Missed, "there may be a third row")
}

// TestStreamFrom: skipping numbers gives those that come after them.
func TestStreamFrom(t *testing.T) {
	for _, stream := range []uint64{core.SignStream, core.HeldStream} {
		all := rand.NewPCG(core.PerturbationSeed, stream)
		for k := range uint64(300) {
			require.Equal(t, core.StreamFrom(stream, k).Uint64(), all.Uint64())
		}
	}
	require.Equal(t, core.StreamFrom(core.SignStream, 1<<62).Uint64(), core.StreamFrom(core.SignStream, 1<<62).Uint64())
	require.NotEqual(t, core.StreamFrom(core.SignStream, 9).Uint64(), core.StreamFrom(core.HeldStream, 9).Uint64())
}

// TestTilesRefuse: what takes all rows at once is one clear error.
func TestTilesRefuse(t *testing.T) {
	x := tileCloud("plain", 60, 3, drill.Rand(t, "refused", 0))
	huge := rows.Data{N: 2, D: 1, X: []float64{0, 1e40}}
	for _, c := range []struct {
		m     Method
		x     rows.Data
		how   Tiling
		o     Options
		tiles int
		want  string
	}{
		{classic.KDE{Latent: 2}, x, Tiling{}, Options{}, 2, "every kernel"},
		{classic.MFIT{Latent: 2}, x, Tiling{}, Options{}, 2, "tangent planes"},
		{Select{classic.MLS{Latent: 2}}, x, Tiling{}, Options{}, 2, "give a number"},
		{classic.LPCA{Latent: 2}, x, Tiling{}, Options{Share: .5}, 2, "share"},
		{classic.LPCA{Latent: 2}, x, Tiling{Halo: math.NaN()}, Options{}, 2, "halo"},
		{classic.LPCA{Latent: 2}, x, Tiling{}, Options{}, 0, "tiles"},
		{classic.LPCA{Latent: 1}, huge, Tiling{}, Options{}, 2, "rescale"},
		{classic.LPCA{Latent: 4}, x, Tiling{}, Options{}, 2, "latent dimension"},
	} {
		_, _, err := InTiles(context.Background(), c.m, c.x, c.x, c.tiles, c.how, c.o)
		require.ErrorIs(t, err, ErrInput, c.want)
		require.ErrorContains(t, err, c.want)
	}
	b, err := new(Tile).MarshalBinary()
	require.NoError(t, err)
	require.ErrorIs(t, new(Task).UnmarshalBinary(b[:7]), ErrInput)
	require.ErrorContains(t, new(Tile).UnmarshalBinary(slices.Replace(slices.Clone(b), 12, 16, []byte("SCQM")...)), "one version")
}

// TestCutFrom: what is cut from the bytes of a tile is what is cut from the tile, and bytes that end early are refused.
func TestCutFrom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 98))
	x := tileCloud("plain", 40, 3, rng)
	number := make([]int, x.N)
	for i := range number {
		number[i] = 2 * i
	}
	tile, err := NewTile(x, number)
	require.NoError(t, err)
	tile.charts, tile.about, tile.eps = numbersOf(rng, 5*x.N), numbersOf(rng, aboutWidth*x.N), .1
	tile.places, tile.trust = [][]float64{numbersOf(rng, 3*x.N), numbersOf(rng, 3*x.N)}, [][]float64{numbersOf(rng, x.N), nil}
	tile.keep()
	tile.charts, tile.done = numbersOf(rng, 5*x.N), make([]bool, x.N)
	b, err := tile.MarshalBinary()
	require.NoError(t, err)
	whole := new(Tile)
	require.NoError(t, whole.UnmarshalBinary(b))
	half := lookup.NewBox(3)
	half.Include(x.Row(0))
	half.Include(x.Row(1))
	for _, act := range []act{actChart, actDenoise} {
		k := &Task{act: act, wants: []want{{rowField, half.Widen(.5)}}}
		part, err := k.CutFrom(b)
		require.NoError(t, err)
		require.Equal(t, k.Cut(whole), part)
		require.Equal(t, act == actDenoise, len(part.charts) > 0)
		require.Positive(t, part.Rows())
	}
	for _, end := range []int{0, 7, 8, 100, len(b) / 2} {
		require.ErrorIs(t, new(Tile).UnmarshalBinary(b[:end]), ErrInput, end)
	}
	require.ErrorIs(t, new(Tile).UnmarshalBinary(b[:len(b)-1]), ErrInput)
}

func numbersOf(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// TestTilesOfOthers: queries that are not the rows fitted, some far away.
func TestTilesOfOthers(t *testing.T) {
	rng := drill.Rand(t, "others", 0)
	x, y := tileCloud("ties", 80, 3, rng), tileCloud("outliers", 30, 3, rng)
	for _, name := range []string{"mls", "auto"} {
		m := tileMethod(name, 2)
		d, err := Fit(context.Background(), m, x, Options{})
		require.NoError(t, err)
		want, err := d.Denoise(context.Background(), y, Options{})
		require.NoError(t, err)
		got, _, err := InTiles(context.Background(), m, x, y, 5, Tiling{Halo: .05}, Options{})
		require.NoError(t, err)
		require.Equal(t, want.X, got.X)
		require.Equal(t, want.Rows, got.Rows)
	}
}

// unevenSample is a sphere whose noise grows tenfold from one side to the other, with a
// few rows anywhere.
func unevenSample(seed uint64, n int) sample {
	s := sphereSample(seed, n, 1)
	rng := rand.New(rand.NewPCG(seed, 80))
	for i := range n {
		sigma := .02 * math.Exp(math.Log(10)*(s.clean.Row(i)[0]+1)/2)
		for j, v := range s.clean.Row(i) {
			s.x.Row(i)[j] = v + sigma*rng.NormFloat64()
		}
	}
	return s
}

// TestTilesOfUnevenClouds: the noise and the number of neighbours by row are those of one
// cloud to the last bit, and the noise is near the truth.
func TestTilesOfUnevenClouds(t *testing.T) {
	needSpeed(t)
	s := unevenSample(1, 1100)
	m := Auto{Latent: 2, Neighbors: 40}
	d, err := Fit(context.Background(), m, s.x, Options{})
	require.NoError(t, err)
	a := d.prepared.Fitted.(*autoFit)
	require.True(t, a.setting.uneven)
	var ends [2][]float64
	for i := range s.x.N {
		switch x := s.clean.Row(i)[0]; {
		case x < -.7:
			ends[0] = append(ends[0], a.about[aboutWidth*i]*a.setting.Scale)
		case x > .7:
			ends[1] = append(ends[1], a.about[aboutWidth*i]*a.setting.Scale)
		}
	}
	require.InDelta(t, .024, median(ends[0]), .008)
	require.InDelta(t, .17, median(ends[1]), .05)
	want, err := d.Denoise(context.Background(), s.x, Options{})
	require.NoError(t, err)
	requireSameInTiles(t, m, s.x, 4, .1, want)
}

// TestFewRowsStay: rows that are too few for a method stay as they are, counted and with a reason, in tiles as well.
func TestFewRowsStay(t *testing.T) {
	for name, m := range everyMethod(t, 2) {
		x := sphereSample(3, 1, 0.1).x
		d, err := Fit(context.Background(), m, x, Options{})
		require.NoError(t, err, name)
		require.Contains(t, d.Note(), "the rows are as they came", name)
		require.Equal(t, m.Name(), d.Method().Name())
		r, err := d.Denoise(context.Background(), x, Options{})
		require.NoError(t, err, name)
		require.Equal(t, x.X, r.X, name)
		for _, row := range r.Rows {
			require.True(t, row.Unchanged && row.Extrapolated && row.Done, name)
		}
		if g, err := d.Geometry(context.Background(), x, r, Orientation{}, Options{}); name != "pca" {
			require.NoError(t, err, name)
			require.Equal(t, make([]float64, x.N*3), g.Normals, name)
		}
		if name == "auto" || name == "lpca" || name == "pca" {
			tiled, fit, err := othersInTiles(m, x, x, 2, -1, Options{})
			require.NoError(t, err, name)
			require.Equal(t, d.Note(), fit.Note())
			require.Equal(t, r.Rows, tiled.Rows)
		}
	}
	_, err := Fit(context.Background(), Auto{Latent: 4}, sphereSample(3, 2, 0.1).x, Options{})
	require.ErrorIs(t, err, ErrInput)
	d, err := Fit(context.Background(), Auto{Latent: 3}, sphereSample(3, 50, 0.1).x, Options{})
	require.NoError(t, err)
	require.Contains(t, d.Note(), "no direction for noise")
}
