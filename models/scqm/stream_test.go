package scqm

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
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
		p, err := sumBlocks(ctx, &there, e.source, e.loss, first, b-first)
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

// sumBlocks answers a request for count blocks from first on.
func sumBlocks(ctx context.Context, r *Request, src Source, loss framework.Loss, first, count int) (*Partial, error) {
	return SumRange(ctx, r, src, loss, BlockRange{First: first, Count: count}, 1)
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
		threads, parts, count := []int{1, 2, 3, 7}, []int{1, 2, 3, 7, 20}, 20
		if !drill.Whole() {
			threads, parts = []int{3}, []int{2, 20}
			if name == "l1" {
				parts, count = []int{2}, 2
			}
		}
		x := bentRows(seed, count*BlockRows+7, 4)
		c := Config{Latent: 2, Loss: named(t, name, 4), Solver: solvers.Streaming{}, Threads: 1}
		c.Options.MaxIterations = iterations
		if name == "l1" {
			c.Options.MaxIterations = (iterations + 9) / 10
		}
		want, err := Learn(ctx, x, c)
		require.NoError(t, err)
		require.Len(t, want.Model.Tau, 2*x.N)
		for _, threads := range threads {
			got, err := LearnFrom(ctx, &LocalEngine{Source: x, Loss: c.Loss, Threads: threads}, c)
			require.NoError(t, err)
			sameModel(t, want.Model, got.Model, "%s, %d threads", name, threads)
			assert.Equal(t, want.Model.Meta.Objective, got.Model.Meta.Objective)
		}
		for _, parts := range parts {
			got, err := LearnFrom(ctx, &cutEngine{x, c.Loss, parts, rand.New(rand.NewPCG(seed, uint64(parts)))}, c)
			require.NoError(t, err)
			sameModel(t, want.Model, got.Model, "%s, %d parts", name, parts)
			assert.Equal(t, want.Model.Meta, got.Model.Meta)
		}
	}
}

// What is fitted from sums over blocks is what is fitted from all rows at once.
func TestStreamFitsAsLearn(t *testing.T) {
	for _, name := range []string{"l2", "huber", "squared_l2", "mahalanobis"} {
		for _, shape := range [][3]int{{2, 3, 7}, {2, 2, 7}, {2, 2, 4}, {2, -1, 5}} {
			x := bentRows(5, 1300, shape[2])
			c := Config{Latent: shape[0], Curvature: max(shape[1], 0), Linear: shape[1] < 0, Loss: named(t, name, shape[2]), Threads: 1}
			want := learn(t, x, c)
			c.Solver = solvers.Streaming{}
			got := learn(t, x, c)
			assert.Equal(t, "converged", got.Model.Meta.Status, "%s %v", name, shape)
			assert.InEpsilon(t, want.Model.Meta.Objective+want.Model.Meta.Penalty, got.Model.Meta.Objective+got.Model.Meta.Penalty, 1e-8, "%s %v", name, shape)
			assert.InEpsilon(t, want.Model.Meta.CurvatureExtent+1, got.Model.Meta.CurvatureExtent+1, 1e-3)
			assert.Equal(t, want.Model.Meta.Ridge, got.Model.Meta.Ridge)
			require.NoError(t, got.Model.Validate())
			for _, v := range got.Model.Meta.Stationarity {
				assert.LessOrEqual(t, v, framework.DefaultTolerance)
			}
		}
	}
}

// A row of weight 2 counts as two rows, one of weight 0 not at all.
func TestStreamWeights(t *testing.T) {
	x := bentRows(3, 1100, 6)
	twice := Data{N: 2 * x.N, D: 6, X: append(append([]float64(nil), x.X...), x.X...)}
	x.X = append(x.X, 9, 9, 9, 9, 9, 9)
	x.N++
	x.Weights = make([]float64, x.N)
	for i := range x.N - 1 {
		x.Weights[i] = 2
	}
	c := Config{Latent: 2, Loss: losses.L2(), Solver: solvers.Streaming{}}
	one, two := learn(t, x, c).Model.Meta, learn(t, twice, c).Model.Meta
	assert.InEpsilon(t, two.Objective, one.Objective, 1e-7)
	assert.InEpsilon(t, two.MeanLoss, one.MeanLoss, 1e-7)
}

// With more columns than second moments are summed for, the start is found by products.
func TestStreamOfManyColumns(t *testing.T) {
	const n, D = 150, rows.MaxExplicit + 6
	bent := bentRows(1, n, 6)
	x := Data{N: n, D: D, X: make([]float64, n*D)}
	for i := range n {
		for j := range 6 {
			x.X[i*D+j*80] = bent.X[i*6+j]
		}
	}
	c := Config{Latent: 2, Loss: losses.SquaredL2(), Options: framework.Options{Tolerance: 1e-4}}
	want := learn(t, x, c)
	c.Solver = solvers.Streaming{}
	got := learn(t, x, c)
	assert.InEpsilon(t, want.Model.Meta.Objective, got.Model.Meta.Objective, 1e-4)
}

// failing is a source that fails at a row.
type failing struct {
	Source
	at  int
	err error
}

func (f failing) columns() int {
	_, D := f.Shape()
	return D
}

func (f failing) ReadRows(ctx context.Context, dst []float64, first int) error {
	if f.at >= first && f.at < first+len(dst)/f.columns() {
		return f.err
	}
	return f.Source.ReadRows(ctx, dst, first)
}

// What cannot be streamed is refused with a reason, what goes wrong comes out, and a run
// that is cancelled keeps its best model.
func TestStreamRefuses(t *testing.T) {
	ctx := context.Background()
	x := bentRows(3, 3000, 4)
	c := Config{Latent: 1, Loss: losses.L2(), Threads: 2}
	from := func(source Source, c Config) (*Fit, error) {
		return LearnFrom(ctx, &LocalEngine{Source: source, Loss: c.Loss, Threads: 2}, c)
	}
	broken := errors.New("disk on fire")
	_, err := from(failing{x, 2500, broken}, c)
	require.ErrorIs(t, err, broken)
	for want, change := range map[string]func(c *Config, x *Data){
		"row 2100, column 2 is NaN":  func(_ *Config, x *Data) { x.X[2100*4+2] = math.NaN() },
		"missing entries":            func(c *Config, _ *Data) { c.IgnoreMissing = true },
		"the ridge is not chosen":    func(c *Config, _ *Data) { c.Ridge = AutoRidge },
		"needs all rows in memory":   func(c *Config, _ *Data) { c.Solver = solvers.Newton{} },
		"latent dimension 5":         func(c *Config, _ *Data) { c.Latent = 5 },
		"weight of row 7 is -1":      func(_ *Config, x *Data) { x.Weights = make([]float64, x.N); x.Weights[7] = -1 },
		"divide all columns by that": func(_ *Config, x *Data) { x.X[5] = 1e200 },
		"row 2999 is ":               func(_ *Config, x *Data) { x.X[4*2999+1] = 1e16 },
		"for rows of length 3":       func(c *Config, _ *Data) { c.Loss = named(t, "mahalanobis", 3) },
	} {
		c, x := c, Data{N: x.N, D: x.D, X: slices.Clone(x.X)}
		change(&c, &x)
		_, err := from(x, c)
		require.ErrorIs(t, err, ErrInput, want)
		assert.ErrorContains(t, err, want)
	}
	_, err = LearnFrom(ctx, &LocalEngine{Source: x, Loss: losses.L1()}, c)
	require.ErrorContains(t, err, "is answered with another")

	stop, cancel := context.WithCancel(ctx)
	var seen []ReadProgress
	engine := &LocalEngine{Source: x, Loss: c.Loss, Threads: 2, Observe: func(p ReadProgress) {
		seen = append(seen, p)
		if p.Read == 7 {
			cancel()
		}
	}}
	fit, err := LearnFrom(stop, engine, c)
	require.NoError(t, err)
	assert.Equal(t, "cancelled", fit.Model.Meta.Status)
	require.NoError(t, fit.Model.Validate())
	assert.Equal(t, ReadProgress{Read: 1, Rows: x.N, N: x.N}, seen[Blocks(x.N)-1])
}

// Delta is that of rows in memory.
func TestDefaultDeltaFrom(t *testing.T) {
	x := bentRows(3, 3000, 4)
	norms, err := ResidualNorms(x, 2)
	require.NoError(t, err)
	got, err := DefaultDeltaFrom(t.Context(), &LocalEngine{Source: x}, Config{Latent: 2}, "huber")
	require.NoError(t, err)
	assert.InEpsilon(t, losses.DefaultDelta("huber", norms), got, 1e-3)
	x.Missing = true
	sizes, err := ResidualNorms(x, 2)
	require.NoError(t, err)
	x.Missing = false
	got, err = DefaultDeltaFrom(t.Context(), &LocalEngine{Source: x}, Config{Latent: 2}, "huber_entries")
	require.NoError(t, err)
	assert.InEpsilon(t, losses.DefaultDelta("huber", sizes), got, 0.01)
	_, err = DefaultDeltaFrom(t.Context(), &LocalEngine{Source: x}, Config{Latent: 9}, "huber")
	require.ErrorIs(t, err, ErrInput)
}

// Rows in memory have the delta of rows in a file wherever they are fitted by sums over
// blocks, and the exact one elsewhere.
func TestDefaultDeltaDoesNotDependOnMemory(t *testing.T) {
	x := bentRows(3, 20000, 5)
	for _, name := range []string{"huber", "huber_entries"} {
		c := Config{Latent: 2, Solver: solvers.Streaming{}, Seed: 3}
		want, err := DefaultDeltaFrom(t.Context(), &LocalEngine{Source: x}, c, name)
		require.NoError(t, err)
		got, err := DefaultDelta(t.Context(), x, c, name)
		require.NoError(t, err)
		assert.Equal(t, want, got, name)
		whole := x
		whole.Missing = name == "huber_entries"
		norms, err := ResidualNorms(whole, 2)
		require.NoError(t, err)
		got, err = DefaultDelta(t.Context(), x, Config{Latent: 2}, name)
		require.NoError(t, err)
		assert.Equal(t, losses.DefaultDelta("huber", norms), got)
	}
}

// A row of weight 2 counts as two, and one of weight 0 as none, in memory and in sums over blocks.
func TestDefaultDeltaWeighsRows(t *testing.T) {
	x := bentRows(3, 600, 4)
	x.Weights = make([]float64, x.N)
	repeated := Data{D: x.D}
	for i := range x.N {
		x.Weights[i] = float64(i % 3)
		for range i % 3 {
			repeated.N++
			repeated.X = append(repeated.X, x.Row(i)...)
		}
	}
	for _, name := range []string{"huber", "huber_entries"} {
		for _, solver := range []framework.Solver{nil, solvers.Streaming{}} {
			c := Config{Latent: 2, Solver: solver}
			want, err := DefaultDelta(t.Context(), repeated, c, name)
			require.NoError(t, err)
			got, err := DefaultDelta(t.Context(), x, c, name)
			require.NoError(t, err)
			assert.InEpsilon(t, want, got, 1e-9, "%v, %s", solver, name)
		}
	}
}

// A sheet through all rows is a minimum under a loss with kinks, whose gradients there
// balance the penalty.
func TestStreamThroughAllRows(t *testing.T) {
	x := Data{N: 4096, D: 2}
	for i := range x.N {
		s := 2*float64(i)/float64(x.N-1) - 1
		x.X = append(x.X, s, s*s)
	}
	c := Config{Latent: 1, Loss: losses.L2(), Solver: solvers.Streaming{}, Ridge: DefaultRidge}
	got := learn(t, x, c).Model
	assert.Equal(t, framework.Converged.String(), got.Meta.Status, got.Meta.Message)
	assert.Less(t, got.Meta.Objective, 1e-9)
}

// The objective is that of the rows where Transform places them, whatever the loss.
func TestStreamObjectiveIsThatOfProjections(t *testing.T) {
	x := bentRows(5, 300, 5)
	for _, name := range []string{"l2", "lp 4", "l1"} {
		loss := blackBox{Loss: named(t, name, x.D)}
		c := Config{Latent: 1, Loss: loss, Solver: solvers.Streaming{}, Options: framework.Options{MaxIterations: 5}}
		got := learn(t, x, c).Model
		r, err := got.Reconstruct(t.Context(), got.Tau, 1)
		require.NoError(t, err)
		floats.Sub(r, x.X)
		values := make([]float64, x.N)
		require.NoError(t, loss.Evaluate(values, nil, r, x.D))
		assert.InEpsilon(t, floats.Sum(values), got.Meta.Objective, 1e-10, name)
	}
}

// A fit in memory that is cancelled while it streams has the coordinates of its rows.
func TestStreamCancelledInMemory(t *testing.T) {
	x := bentRows(3, 1500, 5)
	ctx, cancel := context.WithCancel(t.Context())
	c := Config{Latent: 1, Loss: losses.L2(), Solver: solvers.Streaming{}}
	c.Options.Observers = []func(framework.Record){func(p framework.Record) {
		if p.Iteration == 2 {
			cancel()
		}
	}}
	fit, err := Learn(ctx, x, c)
	require.NoError(t, err)
	assert.Equal(t, "cancelled", fit.Model.Meta.Status)
	assert.Len(t, fit.Model.Tau, x.N)
}

// The objective of streamed rows in memory is that at the coordinates of the fit.
func TestStreamedFitsTakeTheObjectiveOfTheirRows(t *testing.T) {
	x := noisyParaboloid(rand.New(rand.NewPCG(5, 2311)), 5, 2, BlockRows+300)
	for _, name := range []string{"huber", "lp 3"} {
		m := learn(t, x, Config{Latent: 2, Loss: named(t, name, x.D), Solver: solvers.Streaming{}}).Model
		r, err := m.Reconstruct(t.Context(), m.Tau, 1)
		require.NoError(t, err)
		floats.Sub(r, x.X)
		values := make([]float64, x.N)
		require.NoError(t, m.Losses(values, r))
		assert.InEpsilon(t, floats.Sum(values), m.Meta.Objective, 1e-12, name)
	}
}
