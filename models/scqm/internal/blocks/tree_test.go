package blocks

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/problemtest"
)

// request returns one for rows on a random sheet.
func request(kind Kind, n, D, d, s int) (*Request, rows.Data) {
	x := rows.Data{N: n, D: D, X: problemtest.Gaussians(3, n*D)}
	r := &Request{Kind: kind, N: n, D: D, Latent: d, S: s, Unit: 2, C: make([]float64, D), Q: make([]float64, D*(d+s)), Theta: problemtest.Gaussians(4, d*(d+1)/2*s)}
	for k := range d + s {
		r.Q[k*(d+s)+k] = 1
	}
	if kind.Scores() {
		r.Loss = "l2"
	}
	switch kind {
	case Gradient:
		r.Stride = 100
	case Far:
		r.Eps = 3
	}
	return r, x
}

// Nodes merge to the same bits in whatever order they come, also at the ragged edge.
func TestForestDoesNotDependOnOrder(t *testing.T) {
	for _, count := range []int{1, 2, 3, 7, 8, 21} {
		leaf := func(b int) *node {
			return &node{Index: b, Sums: problemtest.Gaussians(uint64(b), 3), Sample: []float64{float64(b)}}
		}
		var want *node
		for seed := range uint64(5) {
			f := newForest(add)
			for _, b := range rand.New(rand.NewPCG(seed, 1)).Perm(count) {
				f.add(leaf(b))
			}
			got := root(f.list(), add)
			if want == nil {
				want = got
			}
			require.Equal(t, want.Sums, got.Sums)
			require.Equal(t, want.Sample, got.Sample)
			require.Len(t, got.Sample, count)
		}
	}
}

// Sums of parts, in bytes or not, merge to those of all rows for every kind of request,
// and parts that do not belong together are refused.
func TestPartialsMerge(t *testing.T) {
	ctx, loss := t.Context(), losses.L2()
	for kind := range kinds {
		r, x := request(kind, 3*Rows+100, 5, 2, 2)
		whole, err := sumOf(ctx, r, x, loss, 0, 4, 2)
		require.NoError(t, err)
		right, err := sumOf(ctx, r, x, loss, 1, 3, 1)
		require.NoError(t, err)
		left, err := sumOf(ctx, r, x, loss, 0, 1, 1)
		require.NoError(t, err)
		assert.ErrorIs(t, r.Merge(right, right), rows.ErrInput)
		_, _, err = r.Total(left)
		assert.ErrorIs(t, err, rows.ErrInput)
		other := *r
		other.Scale = 7
		assert.ErrorIs(t, other.Merge(right, left), rows.ErrInput)
		require.NoError(t, r.Merge(right, left))
		sent, err := right.MarshalBinary()
		require.NoError(t, err)
		require.NoError(t, right.UnmarshalBinary(sent))
		want, sample, err := r.Total(whole)
		require.NoError(t, err)
		got, again, err := r.Total(right)
		require.NoError(t, err)
		assert.Equal(t, want, got, kind)
		assert.Equal(t, sample, again)
		if kind == Gradient {
			assert.Len(t, sample, 3*((x.N+99)/100))
		}
		if kind == Far {
			assert.Len(t, sample, int(got[0]))
			assert.NotEmpty(t, sample)
		}
	}
}

// Bytes of partials and requests in which one bit has changed are refused, and so are
// those whose checksum is right and whose contents are not.
func TestFlippedBitsOfPartials(t *testing.T) {
	r, x := request(Sweep, 2*Rows, 3, 1, 1)
	p, err := sumOf(t.Context(), r, x, losses.L2(), 0, 2, 1)
	require.NoError(t, err)
	sent, err := p.MarshalBinary()
	require.NoError(t, err)
	asked, err := r.MarshalBinary()
	require.NoError(t, err)
	drill.Run(t, "flipped bits of partials", 200, func(c drill.Case) error {
		for k, b := range [][]byte{sent, asked} {
			b = append([]byte(nil), b...)
			b[c.IntN(len(b))] ^= 1 << c.IntN(8)
			if k == 0 {
				assert.ErrorIs(t, new(Partial).UnmarshalBinary(b), rows.ErrInput)
			} else {
				assert.ErrorIs(t, new(Request).UnmarshalBinary(b), rows.ErrInput)
			}
			// With a checksum that fits: an error or a value, never a panic.
			b = seal(b[:len(b)-32])
			if k == 0 {
				_ = new(Partial).UnmarshalBinary(b)
			} else {
				_ = new(Request).UnmarshalBinary(b)
			}
			for cut := range 3 {
				_ = new(Partial).UnmarshalBinary(seal(b[:c.IntN(len(b))]))
				_ = new(Request).UnmarshalBinary(b[:c.IntN(len(b))/(cut+1)])
			}
		}
		return nil
	})
}

// sumOf sums count blocks from first on.
func sumOf(ctx context.Context, r *Request, x rows.Data, loss framework.Loss, first, count, threads int) (*Partial, error) {
	return r.Partial(ctx, x, loss, Range{first, count}, threads, nil)
}
