package denoise

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/denoise/internal/core"
)

// TestChosenNeighbors: methods do about as well in the mean with the number of neighbours chosen as with the best of
// some, and better than with the default.
func TestChosenNeighbors(t *testing.T) {
	needSpeed(t)
	const samples = 3
	for _, name := range []string{"mls", "lpca", "scqm"} {
		var ofBest, ofDefault float64
		for seed := range uint64(samples) {
			s := sphereSample(3+seed, 300, 0.1)
			m, err := ByName(name, Settings{Latent: 2, Neighbors: ChooseNeighbors})
			require.NoError(t, err)
			d, err := Fit(context.Background(), m, s.x, Options{})
			require.NoError(t, err)
			r, err := d.Denoise(context.Background(), s.x, Options{})
			require.NoError(t, err)
			k := d.Method().(core.Sized)
			require.Equal(t, d.prepared.Size, r.Rows[0].Neighbors, name)
			got, best := s.meanSquare(r.X), math.Inf(1)
			for _, size := range candidates(k, d.prepared.Cloud) {
				best = min(best, s.score(t, k.Sized(0, size)))
			}
			ofBest += got / best / samples
			ofDefault += got / s.score(t, k.Sized(0, DefaultNeighbors)) / samples
		}
		require.Less(t, ofBest, 1.08, name)
		require.LessOrEqual(t, ofDefault, 1.01, name)
	}
}

// TestChosenAmongMany: methods are judged by probes among many points as well: without these the fewest neighbours follow
// the rows best.
func TestChosenAmongMany(t *testing.T) {
	needSpeed(t)
	s := sphereSample(4, 2200, .05)
	m, err := ByName("apss", Settings{Latent: 2, Neighbors: ChooseNeighbors})
	require.NoError(t, err)
	d, err := Fit(context.Background(), m, s.x, Options{})
	require.NoError(t, err)
	require.Greater(t, d.prepared.Size, 3*DefaultNeighbors)
	off := func(m Method) (sum float64) {
		y := run(t, m, s.x, Options{}).X
		for i := range s.x.N {
			far := math.Sqrt(dense.Dot(y[3*i:3*i+3], y[3*i:3*i+3])) - 1
			sum += far * far
		}
		return sum
	}
	require.Less(t, off(d.Method()), .6*off(classic.APSS{Latent: 2, Neighbors: 2 * DefaultNeighbors}))

	m, err = ByName("mls", Settings{Latent: ChooseLatent})
	require.NoError(t, err)
	d, err = Fit(context.Background(), m, s.x, Options{})
	require.NoError(t, err)
	require.Equal(t, 2, d.Latent())
}

func TestNothingToChoose(t *testing.T) {
	for _, name := range []string{"auto", "kde"} {
		m, err := ByName(name, Settings{Latent: 2, Neighbors: ChooseNeighbors})
		require.NoError(t, err)
		want, err := ByName(name, Settings{Latent: 2})
		require.NoError(t, err)
		s := sphereSample(3, 60, 0.1)
		require.Equal(t, run(t, want, s.x, Options{}), run(t, m, s.x, Options{}))
	}
	s := sphereSample(3, 8, 0.1)
	d, err := Fit(context.Background(), Select{classic.LPCA{Latent: 2}}, s.x, Options{})
	require.NoError(t, err)
	require.Contains(t, d.Note(), "give a number")
}

// TestLossForRows: Huber's loss turns linear at 1.345 times the scale of the
// distances, in whatever unit.
func TestLossForRows(t *testing.T) {
	s := sphereSample(3, 100, 0.05)
	var found []float64
	for _, unit := range []float64{1, 1000} {
		x := s.x
		x.X = make([]float64, len(s.x.X))
		for i, v := range s.x.X {
			x.X[i] = v * unit
		}
		m, err := ByName("scqm", Settings{Latent: 2, LossFor: func(distances []float64) (framework.Loss, error) {
			require.Len(t, distances, 100)
			return losses.Huber(losses.DefaultDelta("huber", distances))
		}})
		require.NoError(t, err)
		d, err := Fit(context.Background(), m, x, Options{})
		require.NoError(t, err)
		delta := d.Method().(classic.SCQM).Loss.(rowloss.Parametric).Params()["delta"]
		require.InDelta(t, 1.345*0.05, delta/unit, 0.03)
		found = append(found, delta/unit)
		given, err := losses.Huber(delta)
		require.NoError(t, err)
		r, err := d.Denoise(context.Background(), x, Options{})
		require.NoError(t, err)
		require.Equal(t, run(t, classic.SCQM{Latent: 2, Loss: given}, x, Options{}), r)
	}
	require.InDelta(t, found[0], found[1], 1e-2*found[0])
}

// brokenLoss is not finite for residuals longer than reach.
type brokenLoss struct {
	framework.Loss
	reach float64
}

func (brokenLoss) Name() string { return "broken" }

func (l brokenLoss) Evaluate(values, grad, r []float64, dim int) error {
	far := make([]bool, len(r)/dim)
	for i := range far {
		row := r[i*dim : (i+1)*dim]
		far[i] = math.Sqrt(dense.Dot(row, row)) > l.reach
	}
	if err := l.Loss.Evaluate(values, grad, r, dim); err != nil {
		return err
	}
	for i := range values {
		if far[i] {
			values[i] = math.NaN()
		}
	}
	return nil
}

// TestLossThatIsNotFinite wants an error that names the loss and the row, not
// rows left as they are.
func TestLossThatIsNotFinite(t *testing.T) {
	s := sphereSample(3, 60, 0.05)
	for _, reach := range []float64{-1, 0.3} {
		loss := brokenLoss{losses.SquaredL2(), reach}
		d, err := Fit(context.Background(), classic.SCQM{Latent: 2, Loss: loss}, s.x, Options{})
		require.NoError(t, err)
		_, err = d.Denoise(context.Background(), s.x, Options{Threads: 2})
		require.ErrorIs(t, err, framework.ErrNonFinite)
		require.ErrorContains(t, err, "denoise: row 0: loss broken: the value is NaN for a residual of norm")
	}
}

// TestOutliersDoNotChoose: rows far from the surface, which the smallest neighbourhoods follow best, have no part in the choice.
func TestOutliersDoNotChoose(t *testing.T) {
	needSpeed(t)
	s := sphereSample(5, 1500, .0173)
	rng := rand.New(rand.NewPCG(5, 79))
	for i := range s.x.N {
		if rng.Float64() < .2 {
			s.ignored = append(s.ignored, i)
			for j := range 3 {
				s.x.Row(i)[j] = 1.2 * (2*rng.Float64() - 1)
			}
		}
	}
	m, err := ByName("mls", Settings{Latent: 2, Neighbors: ChooseNeighbors})
	require.NoError(t, err)
	d, err := Fit(t.Context(), m, s.x, Options{})
	require.NoError(t, err)
	require.GreaterOrEqual(t, d.prepared.Size, 30)
	r, err := d.Denoise(t.Context(), s.x, Options{})
	require.NoError(t, err)
	require.Less(t, s.meanSquare(r.X), .95*s.score(t, classic.MLS{Latent: 2, Neighbors: 12}))
}
