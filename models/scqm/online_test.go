package scqm

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// learnOnline takes in rows in pieces, and stores and restores before each.
func learnOnline(t *testing.T, c Config, x Data, pieces ...int) *Online {
	t.Helper()
	o, err := NewOnline(c, x.D)
	require.NoError(t, err)
	at := 0
	for _, n := range append(pieces, x.N) {
		stored, err := o.MarshalBinary()
		require.NoError(t, err)
		if o, err = NewOnline(c, x.D); err == nil {
			err = o.Resume(stored)
		}
		require.NoError(t, err)
		n = min(n, x.N-at)
		require.NoError(t, o.Learn(t.Context(), Data{N: n, D: x.D, X: x.X[at*x.D : (at+n)*x.D]}))
		at += n
	}
	assert.Equal(t, x.N, o.Seen())
	return o
}

// What is learned from rows as they come does not depend on how they are cut into calls, nor
// on being stored between them, is near the fit of all rows, and claims no certificate.
func TestOnline(t *testing.T) {
	x := bentRows(4, 8*BlockRows+300, 8)
	c := Config{Latent: 2, Loss: named(t, "huber", 8)}
	want, err := learnOnline(t, c, x).Fit(t.Context())
	require.NoError(t, err)
	got, err := learnOnline(t, c, x, 1, 700, 2000).Fit(t.Context())
	require.NoError(t, err)
	sameModel(t, want.Model, got.Model, "cut")
	assert.Equal(t, "max_iter", got.Model.Meta.Status)
	assert.Nil(t, got.Model.Meta.KKT)

	c.Options.MaxIterations = 15
	batch := learn(t, x, c).Model
	cost := func(m *Model) float64 {
		r, err := m.Project(t.Context(), x, 1)
		require.NoError(t, err)
		floats.Sub(r, x.X)
		values := make([]float64, x.N)
		require.NoError(t, c.Loss.Evaluate(values, nil, r, x.D))
		return floats.Sum(values)
	}
	assert.InEpsilon(t, cost(batch), cost(got.Model), 5e-3)
	assert.InEpsilon(t, batch.Meta.MeanLoss, got.Model.Meta.MeanLoss, 0.1)

	o, err := NewOnline(c, 8)
	require.NoError(t, err)
	require.NoError(t, o.GoOn(batch))
	fresh := bentRows(5, 50, 8)
	require.NoError(t, o.Learn(t.Context(), fresh))
	after, err := o.Fit(t.Context())
	require.NoError(t, err)
	assert.Equal(t, x.N+50, o.Seen())
	assert.InEpsilon(t, cost(batch), cost(after.Model), 1e-2, "fifty rows do not undo a fit")
}

// Rows that cannot be learned change nothing, and bytes that are no state are refused.
func TestOnlineRefuses(t *testing.T) {
	c := Config{Latent: 1, Loss: named(t, "l2", 3)}
	o, err := NewOnline(c, 3)
	require.NoError(t, err)
	_, err = o.Fit(t.Context())
	require.ErrorIs(t, err, ErrInput)
	require.NoError(t, o.Learn(t.Context(), bentRows(1, 40, 3)))
	before, err := o.MarshalBinary()
	require.NoError(t, err)
	spoilt := bentRows(2, 10, 3)
	spoilt.X[4] = math.NaN()
	require.ErrorIs(t, o.Learn(t.Context(), spoilt), ErrInput)
	require.ErrorIs(t, o.Learn(t.Context(), bentRows(2, 10, 4)), ErrInput)
	after, err := o.MarshalBinary()
	require.NoError(t, err)
	assert.Equal(t, before, after)
	for at := range before {
		flipped := append([]byte(nil), before...)
		flipped[at] ^= 1 << (at % 8)
		if other, err := NewOnline(c, 3); assert.NoError(t, err) && other.Resume(flipped) == nil && at%64 == 0 {
			if fit, err := other.Fit(t.Context()); err == nil {
				assert.True(t, framework.Point{fit.Model.C, fit.Model.U, fit.Model.Theta}.Finite())
			}
		}
	}
	require.Error(t, o.Resume(before[:len(before)/2]))
	c.Loss = named(t, "l1", 3)
	_, err = NewOnline(c, 3)
	require.ErrorIs(t, err, ErrInput)
}
