package gather

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
)

// squares is a function that can be held up.
type squares struct {
	gate  chan struct{} // one token a call
	calls atomic.Int64
	most  atomic.Int64
}

var errNegative = errors.New("negative")

func (s *squares) call(b Batch[int]) error {
	<-s.gate
	s.calls.Add(1)
	s.most.Store(max(s.most.Load(), int64(b.Rows)))
	for _, v := range b.In[0] {
		if v < 0 {
			return errNegative
		}
	}
	for i, v := range b.In[0] {
		b.Out[0][i] = float64(b.Key) * v * v
	}
	for i := range b.Out[1] {
		b.Out[1][i] = b.In[0][2*i] + b.In[0][2*i+1]
	}
	return nil
}

// want evaluates one or two rows of two numbers.
func want(g *Gatherer[int], key int, in ...float64) (square, sum []float64, err error) {
	square, sum = make([]float64, len(in)), make([]float64, len(in)/2)
	err = g.Do(Batch[int]{key, len(in) / 2, [][]float64{in}, [][]float64{square, sum}})
	return square, sum, err
}

// waiting is the number of batches that wait.
func (g *Gatherer[K]) waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.queue)
}

// busy has calls wait and lets go when so many batches have queued up.
func busy(t *testing.T, limit, most int, queued int, work func(g *Gatherer[int], start func(func()))) *squares {
	t.Helper()
	s := &squares{gate: make(chan struct{})}
	g := &Gatherer[int]{Call: s.call, Limit: limit, Max: most}
	var wg sync.WaitGroup
	work(g, func(f func()) { wg.Go(f) })
	for g.waiting() < queued {
	}
	close(s.gate)
	wg.Wait()
	assert.Zero(t, g.running)
	assert.Zero(t, g.waiting())
	return s
}

func TestBatchesThatWaitAreCoalesced(t *testing.T) {
	s := busy(t, 1, 100, 19, func(g *Gatherer[int], start func(func())) {
		for i := range 20 {
			start(func() {
				v := float64(i)
				square, sum, err := want(g, 2, v, v+1, v+2, v+3)
				assert.NoError(t, err)
				assert.Equal(t, []float64{2 * v * v, 2 * (v + 1) * (v + 1), 2 * (v + 2) * (v + 2), 2 * (v + 3) * (v + 3)}, square)
				assert.Equal(t, []float64{2*v + 1, 2*v + 5}, sum)
			})
		}
	})
	assert.EqualValues(t, 2, s.calls.Load())
	assert.EqualValues(t, 38, s.most.Load())
}

func TestOnlyEqualKeysAreCoalescedAndOnlySoMany(t *testing.T) {
	s := busy(t, 1, 8, 20, func(g *Gatherer[int], start func(func())) {
		for i := range 21 {
			start(func() {
				square, _, err := want(g, 1+i%2, 3, 4)
				assert.NoError(t, err)
				assert.Equal(t, float64(1+i%2)*9, square[0])
			})
		}
	})
	assert.LessOrEqual(t, s.most.Load(), int64(4))
	assert.GreaterOrEqual(t, s.calls.Load(), int64(6))
}

func TestOnlySoManyBatchesAreCoalesced(t *testing.T) {
	s := &squares{gate: make(chan struct{})}
	g := &Gatherer[int]{Call: s.call, Limit: 1, Max: 100, MaxBatches: 3}
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			_, _, err := want(g, 1, 1, 1)
			assert.NoError(t, err)
		})
	}
	for g.waiting() < 9 {
	}
	close(s.gate)
	wg.Wait()
	assert.EqualValues(t, 4, s.calls.Load())
	assert.EqualValues(t, 3, s.most.Load())
}

func TestAFailureIsThatOfItsBatch(t *testing.T) {
	busy(t, 2, 100, 10, func(g *Gatherer[int], start func(func())) {
		for i := range 12 {
			start(func() {
				v := float64(1)
				if i%5 == 0 {
					v = -1
				}
				square, _, err := want(g, 1, v, v)
				if v < 0 {
					assert.ErrorIs(t, err, errNegative)
					return
				}
				assert.NoError(t, err)
				assert.Equal(t, []float64{1, 1}, square)
			})
		}
	})
}

func TestAPanicLeavesNobodyWaiting(t *testing.T) {
	var calls atomic.Int64
	gate := make(chan struct{})
	g := &Gatherer[int]{Limit: 1, Max: 100, Call: func(b Batch[int]) error {
		<-gate
		if calls.Add(1); b.Rows > 1 {
			panic("too many")
		}
		return nil
	}}
	var panics atomic.Int64
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			defer func() {
				if recover() != nil {
					panics.Add(1)
				}
			}()
			_, _, err := want(g, 1, 1, 1)
			assert.NoError(t, err)
		})
	}
	for g.waiting() < 9 {
	}
	close(gate)
	wg.Wait()
	assert.EqualValues(t, 1, panics.Load())
	assert.EqualValues(t, 10, calls.Load())
	assert.Zero(t, g.running)
}
