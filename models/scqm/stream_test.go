package scqm

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/solvers"
)

// bentRows are rows of a bent surface in R^D with noise, far from the origin.
func bentRows(seed uint64, n, D int) Data {
	noise := gaussians(seed, n*(D+2))
	x := Data{N: n, D: D, X: noise[:n*D]}
	for i := range n {
		u, v := noise[n*D+2*i], noise[n*D+2*i+1]
		row := x.Row(i)
		for j := range row {
			a := float64(j + 1)
			row[j] = 3 + 0.1*row[j] + math.Sin(a)*u + math.Cos(2*a)*v + 0.3*math.Sin(3*a)*(u*u-v*v) + 0.2*math.Cos(5*a)*u*v
		}
	}
	return x
}

// cutEngine sums parts of the blocks apart, sends them as bytes, and merges them in a
// random order.
type cutEngine struct {
	source Source
	loss   framework.Loss
	parts  int
	rng    *rand.Rand
}

func (e *cutEngine) Shape() (n, D int) { return e.source.Shape() }

func (e *cutEngine) Sum(ctx context.Context, r *Request) (*Partial, error) {
	sent, err := r.MarshalBinary()
	if err != nil {
		return nil, err
	}
	count := Blocks(r.N)
	parts := min(e.parts, count)
	cuts := e.rng.Perm(count - 1)[:parts-1]
	at := make([]bool, count+1)
	at[count] = true
	for _, c := range cuts {
		at[c+1] = true
	}
	var list []*Partial
	for first, b := 0, 1; b <= count; b++ {
		if !at[b] {
			continue
		}
		var there Request // that a worker reads
		if err := there.UnmarshalBinary(sent); err != nil {
			return nil, err
		}
		p, err := SumBlocks(ctx, &there, e.source, e.loss, first, b-first, 1)
		if err != nil {
			return nil, err
		}
		bytes, err := p.MarshalBinary()
		if err != nil {
			return nil, err
		}
		back := new(Partial)
		if err := back.UnmarshalBinary(bytes); err != nil {
			return nil, err
		}
		list = append(list, back)
		first = b
	}
	for len(list) > 1 {
		k := e.rng.IntN(len(list) - 1)
		if err := r.Merge(list[k], list[k+1]); err != nil {
			return nil, err
		}
		list = append(list[:k+1], list[k+2:]...)
	}
	return list[0], nil
}

// sameModel requires equal bits of c, U, V and Theta.
func sameModel(t *testing.T, want, got *Model, what string, args ...any) {
	t.Helper()
	for k, a := range [][]float64{want.C, want.U, want.V, want.Theta} {
		require.Equal(t, a, [][]float64{got.C, got.U, got.V, got.Theta}[k], append([]any{what}, args...)...)
	}
}

// A fit has the same bits for every number of threads, and for every cut of its blocks
// into parts that are merged through bytes.
func TestDrillStreamBits(t *testing.T) {
	iterations := 2
	if drill.Whole() {
		iterations = 30
	}
	for k := range drill.Cases(t, "stream bits", 1) {
		streamBits(t, uint64(k+1), iterations)
	}
}

func streamBits(t *testing.T, seed uint64, iterations int) {
	t.Helper()
	ctx := context.Background()
	for _, name := range []string{"l2", "huber", "squared_l2", "l1"} {
		x := bentRows(seed, 20*BlockRows+7, 4)
		c := Config{Latent: 2, Loss: named(t, name, 4), Solver: solvers.Streaming{}, Threads: 1}
		c.Options.MaxIterations = iterations
		if name == "l1" {
			c.Options.MaxIterations = (iterations + 9) / 10
		}
		want, err := Learn(ctx, x, c)
		require.NoError(t, err)
		require.Len(t, want.Model.Tau, 2*x.N)
		for _, threads := range []int{1, 2, 3, 7} {
			got, err := LearnFrom(ctx, &LocalEngine{Source: x, Loss: c.Loss, Threads: threads}, c)
			require.NoError(t, err)
			sameModel(t, want.Model, got.Model, "%s, %d threads", name, threads)
			assert.Equal(t, want.Model.Meta.Objective, got.Model.Meta.Objective)
		}
		for _, parts := range []int{1, 2, 3, 7, 20} {
			got, err := LearnFrom(ctx, &cutEngine{x, c.Loss, parts, rand.New(rand.NewPCG(seed, uint64(parts)))}, c)
			require.NoError(t, err)
			sameModel(t, want.Model, got.Model, "%s, %d parts", name, parts)
			assert.Equal(t, want.Model.Meta, got.Model.Meta)
		}
	}
}
