package selection

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/models/scqm"
)

// truths are surfaces with their d and s; a, b and c are uniform on [-2, 2].
var truths = []struct {
	name    string
	D, d, s int
	noise   float64
	surface func(r []float64, a, b, c float64)
}{
	{"noise", 10, 0, 0, 0.1, func([]float64, float64, float64, float64) {}},
	{"line", 10, 1, 0, 0.1, func(r []float64, a, _, _ float64) { r[0] = a }},
	{"parabola", 10, 1, 1, 0.1, func(r []float64, a, _, _ float64) { r[0], r[1] = a, a*a/2 }},
	{"arc", 10, 1, 1, 0.05, func(r []float64, a, _, _ float64) { r[0], r[1] = math.Sincos(a * math.Pi / 4) }},
	{"plane", 10, 2, 0, 0.1, func(r []float64, a, b, _ float64) { r[0], r[1] = a, 0.7*b }},
	{"bowl", 10, 2, 1, 0.1, func(r []float64, a, b, _ float64) { r[0], r[1], r[2] = a, b, (a*a+b*b)/3 }},
	{"two bends", 10, 2, 2, 0.1, func(r []float64, a, b, _ float64) { r[0], r[1], r[2], r[3] = a, b, (a*a+b*b)/3, a*b/3 }},
	{"three bends", 10, 2, 3, 0.1, func(r []float64, a, b, _ float64) {
		r[0], r[1], r[2], r[3], r[4] = a, b, a*a/3, a*b/3, b*b/3
	}},
	{"part of a sphere", 3, 2, 1, 0.03, func(r []float64, a, b, _ float64) {
		r[0], r[1] = a/3, b/3
		r[2] = math.Sqrt(1 - (a*a+b*b)/9)
	}},
}

// surfaceRows are noisy rows of a truth, turned so that no column is special.
func surfaceRows(k, n int, seed uint64) scqm.Data {
	c := truths[k]
	rng := rand.New(rand.NewPCG(seed, 9))
	x := scqm.Data{N: n, D: c.D, X: make([]float64, n*c.D)}
	turn := newRotation(c.D, rng)
	u := func() float64 { return 4*rng.Float64() - 2 }
	for i := range n {
		c.surface(x.Row(i), u(), u(), u())
		turn.apply(x.Row(i))
		for j := range c.D {
			x.Row(i)[j] += c.noise * rng.NormFloat64()
		}
	}
	return x
}

// Suggest finds the d and s of surfaces, and that there is none: of four in go test, of
// all and with three seeds in a soak, where a few must be enough under the race detector.
func TestSuggest(t *testing.T) {
	if testing.Short() {
		t.Skip("3 s: fits of all d and s up to 3 to two surfaces; make test runs it")
	}
	drill.Run(t, "suggested-truths", 1, func(c drill.Case) error {
		k := 5 * c.Index % len(truths) // unlike ones first
		truth := truths[k]
		if drill.Race && truth.name != "parabola" && truth.name != "part of a sphere" {
			return nil
		}
		seed := uint64(c.Index / len(truths) % 3)
		s, err := Suggest(t.Context(), surfaceRows(k, 120, seed), SuggestConfig{MaxLatent: 3, Seed: seed})
		if err != nil {
			return err
		}
		best := s.Trials[s.Best]
		if best.Latent != truth.d || best.Curvature != truth.s || best.Effective > truth.s || best.Warning != "" || !strings.Contains(s.Reason, best.name()[:2]) {
			return fmt.Errorf("%s, seed %d: want d = %d, s = %d, not %+v: %s", truth.name, seed, truth.d, truth.s, best, s.Reason)
		}
		return nil
	})
}

// Rows of two entries are too short to be sure.
func TestSuggestInThePlane(t *testing.T) {
	s, err := Suggest(t.Context(), arcRows(1, 100, 0.02), SuggestConfig{})
	require.NoError(t, err)
	assert.Equal(t, 1, s.Trials[s.Best].Latent)
	assert.Contains(t, s.Reason, "; rows of 2 entries tell little about d and s")
}

// A bound that is reached is named.
func TestSuggestNamesItsBound(t *testing.T) {
	s, err := Suggest(t.Context(), surfaceRows(4, 60, 1), SuggestConfig{MaxLatent: 1})
	require.NoError(t, err)
	assert.Contains(t, s.Reason, "; this is the largest d tried, and a larger one may be better")
}

// A model with more dimensions is always nearer to rows that were held out, but
// predicts no better: the measure that Suggest does not go by, and that it does.
func TestSuggestIsNotFooledByDimensions(t *testing.T) {
	s, err := Suggest(t.Context(), surfaceRows(1, 120, 1), SuggestConfig{MaxLatent: 2})
	require.NoError(t, err)
	var line, plane Trial
	for _, trial := range s.Trials {
		switch {
		case trial.Latent == 1 && trial.Curvature == 0:
			line = trial
		case trial.Latent == 2 && trial.Curvature == 0:
			plane = trial
		}
	}
	assert.Less(t, plane.HeldOut, 0.98*line.HeldOut)
	assert.Greater(t, plane.Predicted, line.Predicted)
}

// Results depend on the seed and not on threads, scale, place or repetition of
// rows.
func TestSuggestInvariances(t *testing.T) {
	x := surfaceRows(2, 40, 4)
	c := SuggestConfig{MaxLatent: 2, Threads: 1}
	one, err := Suggest(t.Context(), x, c)
	require.NoError(t, err)
	c.Threads = 3
	again, err := Suggest(t.Context(), x, c)
	require.NoError(t, err)
	assert.Equal(t, one, again)

	twice := scqm.Data{N: 80, D: x.D, X: append(append([]float64(nil), x.X...), x.X...)}
	weighted := scqm.Data{N: 40, D: x.D, X: x.X, Weights: make([]float64, 40)}
	floats.AddConst(2, weighted.Weights)
	repeated, err := Suggest(t.Context(), twice, c)
	require.NoError(t, err)
	assert.Equal(t, 40, repeated.Rows)
	heavy, err := Suggest(t.Context(), weighted, c)
	require.NoError(t, err)
	assert.Equal(t, heavy, repeated)

	far := scqm.Data{N: x.N, D: x.D, X: make([]float64, len(x.X))}
	floats.ScaleTo(far.X, 1e6, x.X)
	floats.AddConst(1e7, far.X)
	moved, err := Suggest(t.Context(), far, c)
	require.NoError(t, err)
	require.Equal(t, one.Best, moved.Best)
	assert.InEpsilon(t, 1e6*one.Trials[one.Best].Predicted, moved.Trials[one.Best].Predicted, 1e-3)

	for _, scale := range []float64{0x1p80, 0x1p-80} {
		floats.ScaleTo(far.X, scale, x.X)
		huge, err := Suggest(t.Context(), far, c)
		require.NoError(t, err)
		require.Equal(t, one.Best, huge.Best)
		assert.InEpsilon(t, scale*one.Trials[one.Best].Predicted, huge.Trials[one.Best].Predicted, 1e-6)
	}
}

// Rows without noise lie on a parabola, and further dimensions differ from it by
// rounding only; one row that is far away does not decide.
func TestSuggestOfHostileRows(t *testing.T) {
	x := scqm.Data{N: 50, D: 4, X: make([]float64, 200)}
	for i, v := range gaussians(5, 50) {
		x.Row(i)[0], x.Row(i)[1] = v, v*v/4
	}
	s, err := Suggest(t.Context(), x, SuggestConfig{})
	require.NoError(t, err)
	assert.Equal(t, "d = 1, s = 1", s.Trials[s.Best].name())

	far := surfaceRows(2, 80, 5)
	floats.AddConst(1e6, far.Row(7))
	s, err = Suggest(t.Context(), far, SuggestConfig{MaxLatent: 2})
	require.NoError(t, err)
	assert.Less(t, s.Trials[0].Predicted, 10.0)
}

// A rotation keeps lengths and angles, and gives every column its share.
func TestMixing(t *testing.T) {
	for _, D := range []int{1, 2, 3, 7, 64, 100} {
		m := newRotation(D, rand.New(rand.NewPCG(1, 2)))
		a, b := gaussians(1, D), gaussians(2, D)
		want := []float64{floats.Dot(a, a), floats.Dot(a, b)}
		m.apply(a)
		m.apply(b)
		assert.InDeltaSlice(t, want, []float64{floats.Dot(a, a), floats.Dot(a, b)}, 1e-12*float64(D))
		if D < 64 {
			continue
		}
		for j := range D {
			e := make([]float64, D)
			e[j] = 1
			m.apply(e)
			assert.Less(t, floats.Norm(e, math.Inf(1)), 0.6, "column %d of %d", j, D)
		}
	}
}

func TestSuggestRefusals(t *testing.T) {
	for _, x := range []scqm.Data{{N: 20, D: 1, X: gaussians(1, 20)}, {N: 9, D: 3, X: gaussians(1, 27)}, {}, {N: 12, D: 2, X: make([]float64, 24)}} {
		_, err := Suggest(t.Context(), x, SuggestConfig{})
		require.ErrorIs(t, err, scqm.ErrInput)
	}
	gap := surfaceRows(1, 40, 1)
	gap.X[4*gap.D+1], gap.Missing = math.NaN(), true
	_, err := Suggest(t.Context(), gap, SuggestConfig{})
	require.ErrorContains(t, err, "row 4, column 1 is NaN (missing): fill it in")
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Suggest(stopped, surfaceRows(1, 40, 1), SuggestConfig{})
	require.ErrorIs(t, err, context.Canceled)
}

// Rows near a parabola in five dimensions.
func ExampleSuggest() {
	rng := rand.New(rand.NewPCG(1, 2))
	x := scqm.Data{N: 60, D: 5, X: make([]float64, 300)}
	for i := range x.N {
		t := 4*rng.Float64() - 2
		x.Row(i)[0], x.Row(i)[1] = t, t*t/2
		for j := range x.D {
			x.Row(i)[j] += 0.1 * rng.NormFloat64()
		}
	}
	s, err := Suggest(context.Background(), x, SuggestConfig{MaxLatent: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	best := s.Trials[s.Best]
	fmt.Println("d =", best.Latent, "s =", best.Curvature)
	// Output: d = 1 s = 1
}

// Ridges are searched with d and s: where curvature is of noise only, no curved
// model is recommended, and none that folds ever.
func TestSuggestRidges(t *testing.T) {
	flat, err := Suggest(t.Context(), surfaceRows(4, 60, 2), SuggestConfig{MaxLatent: 2})
	require.NoError(t, err)
	best := flat.Trials[flat.Best]
	assert.Equal(t, []int{2, 0}, []int{best.Latent, best.Curvature}, flat.Reason)
	assert.Zero(t, best.Ridge)
	assert.Contains(t, flat.Reason, "d = 2, linear")

	noise := scqm.Data{N: 40, D: 3, X: gaussians(8, 120)}
	for _, x := range []scqm.Data{noise, surfaceRows(5, 40, 1), arcRows(3, 60, 0.2)} {
		s, err := Suggest(t.Context(), x, SuggestConfig{MaxLatent: 2})
		require.NoError(t, err)
		best := s.Trials[s.Best]
		assert.LessOrEqual(t, best.CurvatureExtent, float64(foldedExtent), s.Reason)
		for _, trial := range s.Trials {
			assert.Equal(t, trial.Curvature > 0, trial.Ridge > 0)
			assert.Equal(t, trial.CurvatureExtent > foldedExtent, trial.Warning == "has a curvature that explodes")
		}
	}
}

// What cannot be recommended is not, however well it predicts.
func TestSuggestPassesOver(t *testing.T) {
	row := func(predicted float64) Trial {
		return Trial{Latent: 1, Predicted: predicted, rows: []float64{predicted, predicted + 0.01}}
	}
	curved := func(predicted, extent float64) Trial {
		r := row(predicted)
		r.Curvature, r.CurvatureExtent = 1, extent
		r.warn(2)
		return r
	}
	recommended := func(trials ...Trial) (*Suggestion, int) {
		s := &Suggestion{Trials: append([]Trial{{Predicted: 9, rows: []float64{9, 9}}, row(2)}, trials...)}
		s.recommend(scqm.Data{N: 2})
		return s, s.Best
	}
	for name, c := range map[string]struct {
		trial Trial
		want  int
	}{
		"a better one": {curved(1, 1), 2}, "a fold": {curved(1, 9), 1}, "no better": {curved(2, 1), 1},
	} {
		s, best := recommended(c.trial)
		assert.Equal(t, c.want, best, name)
		assert.Equal(t, c.want == 1, !s.curves(1), name)
		assert.Equal(t, c.want == 1, s.Trials[2].Warning != "", name)
	}
}

// arcRows are noisy rows of a quarter of the unit circle.
func arcRows(seed uint64, n int, noise float64) scqm.Data {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := scqm.Data{N: n, D: 2, X: make([]float64, 2*n)}
	for i := range n {
		r := x.Row(i)
		r[1], r[0] = math.Sincos(rng.Float64() * math.Pi / 2)
		r[0] += noise * rng.NormFloat64()
		r[1] += noise * rng.NormFloat64()
	}
	return x
}
