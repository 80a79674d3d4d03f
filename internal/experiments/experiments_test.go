package experiments

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// The tables of one thread and of several are equal, and those of seeds differ.
func TestThreadsAndSeeds(t *testing.T) {
	table := func(seed uint64, threads int) Table {
		study, err := Toy(t.Context(), Settings{Seed: seed, Reps: 1, Threads: threads})
		require.NoError(t, err)
		return study.Table
	}
	one := table(1, 1)
	assert.Equal(t, one, table(1, 3))
	assert.NotEqual(t, one.Rows, table(2, 1).Rows)
}

func TestSplitHoldsOut(t *testing.T) {
	d := Digits{X: scqm.Data{N: 30, D: 1}}
	for i := range 30 {
		d.X.X = append(d.X.X, float64(i))
		d.Labels = append(d.Labels, []string{"a", "b", "c"}[i%3])
	}
	for rep := range 3 {
		learned, held, err := d.split([]string{"a", "b"}, 4, 1, rep)
		require.NoError(t, err)
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
