package experiments

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

// The distance from an arc is that of the nearest of many of its points.
func TestArcDistance(t *testing.T) {
	for _, a := range arcs {
		for _, p := range [][2]float64{{1.2, 0.3}, {0.3, -0.8}, {-0.4, -1.2}, {0, 0.01}, {0.9, -0.1}} {
			best := math.Inf(1)
			for k := range 20001 {
				x, y := a.point(a.Angle * float64(k) / 20000)
				best = min(best, (x-p[0])*(x-p[0])+(y-p[1])*(y-p[1]))
			}
			assert.InDelta(t, best, a.squaredDistance(p[0], p[1]), 1e-6, "%v from %s", p, a.Name)
		}
	}
}

// fakeDigits are rows about points, one for each kind, as quick to learn as they are few.
func fakeDigits(kinds ...string) Digits {
	rng := rand.New(rand.NewPCG(1, 3))
	d := Digits{X: scqm.Data{N: 75, D: 8, X: make([]float64, 75*8)}}
	for i := range d.X.N {
		d.Labels = append(d.Labels, kinds[i%len(kinds)])
		for j := range d.X.D {
			d.X.Row(i)[j] = 0.1 * rng.NormFloat64()
		}
		d.X.Row(i)[i%len(kinds)]++
	}
	return d
}

// The tables of one thread and of several are equal, and those of seeds differ.
func TestThreadsAndSeeds(t *testing.T) {
	table := func(seed uint64, threads int) Table {
		e := digitExperiment{kinds: []string{"2", "6", "8"}}
		e.addPair(losses.L2())
		study, err := e.run(t.Context(), fakeDigits(e.kinds...), Settings{Seed: seed, Reps: 2, Quick: true, Threads: threads})
		require.NoError(t, err)
		return study.Table
	}
	one := table(1, 1)
	assert.Equal(t, one, table(1, 3))
	assert.NotEqual(t, one.Rows, table(2, 1).Rows)
	assert.Greater(t, one.Rows[0].Values[2].Value, 0.9, "kinds that are far apart")
}

func TestSplitHoldsOut(t *testing.T) {
	d := Digits{X: scqm.Data{N: 30, D: 1}}
	for i := range 30 {
		d.X.X = append(d.X.X, float64(i))
		d.Labels = append(d.Labels, []string{"a", "b", "c"}[i%3])
	}
	for rep := range 3 {
		from, out, err := d.split([]string{"a", "b"}, 4, 1, rep)
		require.NoError(t, err)
		learned, held := d.pick(from), d.pick(out)
		assert.Equal(t, 8, learned.X.N)
		assert.Equal(t, 8, held.X.N)
		seen := map[float64]bool{}
		for k, v := range append(append([]float64(nil), learned.X.X...), held.X.X...) {
			assert.False(t, seen[v])
			seen[v] = true
			assert.Equal(t, d.Labels[int(v)], append(append([]string(nil), learned.Labels...), held.Labels...)[k])
		}
	}
	_, _, err := d.split([]string{"a"}, 10, 1, 0)
	require.ErrorIs(t, err, ErrDigits)
}

func TestTable(t *testing.T) {
	table := Table{
		Title: "Title.", Keys: []string{"method"}, Values: []string{"a", "b"}, Notes: []string{"Note."},
		Rows: []Row{{[]string{"one, two"}, []Mean{meanOf([]float64{1, 2, 3}), meanOf([]float64{0.012345})}}, {[]string{"none"}, []Mean{{}, {}}}},
	}
	var csv, markdown strings.Builder
	require.NoError(t, table.WriteCSV(&csv))
	require.NoError(t, table.WriteMarkdown(&markdown))
	assert.Equal(t, "method,a,a_se,b,b_se\n\"one, two\",2.000,0.58,0.01235,\nnone,,,,\n", csv.String())
	assert.Equal(t, "Title.\n\n| method | a | b |\n| --- | --- | --- |\n| one, two | 2.000 ± 0.58 | 0.01235 |\n| none |  |  |\n\nNote.\n", markdown.String())
}

// Cells of the paper's table that are below the error of the oracle, 2 sigma^2 and
// a little less; it is that of 11 data sets.
func TestPaperIsBelowTheOracle(t *testing.T) {
	oracle := []float64{17.7, 70.6, 159, 282, 439, 631, 857}
	below := make([]int, len(oracle))
	rows := paperRows(sphereSigmas)
	require.Len(t, rows, 15)
	for _, row := range rows {
		for k, cell := range row.Values {
			if cell.Value < oracle[k] {
				below[k]++
			}
		}
	}
	assert.Equal(t, []int{3, 6, 2, 11, 0, 0, 0}, below)
	assert.Equal(t, "90", rows[0].Values[0].String())
	assert.Empty(t, paperRows([]float64{0.05}))
	assert.Equal(t, []Mean{{}, {Value: 140, N: 1, Exact: true}}, paperRows([]float64{0.05, 0.06})[0].Values)
}

// Models called quadratic have all directions of curvature, whatever the rows show.
func TestQuadraticModelsAreCurved(t *testing.T) {
	digits := fakeDigits("4", "9")
	study, err := MNIST(t.Context(), digits, Settings{Quick: true, Reps: 1})
	require.NoError(t, err)
	curved := 0
	for _, m := range study.Models {
		if strings.HasSuffix(m.Name, "quadratic") {
			assert.Equal(t, 3, m.Model.Curvature, m.Name)
			curved++
		}
	}
	assert.Equal(t, 3, curved)
}

func TestFind(t *testing.T) {
	spec, err := Find("sphere")
	require.NoError(t, err)
	assert.Equal(t, Spec{"sphere", 10, 2, false}, spec)
	_, err = Find("torus")
	assert.ErrorContains(t, err, `no experiment "torus"; there are toy, sphere, mnist`)
}
