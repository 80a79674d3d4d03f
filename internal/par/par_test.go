package par

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBoundsCoverEveryRowOnce(t *testing.T) {
	for _, n := range []int{0, 1, 31, 32, 33, 100, 2047, 2048, 2049, 1_000_003} {
		next := 0
		for s := range Shards(n) {
			lo, hi := Bounds(n, s)
			require.Equal(t, next, lo)
			require.GreaterOrEqual(t, hi, lo)
			next = hi
		}
		assert.Equal(t, n, next)
		assert.LessOrEqual(t, Shards(n), maxShards)
	}
}

func TestDoRunsEverythingOnce(t *testing.T) {
	for _, threads := range []int{0, 1, 2, 7, 100} {
		counts := make([]atomic.Int32, 50)
		var busy [100]atomic.Int32
		Do(threads, len(counts), func(worker, i int) {
			require.Less(t, worker, max(threads, 1))
			assert.EqualValues(t, 1, busy[worker].Add(1), "one goroutine per worker number")
			counts[i].Add(1)
			busy[worker].Add(-1)
		})
		for i := range counts {
			assert.EqualValues(t, 1, counts[i].Load())
		}
	}
}

func TestDoHandsPanicsToTheCaller(t *testing.T) {
	boom := errors.New("boom")
	defer func() {
		p, ok := recover().(*Panic)
		require.True(t, ok)
		assert.Equal(t, boom, p.Value)
		assert.Contains(t, p.Error(), "par_test.go", "the stack is the worker's")
	}()
	Do(3, 100, func(_, i int) {
		if i == 17 {
			panic(boom)
		}
	})
	t.Fatal("the panic is lost")
}
