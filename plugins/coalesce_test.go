package plugins

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/plugins/protocol"
)

// TestCoalescedBatchesGiveWhatTheyGiveAlone asks for everything that losses offer
// from many goroutines at a time, each with a smoothing length of its own.
func TestCoalescedBatchesGiveWhatTheyGiveAlone(t *testing.T) {
	for _, kind := range []string{"l2", "lp:1.3", "huber:0.7"} {
		for _, bytes := range []bool{false, true} {
			want, p := builtin(kind), start(t, "builtin:"+kind, Options{NoSharedMemory: bytes})
			var wg sync.WaitGroup
			for i := range callers {
				wg.Go(func() {
					for round := range 5 {
						sameSmoothed(t, want, p.Loss(), float64(i%7)*0.1, 1+(i+round)%3)
					}
				})
			}
			wg.Wait()
		}
	}
}

// sameSmoothed compares two losses, smoothed if they can be and eps is not 0.
func sameSmoothed(t *testing.T, want, got framework.Loss, eps float64, rows int) {
	const dim = 4
	if s, ok := want.(framework.Smoother); ok {
		want, got = s.Smooth(eps), got.(framework.Smoother).Smooth(eps)
	}
	r := normal(rows * dim * 8)[:rows*dim]
	for i := range r {
		r[i] += eps
	}
	var values, grads, products [2][]float64
	for i, l := range []framework.Loss{want, got} {
		values[i], grads[i] = make([]float64, rows), make([]float64, rows*dim)
		assert.NoError(t, l.Evaluate(values[i], grads[i], r, dim))
		if s, ok := l.(framework.SecondOrder); ok {
			products[i] = make([]float64, rows*dim)
			assert.NoError(t, s.HessianProduct(products[i], r, grads[0], dim))
		}
	}
	assert.Equal(t, values[0], values[1])
	assert.Equal(t, grads[0], grads[1])
	assert.Equal(t, products[0], products[1])
}

// TestStretchesMustAddUp sends what no host would.
func TestStretchesMustAddUp(t *testing.T) {
	s, err := newService(builtin("l1"))
	require.NoError(t, err)
	_, err = s.Configure(t.Context(), &protocol.ConfigureRequest{})
	require.NoError(t, err)
	ask := func(stretches ...*protocol.Stretch) error {
		_, err := s.Evaluate(t.Context(), &protocol.EvaluateRequest{
			Rows: 3, Dim: 1, Want: []protocol.Quantity{protocol.Quantity_QUANTITY_VALUES},
			Residuals: toBytes([]float64{1, 2, 3}), Stretches: stretches,
		})
		return err
	}
	assert.NoError(t, ask(&protocol.Stretch{Rows: 1}, &protocol.Stretch{Rows: 2, Eps: 0.1}))
	for _, bad := range [][]*protocol.Stretch{
		{{Rows: 2}}, {{Rows: 4}}, {{Rows: 1}, {Rows: 1 << 63}, {Rows: 1 << 63}, {Rows: 2}},
	} {
		assert.Equal(t, codes.InvalidArgument, status.Code(ask(bad...)))
	}
}

// TestLargeBatchesTakeTurns asks for many at a time: there are no more calls
// under way, and segments, than processors can use.
func TestLargeBatchesTakeTurns(t *testing.T) {
	p, want := start(t, "builtin:l1", Options{}), builtin("l1")
	r := normal(4 * coalesceBytes / wordBytes)
	expected := make([]float64, len(r)/4)
	require.NoError(t, want.Evaluate(expected, nil, r, 4))
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			values := make([]float64, len(expected))
			assert.NoError(t, p.Loss().Evaluate(values, nil, r, 4))
			assert.Equal(t, expected, values)
		})
	}
	wg.Wait()
	assert.Empty(t, p.turns)
	assert.LessOrEqual(t, p.segments.Free(), cap(p.turns))
}

// TestTurnsEndWithThePlugin has calls wait behind one that hangs.
func TestTurnsEndWithThePlugin(t *testing.T) {
	p := start(t, "hostile:hang in call", Options{CallTimeout: callDeadline})
	r := normal(4 * coalesceBytes / wordBytes)
	failures := make([]error, 3*cap(p.turns))
	var wg sync.WaitGroup
	for i := range failures {
		wg.Go(func() { failures[i] = p.Loss().Evaluate(make([]float64, len(r)/4), nil, r, 4) })
	}
	wg.Wait()
	for _, err := range failures {
		assert.ErrorIs(t, err, ErrTimeout)
		assert.Same(t, p.terminal(), err, "nobody waits for a deadline of his own")
	}
}
