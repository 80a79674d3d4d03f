package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/denoise"
	"github.com/scqm/scqm/models/scqm"
)

const (
	benchDenoise = "denoise"

	denoiseNoise   = 0.03
	denoiseWide    = 20
	denoiseWideN   = 10000
	denoiseTime    = 2 * time.Second // for each figure
	denoiseQuick   = 100 * time.Millisecond
	denoiseRepeats = 3
	// denoiseBatch is the number of rows denoised at a time.
	denoiseBatch = 1024
)

// denoiseCase is a cloud to denoise.
type denoiseCase struct {
	n, D int
}

// denoiseReport says how fast the methods are on one cloud.
type denoiseReport struct {
	N       int                    `json:"n"`
	D       int                    `json:"D"`
	Methods []*denoiseMethodReport `json:"methods"`
}

// denoiseMethodReport holds rows per second, the best of some batches.
type denoiseMethodReport struct {
	Method     string    `json:"method"`
	Neighbors  int       `json:"neighbors"` // of the first row
	FitSeconds float64   `json:"fit_seconds"`
	Threads    []int     `json:"threads"`
	PerSecond  []float64 `json:"rows_per_second"`
	Rows       int       `json:"rows"` // timed, of all
}

// denoiseMethods lists what is timed. All but auto take 30 neighbours.
func denoiseMethods() map[string]denoise.Method {
	list := map[string]denoise.Method{
		"scqm, l2":  denoise.SCQM{Latent: benchLatent, Loss: losses.L2()},
		"kde local": denoise.KDE{Latent: benchLatent, Local: true},
	}
	for _, d := range denoise.Describe() {
		m, err := denoise.ByName(d.Name, denoise.Settings{Latent: benchLatent})
		if err == nil && d.Name != "sqmf" { // which is scqm with its default loss
			list[d.Name] = m
		}
	}
	return list
}

// denoising times all methods of denoising, and prints as results come in.
func (f *benchFlags) denoising(cmd *cobra.Command, out io.Writer, report *benchReport) error {
	methods := denoiseMethods()
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range methods {
			if !yield(name) {
				return
			}
		}
	})
	for _, c := range f.denoiseCases(cmd) {
		x := c.rows()
		r := &denoiseReport{N: c.n, D: c.D}
		report.Denoise = append(report.Denoise, r)
		if _, err := fmt.Fprintf(out, "\ndenoise: n = %d, D = %d, d = %d, noise %v\n", c.n, c.D, benchLatent, denoiseNoise); err != nil {
			return err
		}
		for _, name := range names {
			one, err := f.timeMethod(cmd.Context(), methods[name], x)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			one.Method = name
			r.Methods = append(r.Methods, one)
		}
		if err := r.print(out); err != nil {
			return err
		}
	}
	return nil
}

func (f *benchFlags) denoiseCases(cmd *cobra.Command) []denoiseCase {
	sizes := []int{300, 10000, 100000}
	if cmd.Flags().Changed("rows") {
		sizes = f.rows
	} else if f.quick {
		sizes = sizes[:1]
	}
	var list []denoiseCase
	for _, n := range sizes {
		list = append(list, denoiseCase{n, 3})
	}
	if !f.quick {
		list = append(list, denoiseCase{denoiseWideN, denoiseWide})
	}
	return list
}

// rows are points of the unit sphere with noise; beyond three columns, of its
// upper half bent into all of them.
func (c denoiseCase) rows() scqm.Data {
	rng := rand.New(rand.NewPCG(5, uint64(c.n)))
	x := scqm.Data{N: c.n, D: c.D, X: make([]float64, c.n*c.D)}
	for i := range c.n {
		p := [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		norm := math.Sqrt(p[0]*p[0] + p[1]*p[1] + p[2]*p[2])
		row := x.Row(i)
		for j := range row {
			row[j] = p[j%3] / norm
			if c.D > 3 {
				row[j] = math.Cos(float64(j)+p[0]/norm+float64(j%3)*p[1]/norm) / 2
			}
			row[j] += denoiseNoise * rng.NormFloat64()
		}
	}
	return x
}

// timeMethod fits a method with all threads, and denoises random rows with one
// thread and with all.
func (f *benchFlags) timeMethod(ctx context.Context, m denoise.Method, x scqm.Data) (*denoiseMethodReport, error) {
	budget := denoiseTime
	if f.quick {
		budget = denoiseQuick
	}
	begin := time.Now()
	d, err := denoise.Fit(ctx, m, x, denoise.Options{Threads: f.threads})
	if err != nil {
		return nil, err
	}
	r := &denoiseMethodReport{FitSeconds: time.Since(begin).Seconds(), Threads: []int{1}}
	if all := par.Threads(f.threads); all > 1 {
		r.Threads = append(r.Threads, all)
	}
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

func (r *denoiseReport) print(w io.Writer) error {
	head := []string{"METHOD", "NEIGHBOURS", "FIT, SECONDS"}
	for _, t := range r.Methods[0].Threads {
		head = append(head, fmt.Sprintf("ROWS/S, THREADS: %d", t))
	}
	table := [][]string{append(head, "ALL ROWS, SECONDS", "TIMED ON")}
	for _, m := range r.Methods {
		cells := []string{m.Method, fmt.Sprint(m.Neighbors), fmt.Sprintf("%.2g", m.FitSeconds)}
		for _, v := range m.PerSecond {
			cells = append(cells, fmt.Sprintf("%.3g", v))
		}
		all := m.FitSeconds + float64(r.N)/m.PerSecond[len(m.PerSecond)-1]
		table = append(table, append(cells, fmt.Sprintf("%.2g", all), fmt.Sprintf("%d rows", m.Rows)))
	}
	return printTable(w, table)
}
