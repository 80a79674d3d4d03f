package figures

import (
	"fmt"
	"image"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/bench"
	"github.com/scqm/scqm/internal/demo"
	"github.com/scqm/scqm/internal/experiments"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/solvers"
)

// Models of images without anything on them leave nothing to draw, which must
// not matter.
func TestPicturesOfNothing(t *testing.T) {
	const side = experiments.ImageSide
	blank := demo.Digits{Learned: scqm.Data{N: 100, D: side * side}}
	blank.Learned.X = make([]float64, blank.Learned.N*blank.Learned.D)
	for i := range blank.Learned.N {
		blank.Kinds = append(blank.Kinds, demo.Kinds[i%2])
	}
	blank.HeldOut = blank.Learned
	study, err := demo.NewStudy(t.Context(), &blank, scqm.Learn)
	require.NoError(t, err)
	for name, draw := range map[string]func(*demo.Study) image.Image{
		"reconstructions": Reconstructions, "latent plane": LatentPlane, "convergence": Convergence,
	} {
		assert.NotPanics(t, func() { draw(study) }, name)
	}
}

// Panels stand two in a row, and a comparison whose solvers were all left out
// has one too.
func TestGaps(t *testing.T) {
	o := bench.Options{Losses: []string{"l2"}, Solvers: []string{"lbfgs"}, Fits: 1, TimeLimit: 10 * time.Millisecond}
	problems, err := bench.Regimes[0].Problems(o)
	require.NoError(t, err)
	c, err := problems[0].Compare(t.Context(), o)
	require.NoError(t, err)
	none := &bench.Comparison{Regime: "r2", Loss: "l2", Runs: []*bench.Run{{Solver: "newton", Note: "left out"}}}
	one, three := Gaps([]*bench.Comparison{c}).Bounds(), Gaps([]*bench.Comparison{c, none, c}).Bounds()
	assert.Equal(t, 2*one.Dx(), three.Dx())
	assert.Equal(t, 2*one.Dy(), three.Dy())
}

// The hull of a square with points in it is the square.
func TestConvexHull(t *testing.T) {
	hull := convexHull([][2]float64{{1, 1}, {0, 0}, {2, 2}, {0, 2}, {1, 0.5}, {2, 0}, {1, 0}})
	assert.Equal(t, [][2]float64{{0, 0}, {2, 0}, {2, 2}, {0, 2}}, hull)
	assert.True(t, inHull(hull, [2]float64{1.9, 0.1}))
	assert.False(t, inHull(hull, [2]float64{2.1, 1}))
	assert.NotPanics(t, func() { inHull(convexHull([][2]float64{{1, 1}, {1, 1}}), [2]float64{1, 1}) })
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
