package streaming

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/alternating"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

const (
	// mostDraws bounds the draws of a read: in larger tables each draw has several blocks.
	mostDraws = 512
	// A start is found from sampleBlocks blocks, one of each part of the table, or from a
	// part 1/samplePart of all where that is more, up to mostSampled.
	sampleBlocks, samplePart, mostSampled = 16, 32, 64
	// drawnRounding is the smoothing length of draws, relative to the smoothing scale.
	drawnRounding = 0.1
	// goldenPart steps through the table so that draws in a row are spread over it, and
	// drawJitter, a part of the table, is how far each is off at random.
	goldenPart, drawJitter = 0.6180339887498949, 0.05
)

// draws is the schedule of blocks of a fit with [solvers.Stochastic], with the average over draws.
type draws struct {
	seed    uint64
	sample  []int // for the start
	read    int   // whose order that is
	order   []int // of the blocks of the table
	average *alternating.Average
	whole   float64 // Lambda of all rows, while there is a sample
}

// Draw enables draws of blocks, for [solvers.Stochastic], in the sample for starts and in sweeps.
func (p *Problem) Draw(seed uint64) { p.draws = newDraws(p.n, seed) }

// newDraws chooses the blocks of the sample, one at random from each of equal parts of the table.
func newDraws(n int, seed uint64) *draws {
	d, count := &draws{seed: seed}, blocks.Count(n)
	size := min(max(sampleBlocks, min(count/samplePart, mostSampled)), count)
	rng := rand.New(rand.NewPCG(seed, 0))
	for k := range size {
		from, to := k*count/size, (k+1)*count/size
		d.sample = append(d.sample, from+rng.IntN(to-from))
	}
	return d
}

// Draws implements [latent.StochasticSweeper], for l2 in place of a loss by entry that cannot be swept.
func (p *Problem) Draws() int {
	if p.draws == nil || p.OuterBlocks() == nil && p.near() == nil {
		return 0
	}
	return min(blocks.Count(p.n), mostDraws)
}

// near is a loss with sweeps whose minimum is near that of a loss by entry, for draws; nil for none.
func (p *Problem) near() framework.Loss {
	if rowloss.StructureOf(p.loss) != rowloss.StructureSeparable || p.Parts() == 0 {
		return nil
	}
	return losses.L2()
}

// orderOf is a random order of the blocks in which any few consecutive ones are spread evenly over the table:
// averages of draws then hardly depend on the order of the rows, unlike with uniform random orders of sorted
// rows.
func orderOf(count int, rng *rand.Rand) []int {
	order, keys := make([]int, count), make([]float64, count)
	offset := rng.Float64()
	for k := range count {
		order[k] = k
		_, keys[k] = math.Modf(offset + goldenPart*float64(k) + drawJitter*rng.Float64())
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	blocks := make([]int, count) // draw order[b] is of block b
	for b, k := range order {
		blocks[k] = b
	}
	return blocks
}

// drawn returns the blocks of draw k, in ascending order, in nearly equal numbers for all k.
func (p *Problem) drawn(k int) []int {
	d, count, each := p.draws, blocks.Count(p.n), p.Draws()
	if read := k / each; d.order == nil || read != d.read {
		d.read = read
		d.order = orderOf(count, rand.New(rand.NewPCG(d.seed, 1+uint64(read))))
	}
	k %= each
	list := slices.Clone(d.order[k*count/each : (k+1)*count/each])
	slices.Sort(list)
	return list
}

// SweepDraw implements [latent.StochasticSweeper].
func (p *Problem) SweepDraw(next, x framework.Point, k int, rate float64) error {
	defer func(eps float64, loss framework.Loss) { p.eps, p.loss = eps, loss }(p.eps, p.loss)
	p.eps = drawnRounding * p.scale
	if near := p.near(); near != nil {
		p.loss = near
	}
	d := p.draws
	r := p.request(blocks.Sweep, x)
	r.Chosen = p.drawn(k)
	sums, _, err := p.sum(r)
	if err != nil {
		return err
	}
	if k == 0 {
		p.f.Load(x[objective.BlockC], x[objective.BlockQ], x[objective.BlockTheta])
		d.average, rate = alternating.NewAverage(p.f, p.unit), 1
	}
	d.average.Add(x, sums, rate, float64(blocks.Count(p.n))/float64(len(r.Chosen)))
	d.average.Minimize(next, p.Regularizer)
	return nil
}

// onSample runs find, which finds a start, on the sample alone where blocks are drawn.
func (p *Problem) onSample(find func() error) error {
	if p.draws != nil {
		p.sample = p.draws.sample
		defer func() { p.sample = nil }()
	}
	return find()
}

// read is the number of rows that a read covers.
func (p *Problem) read() int {
	if p.sample == nil {
		return p.n
	}
	return min(p.n, len(p.sample)*blocks.Rows)
}
