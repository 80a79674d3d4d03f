package plugins

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/framework/rowloss"
)

// Checked is the result of [Check].
type Checked struct {
	// Report holds the results for the laws of frameworktest.CheckLoss and the additional laws of [Check].
	*frameworktest.Report
	// Program identifies the plugin. Structure is the structure of the loss.
	Program   rowloss.Program
	Structure rowloss.Structure
	// Times are the measured times of the start and of evaluations.
	Times []Time
}

// Time is a measured time. It is the median of several measurements.
type Time struct {
	What string
	Took time.Duration
}

const (
	checkDim = 5
	// timedCalls is the number of calls whose median time is taken.
	timedCalls = 15
	// checkEndTime is the time within which the plugin must end. It is long because the machine may be busy.
	checkEndTime = 3 * time.Second
)

// Check starts a plugin and checks it against the laws of frameworktest.CheckLoss and
// these additional laws:
//
//   - large batch: a large batch gives the same results as small ones.
//   - other process: a second process, which receives arrays as bytes, gives
//     bit-identical results.
//   - end: the plugin ends when it is asked to.
//
// Check returns an error if the plugin does not start.
func Check(ctx context.Context, nameOrPath string, o Options) (*Checked, error) {
	begin := time.Now()
	p, err := Open(ctx, nameOrPath, o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	c := &Checked{Times: []Time{{"start", time.Since(begin)}}, Structure: rowloss.StructureOf(p.loss)}
	c.Program = p.loss.(rowloss.Identified).Program()
	c.Report = frameworktest.CheckLoss(p.loss, frameworktest.LossOptions{NonConvex: p.NonConvex(), Dim: int(p.offer.Dim)})
	if ctx.Err() != nil {
		return nil, fmt.Errorf("plugins: %s: check: %w", p.name, ctx.Err())
	}
	defer func() { explain(p.name, c.Verdicts) }()
	if !c.OK() {
		return c, nil
	}
	c.try("large batch", p.checkLarge)
	c.try("other process", func() error { return p.checkOther(ctx, nameOrPath, o) })
	c.time(p)
	c.try("end", p.checkEnd)
	return c, nil
}

func (c *Checked) try(law string, trial func() error) {
	v := frameworktest.Verdict{Law: law, OK: true, Detail: "holds"}
	if err := trial(); err != nil {
		v.OK, v.Detail = false, err.Error()
	}
	c.Verdicts = append(c.Verdicts, v)
}

// dim returns a row length that the loss accepts.
func (p *Plugin) dim() int {
	if p.offer.Dim > 0 {
		return int(p.offer.Dim)
	}
	return checkDim
}

// residualRows returns random residuals: about n numbers, rounded to whole rows.
func (p *Plugin) residualRows(n int) []float64 {
	rng := rand.New(rand.NewPCG(7, 11))
	r := make([]float64, max(n/p.dim(), 1)*p.dim())
	for i := range r {
		r[i] = rng.NormFloat64()
	}
	return r
}

// scores returns the values at the rows r, followed by the gradients.
func (p *Plugin) scores(r []float64) ([]float64, error) {
	rows := len(r) / p.dim()
	out := make([]float64, rows+len(r))
	return out, p.loss.Evaluate(out[:rows], out[rows:], r, p.dim())
}

// checkLarge checks that one large batch gives the same results as many small ones.
func (p *Plugin) checkLarge() error {
	r := p.residualRows(1 << 15)
	rows, dim := len(r)/p.dim(), p.dim()
	whole, err := p.scores(r)
	if err != nil {
		return err
	}
	for lo := 0; lo < rows; lo += 40 {
		hi := min(lo+40, rows)
		part, err := p.scores(r[lo*dim : hi*dim])
		if err != nil {
			return err
		}
		want := slices.Concat(whole[lo:hi], whole[rows+lo*dim:rows+hi*dim])
		if i := firstDifference(part, want); i >= 0 {
			return fmt.Errorf("%g in a batch of %d rows, %g in one of %d", want[i], rows, part[i], hi-lo)
		}
	}
	return nil
}

// firstDifference returns the first index at which the bits of a and b differ, or -1.
func firstDifference(a, b []float64) int {
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			return i
		}
	}
	return -1
}

// checkOther checks that a second process gives the same results.
func (p *Plugin) checkOther(ctx context.Context, nameOrPath string, o Options) error {
	o.NoSharedMemory = true
	second, err := Open(ctx, nameOrPath, o)
	if err != nil {
		return err
	}
	defer second.Close()
	r := p.residualRows(200)
	a, err := p.scores(r)
	if err != nil {
		return err
	}
	b, err := second.scores(r)
	if err != nil {
		return err
	}
	if i := firstDifference(a, b); i >= 0 {
		return fmt.Errorf("%g in one process, %g in another", a[i], b[i])
	}
	return nil
}

// time measures evaluations and appends the times.
func (c *Checked) time(p *Plugin) {
	for _, batch := range []struct {
		what  string
		bytes int
	}{{"8 KB of residuals", 8 << 10}, {"1 MB of residuals", 1 << 20}} {
		r := p.residualRows(batch.bytes / wordBytes)
		var took []time.Duration
		for range timedCalls {
			begin := time.Now()
			if _, err := p.scores(r); err != nil {
				return
			}
			took = append(took, time.Since(begin))
		}
		slices.Sort(took)
		c.Times = append(c.Times, Time{batch.what, took[len(took)/2]})
	}
}

// checkEnd checks that the plugin ends when it is asked to.
func (p *Plugin) checkEnd() error {
	p.shutdown()
	if !p.endsWithin(checkEndTime) {
		return fmt.Errorf("it still runs %v after it was asked to end; it must answer %s", checkEndTime, strings.TrimPrefix(shutdownMethod, "/"))
	}
	return nil
}
