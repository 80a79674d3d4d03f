package bench

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/solvers"
)

const (
	// readEntries is the length of the array whose sum of squares shows the
	// bandwidth: 256 MiB, more than caches hold. For a rough picture it is
	// shorter.
	readEntries, quickEntries = 1 << 25, 1 << 22
	// tileRows, tileSums and tileColumns are the sizes of a product that stays in the
	// first-level cache and keeps its sums in registers: the most that kernels reach.
	tileRows, tileSums, tileColumns = 64, 6, 32
	// roofTime is the time for one figure, of which the best trial counts.
	roofTime, quickRoofTime = time.Second / 2, time.Second / 20
)

// Roofline compares kernels with what the machine could do.
type Roofline struct {
	Speeds  []Speed      `json:"speeds"`
	Kernels []KernelTime `json:"kernels"`
}

// Speed is what so many threads of this machine reach.
type Speed struct {
	Threads int     `json:"threads"`
	Read    float64 `json:"read_gb_per_s"`
	Product float64 `json:"product_gflop_per_s"` // of products in the first-level cache
}

// KernelTime is one pass over the rows.
type KernelTime struct {
	Kernel       string  `json:"kernel"`
	N            int     `json:"n"`
	D            int     `json:"D"`
	Threads      int     `json:"threads"`
	Seconds      float64 `json:"seconds"`
	PerRow       float64 `json:"ns_per_row"`
	Bandwidth    float64 `json:"gb_per_s"`    // of reading the rows once
	FlopRate     float64 `json:"gflop_per_s"` // of the matrix products
	OverRoofline float64 `json:"over_bound"`  // time over that of one read plus the products, at those speeds
}

// kernel is a pass over rows and the work that it cannot do without.
type kernel struct {
	name   string
	sweeps bool                      // is for losses that sweeps are for
	flops  func(D, d, s int) float64 // of the matrix products, per row
	run    func(p *scqm.Problem, at *kernelPoints) error
}

// kernelPoints are where a kernel works.
type kernelPoints struct{ x, next, grad framework.Point }

var kernels = []kernel{
	{
		// Q'(x - c), and sums of (x - c) [1, tau, phi]'.
		name: "sweep", sweeps: true,
		flops: func(D, d, s int) float64 {
			q := d * (d + 1) / 2
			return float64(2 * D * (d + s + 1 + d + q))
		},
		run: func(p *scqm.Problem, at *kernelPoints) error {
			_, err := p.Sweep(at.next, at.x)
			at.x, at.next = at.next, at.x
			return err
		},
	},
	{
		// Q z, Q'g and sums of g [1, z]'.
		name:  "evaluate with gradient",
		flops: func(D, d, s int) float64 { return float64(2 * D * (3*(d+s) + 1)) },
		run: func(p *scqm.Problem, at *kernelPoints) error {
			_, err := p.Evaluate(at.grad, at.x)
			return err
		},
	},
}

// MeasureRoofline times the kernels on the rows of the problems, once for each
// size.
func MeasureRoofline(ctx context.Context, o Options, problems []*Problem) (*Roofline, error) {
	report := &Roofline{}
	entries, watch := readEntries, stopwatch(roofTime)
	if o.Quick {
		entries, watch = quickEntries, stopwatch(quickRoofTime)
	}
	src := make([]float64, entries)
	for i := range src {
		src[i] = 1 // else all pages would be one
	}
	for _, t := range o.threadCounts() {
		report.Speeds = append(report.Speeds, Speed{Threads: t, Read: watch.readSpeed(src, t), Product: watch.productSpeed(t)})
	}
	sizes := map[int]bool{}
	for _, p := range problems {
		if sizes[p.sets[0].N] {
			continue
		}
		sizes[p.sets[0].N] = true
		for _, speed := range report.Speeds {
			list, err := watch.kernels(ctx, o, p, speed)
			if err != nil {
				return nil, fmt.Errorf("roofline: %w", err)
			}
			report.Kernels = append(report.Kernels, list...)
		}
	}
	return report, nil
}

// stopwatch is the time to spend on one figure.
type stopwatch time.Duration

// quickest returns the least of the times of some trials.
func (s stopwatch) quickest(trial func() error) (float64, error) {
	best := math.Inf(1)
	for begin := time.Now(); time.Since(begin) < time.Duration(s) || math.IsInf(best, 0); {
		from := time.Now()
		if err := trial(); err != nil {
			return 0, err
		}
		best = math.Min(best, time.Since(from).Seconds())
	}
	return best, nil
}

// readSpeed returns bytes read in nanoseconds, in GB/s.
func (s stopwatch) readSpeed(src []float64, threads int) float64 {
	part, sums := len(src)/threads, make([]float64, threads)
	seconds, _ := s.quickest(func() error {
		par.Do(threads, threads, func(_, i int) {
			some := src[i*part : (i+1)*part]
			sums[i] = dense.InnerProduct(some, some)
		})
		return nil
	})
	return float64(8*part*threads) / seconds / 1e9
}

// productSpeed returns the speed of products of matrices that fit the first-level cache, in
// each thread, in GFLOP/s.
func (s stopwatch) productSpeed(threads int) float64 {
	const times = 1000
	type triple struct{ a, b, c []float64 }
	work := make([]triple, threads)
	for i := range work {
		work[i] = triple{make([]float64, tileRows*tileSums), make([]float64, tileRows*tileColumns), make([]float64, tileSums*tileColumns)}
	}
	seconds, _ := s.quickest(func() error {
		par.Do(threads, threads, func(_, i int) {
			for range times {
				dense.AddProduct(work[i].c, work[i].a, work[i].b, tileRows, tileSums, tileColumns)
			}
		})
		return nil
	})
	return float64(2*tileRows*tileSums*tileColumns*times*threads) / seconds / 1e9
}

// kernels times the kernels near the solution for the first loss of a problem.
func (s stopwatch) kernels(ctx context.Context, o Options, of *Problem, speed Speed) ([]KernelTime, error) {
	x, loss := of.sets[0], of.losses[0]
	fit, err := o.learn(ctx, x, scqm.Config{
		Latent: Latent, Curvature: scqm.FullCurvature, Loss: loss, Ridge: scqm.NoRidge, Solver: solvers.Alternating{}, Options: framework.Options{MaxIterations: 3},
	})
	if err != nil {
		return nil, err
	}
	m := fit.Model
	p, err := scqm.NewProblem(ctx, x, loss, m.Latent, m.Curvature, speed.Threads)
	if err != nil {
		return nil, err
	}
	at := &kernelPoints{x: pointOf(m), next: framework.NewPoint(p.Blocks()), grad: framework.NewPoint(p.Blocks())}
	var list []KernelTime
	for _, k := range kernels {
		if k.sweeps && len(p.OuterBlocks()) == 0 {
			continue
		}
		seconds, err := s.quickest(func() error { return k.run(p, at) })
		if err != nil {
			return nil, err
		}
		bytes, flops := float64(8*x.N*x.D), float64(x.N)*k.flops(x.D, m.Latent, m.Curvature)
		bound := bytes/speed.Read/1e9 + flops/speed.Product/1e9
		list = append(list, KernelTime{
			Kernel: k.name, N: x.N, D: x.D, Threads: speed.Threads, Seconds: seconds, PerRow: seconds / float64(x.N) * 1e9,
			Bandwidth: bytes / seconds / 1e9, FlopRate: flops / seconds / 1e9, OverRoofline: seconds / bound,
		})
	}
	return list, nil
}

// pointOf lays a model out as a point of a [scqm.Problem].
func pointOf(m *scqm.Model) framework.Point {
	q := make([]float64, 0, m.D*(m.Latent+m.Curvature))
	for i := range m.D {
		q = append(q, m.U[i*m.Latent:(i+1)*m.Latent]...)
		q = append(q, m.V[i*m.Curvature:(i+1)*m.Curvature]...)
	}
	return framework.Point{m.C, q, m.Theta, m.Tau}
}
