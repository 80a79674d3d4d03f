package figures

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/bench"
	"github.com/scqm/scqm/solvers"
)

// Panels stand two in a row, and a comparison whose solvers were all left out
// has one too.
func TestGaps(t *testing.T) {
	o := bench.Options{Losses: []string{"l2"}, Solvers: []string{"lbfgs"}, Rows: []int{bench.MinRows}, TimeLimit: 10 * time.Millisecond}
	problems, err := bench.Regimes[1].Problems(o)
	require.NoError(t, err)
	c, err := problems[0].Compare(t.Context(), o)
	require.NoError(t, err)
	none := &bench.Comparison{Regime: "digits", Loss: "l2", Runs: []*bench.Run{{Solver: "newton", Note: "left out"}}}
	one, three := Gaps([]*bench.Comparison{c}).Bounds(), Gaps([]*bench.Comparison{c, none, c}).Bounds()
	assert.Equal(t, 2*one.Dx(), three.Dx())
	assert.Equal(t, 2*one.Dy(), three.Dy())
}

// No two solvers have lines that look alike.
func TestCurveStyles(t *testing.T) {
	seen := map[string]string{}
	for i, s := range solvers.Describe() {
		style := curveStyle(i)
		look := fmt.Sprint(style.Color, style.Dashes)
		assert.Empty(t, seen[look], "%s looks like another", s.Name)
		seen[look] = s.Name
	}
}
