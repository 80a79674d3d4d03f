package bindings

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/scqm/scqm/internal/blas/blastest"
)

// TestUseDgemm is possible before jobs, and then counts for products.
func TestUseDgemm(t *testing.T) {
	defer blas64.Use(blas64.Implementation())
	defer func() { lent.address = 0 }()
	address := uint64(blastest.Address())

	_, err := UseDgemm(0)
	assert.ErrorContains(t, err, "the address of dgemm is 0")
	number := newNumber()
	_, err = start(number, "job", func(*job) (any, error) { return nil, nil })
	require.NoError(t, err)
	used, err := UseDgemm(address)
	require.NoError(t, err)
	assert.Zero(t, used, "there is a job")
	release(t, number)
	for range 2 {
		used, err = UseDgemm(address)
		require.NoError(t, err)
		assert.EqualValues(t, 1, used)
	}
	used, err = UseDgemm(address + 1)
	require.NoError(t, err)
	assert.Zero(t, used, "another is in use")

	const side = 64
	a, c := pinned[float64](t, side*side), pinned[float64](t, side*side)
	for i := range a {
		a[i] = float64(i % 5)
	}
	blastest.Calls()
	number = newNumber()
	_, err = StartProduct(number, 0, 1, side, side, side, 1, at(a), side, at(a), side, 0, at(c), side)
	require.NoError(t, err)
	require.NoError(t, await(t, number))
	calls, _ := blastest.Calls()
	assert.Positive(t, calls)
	var want float64
	for _, v := range a[:side] {
		want += v * v
	}
	assert.Equal(t, want, c[0])
	release(t, number)
}

func TestProductRefusesMatricesThatDoNotFit(t *testing.T) {
	x := pinned[float64](t, 4)
	_, err := StartProduct(newNumber(), 0, 0, 2, 2, 2, 1, at(x), 1, at(x), 2, 0, at(x), 2)
	assert.ErrorContains(t, err, "a: stride 1 of rows of length 2")
	_, err = StartProduct(newNumber(), 0, 0, 2, -2, 2, 1, at(x), 2, at(x), 2, 0, at(x), 2)
	assert.ErrorContains(t, err, "b: shape")
	_, err = StartProduct(newNumber(), 0, 0, 2, 2, 2, 1, at(x), 2, 0, 2, 0, at(x), 2)
	assert.ErrorContains(t, err, "b: no address")
}
