package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/denoise"
	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/scqm"
)

// CloudNoise is the standard deviation of the noise of a [Cloud].
const CloudNoise = 0.03

const (
	denoiseWide    = 20
	denoiseWideN   = 10000
	denoiseTime    = 2 * time.Second // for each figure
	denoiseQuick   = 100 * time.Millisecond
	denoiseRepeats = 3
	// denoiseBatch is the number of rows denoised at a time.
	denoiseBatch = 1024
)

// cloudSizes are the numbers of rows that are denoised by default.
var cloudSizes = []int{300, 10000, 100000}

// Cloud is the size of a set of rows to denoise.
type Cloud struct {
	N, D int
}

// Denoising says how fast the methods are on one cloud.
type Denoising struct {
	N       int           `json:"n"`
	D       int           `json:"D"`
	Methods []*MethodTime `json:"methods"`
}

// MethodTime holds rows per second, the best of some batches.
type MethodTime struct {
	Method     string    `json:"method"`
	Neighbors  int       `json:"neighbors"` // of the first row
	FitSeconds float64   `json:"fit_seconds"`
	Threads    []int     `json:"threads"`
	PerSecond  []float64 `json:"rows_per_second"`
	Rows       int       `json:"rows"` // timed, of all
}

// Clouds lists the clouds to denoise: of o.Rows rows where those are given, else of
// several sizes.
func Clouds(o Options) []Cloud {
	sizes := cloudSizes
	switch {
	case o.Rows != nil:
		sizes = o.Rows
	case o.Quick:
		sizes = sizes[:1]
	}
	var list []Cloud
	for _, n := range sizes {
		list = append(list, Cloud{n, 3})
	}
	if !o.Quick {
		list = append(list, Cloud{denoiseWideN, denoiseWide})
	}
	return list
}

// TimeDenoising times all methods of denoising on one cloud.
func TimeDenoising(ctx context.Context, o Options, c Cloud) (*Denoising, error) {
	x := c.rows()
	methods := denoiseMethods()
	r := &Denoising{N: c.N, D: c.D}
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		one, err := timeMethod(ctx, o, methods[name], x)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		one.Method = name
		r.Methods = append(r.Methods, one)
	}
	return r, nil
}

// denoiseMethods lists what is timed. All but auto take 30 neighbours.
func denoiseMethods() map[string]denoise.Method {
	list := map[string]denoise.Method{
		"scqm, l2":  classic.SCQM{Latent: Latent, Loss: losses.L2()},
		"kde local": classic.KDE{Latent: Latent, Local: true},
	}
	for _, d := range denoise.Describe() {
		m, err := denoise.ByName(d.Name, denoise.Settings{Latent: Latent})
		if err == nil && d.Name != "sqmf" { // which is scqm with its default loss
			list[d.Name] = m
		}
	}
	return list
}

// rows are points of the unit sphere with noise; beyond three columns, of its
// upper half mapped into all of them.
func (c Cloud) rows() scqm.Data {
	rng := rand.New(rand.NewPCG(5, uint64(c.N)))
	x := scqm.Data{N: c.N, D: c.D, X: make([]float64, c.N*c.D)}
	for i := range c.N {
		p := [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		norm := math.Sqrt(p[0]*p[0] + p[1]*p[1] + p[2]*p[2])
		row := x.Row(i)
		for j := range row {
			row[j] = p[j%3] / norm
			if c.D > 3 {
				row[j] = math.Cos(float64(j)+p[0]/norm+float64(j%3)*p[1]/norm) / 2
			}
			row[j] += CloudNoise * rng.NormFloat64()
		}
	}
	return x
}

// timeMethod fits a method with all threads, and denoises random rows with one
// thread and with all.
func timeMethod(ctx context.Context, o Options, m denoise.Method, x scqm.Data) (*MethodTime, error) {
	budget := denoiseTime
	if o.Quick {
		budget = denoiseQuick
	}
	begin := time.Now()
	d, err := denoise.Fit(ctx, m, x, denoise.Options{Threads: o.Threads})
	if err != nil {
		return nil, err
	}
	r := &MethodTime{FitSeconds: time.Since(begin).Seconds(), Threads: o.threadCounts()}
	batch := randomRows(x)
	for _, threads := range r.Threads {
		best := 0.0
		for range denoiseRepeats {
			rate, done, err := timeRows(ctx, d, batch, threads, budget/denoiseRepeats)
			if err != nil {
				return nil, err
			}
			best = max(best, rate)
			r.Rows = max(r.Rows, done.rows)
			r.Neighbors = done.neighbors
		}
		r.PerSecond = append(r.PerSecond, best)
	}
	return r, nil
}

// randomRows draws a batch of rows.
func randomRows(x scqm.Data) scqm.Data {
	rng := rand.New(rand.NewPCG(6, uint64(x.N)))
	some := scqm.Data{D: x.D}
	for _, i := range rng.Perm(x.N)[:min(x.N, denoiseBatch)] {
		some.X = append(some.X, x.Row(i)...)
		some.N++
	}
	return some
}

type timed struct{ rows, neighbors int }

// timeRows denoises the batch again and again until the time is over, and counts
// the rows that were finished by then.
func timeRows(ctx context.Context, d *denoise.Denoiser, batch scqm.Data, threads int, budget time.Duration) (perSecond float64, done timed, err error) {
	limited, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	begin := time.Now()
	finished := 0
	for limited.Err() == nil {
		r, err := d.Denoise(limited, batch, denoise.Options{Threads: threads})
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return 0, done, err
		}
		count := 0
		for _, row := range r.Rows {
			if row.Done {
				count++
				done.neighbors = row.Neighbors
			}
		}
		finished += count
		done.rows = max(done.rows, count)
	}
	return float64(finished) / time.Since(begin).Seconds(), done, ctx.Err()
}
