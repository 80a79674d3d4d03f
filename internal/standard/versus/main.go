//go:build unix

// Command versus solves the problems of package standard and prints a line of JSON for
// each run. With -data it writes their data and starts first, one NPY file per array,
// for the same problems in other languages: see python/benchmarks/versus_pymanopt.py.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/standard"
	"github.com/scqm/scqm/solvers"
)

// result is one line of output.
type result struct {
	Problem   string  `json:"problem"`
	Solver    string  `json:"solver"`
	Tolerance float64 `json:"tolerance"`
	// Cost counts with gradient evaluations and Hessian products as passes.
	Passes     float64 `json:"passes"`
	Hessians   int     `json:"hessians"`
	Iterations int     `json:"iterations"`
	Seconds    float64 `json:"seconds"` // of the processor
	// Gradient is the largest norm of a block's Riemannian gradient at the point
	// returned, computed anew.
	Gradient float64 `json:"gradient"`
	Cost     float64 `json:"cost"`
	Status   string  `json:"status"`
}

func main() {
	data := flag.String("data", "", "write the data of the problems into this folder")
	only := flag.String("only", "", "problems whose names contain one of these words, commas between")
	names := flag.String("solvers", "auto,lbfgs,trust_region,cg", "solvers to run")
	small := flag.Bool("small", false, "take the small sizes")
	tolerances := flag.String("tolerances", "1e-6,1e-8", "gradient norms to reach")
	seed := flag.Uint64("seed", standard.Seed, "draw the data and starts with this seed")
	limit := flag.Duration("limit", time.Minute, "longest time of a run")
	flag.Parse()
	if err := run(*data, *only, *names, *tolerances, *small, *seed, *limit); err != nil {
		fmt.Fprintln(os.Stderr, "versus:", err)
		os.Exit(1)
	}
}

func run(data, only, names, tolerances string, small bool, seed uint64, limit time.Duration) error {
	size := standard.Full
	if small {
		size = standard.Small
	}
	out := json.NewEncoder(os.Stdout)
	for _, name := range standard.Names() {
		if !chosen(name, only) {
			continue
		}
		p := standard.Draw(name, size, seed)
		if data != "" {
			if err := export(filepath.Join(data, strings.ReplaceAll(name, " ", "-")), p); err != nil {
				return err
			}
		}
		for solver := range strings.SplitSeq(names, ",") {
			for text := range strings.SplitSeq(tolerances, ",") {
				tolerance, err := strconv.ParseFloat(text, 64)
				if err != nil || solver == "" {
					continue
				}
				r, err := solve(p, solver, tolerance, limit)
				if err != nil {
					return err
				}
				if err := out.Encode(r); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func chosen(name, only string) bool {
	for word := range strings.SplitSeq(only, ",") {
		if strings.Contains(strings.ToLower(name), strings.ToLower(word)) {
			return true
		}
	}
	return false
}

// export writes the arrays of a problem and its start into a folder.
func export(folder string, p *standard.Problem) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, m := range p.Arrays {
		r, c := m.Dims()
		if err := write(folder, name, m.RawMatrix().Data, r, c); err != nil {
			return err
		}
	}
	for k, b := range p.Blocks() {
		if err := write(folder, "start-"+strconv.Itoa(k), p.Start[k], b.Rows(), b.Manifold.Size()); err != nil {
			return err
		}
	}
	return nil
}

func write(folder, name string, values []float64, r, c int) error {
	f, err := os.Create(filepath.Join(folder, name+".npy"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := dataset.WriteNPY(f, dataset.Array{Shape: []int{r, c}, Data: values}); err != nil {
		return err
	}
	return f.Close()
}

func solve(p *standard.Problem, name string, tolerance float64, limit time.Duration) (result, error) {
	problem := p.Problem()
	var solver framework.Solver
	if name == "auto" {
		solver = solvers.Auto(problem)
	} else {
		var err error
		if solver, err = solvers.ByName(name); err != nil {
			return result{}, err
		}
	}
	before := processor()
	res, err := framework.Solve(context.Background(), problem, p.Start, solver,
		framework.Options{MaxIterations: -1, Tolerance: tolerance, GradientUnit: 1, TimeLimit: limit})
	if err != nil {
		return result{}, fmt.Errorf("%s: %s: %w", p.Name, name, err)
	}
	worst := 0.
	for _, v := range res.Stationarity {
		worst = math.Max(worst, v)
	}
	return result{
		Problem: p.Name, Solver: name, Tolerance: tolerance, Passes: res.Counts.Passes, Hessians: res.Counts.Hessians,
		Iterations: res.Iterations, Seconds: processor() - before, Gradient: worst, Cost: res.Cost, Status: res.Status.String(),
	}, nil
}

// processor is the time that the processor has spent on this process.
func processor() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return math.NaN()
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
