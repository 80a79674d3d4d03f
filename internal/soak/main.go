// Command soak tests the program scqm under faults, thousands of times: damaged files,
// kills at random times, full disks and too little memory. It prints a table of the
// numbers of cases and failures.
//
//	go run ./internal/soak                        all drills
//	go run ./internal/soak -factor 0.1            a tenth of the cases
//	go run ./internal/soak -only kills -case 17   one case of one drill
//	go run ./internal/soak -jobs 4                drills of numbers four at a time
//	go run ./internal/soak -list                  the drills there are
//
// The seed, the name of the drill and the number of a case determine it, so that it can be
// run again alone. Results depend on the clock only in that a command counts as hanging
// after ten minutes.
//
// Its own drills (files, kills, disks, ...) run the program as users do. It also runs
// every fuzz target and the drills that are tests of packages, see internal/drill. Of
// these, drills that depend on no clock, limit or process run concurrently, after all
// other drills.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/scqm/scqm/internal/par"
)

// settings are the command line flags.
type settings struct {
	seed     uint64
	factor   float64
	only     string
	caseNo   int
	list     bool
	python   string
	fuzzTime string
	jobs     int
}

func main() {
	var s settings
	flag.Uint64Var(&s.seed, "seed", 1, "seed of all cases")
	flag.Float64Var(&s.factor, "factor", 1, "how many cases, as a multiple of the usual number")
	flag.StringVar(&s.only, "only", "", "run only these drills, separated by commas; a name ending in * is a beginning")
	flag.IntVar(&s.caseNo, "case", -1, "run only this case, by its number from 0")
	flag.BoolVar(&s.list, "list", false, "list the drills and run none")
	flag.StringVar(&s.python, "python", "", "interpreter that has scqm (default .venv/bin/python; without it the drills of Python are skipped)")
	flag.StringVar(&s.fuzzTime, "fuzztime", "10s", "time for each fuzz target, to be multiplied by -factor, or a number of inputs such as 100000x")
	flag.IntVar(&s.jobs, "jobs", runtime.NumCPU(), "how many drills of numbers run side by side")
	flag.Parse()
	failed, err := s.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

func (s *settings) run() (failed bool, err error) {
	if flag.NArg() > 0 || !(s.factor > 0) || s.jobs < 1 {
		return false, fmt.Errorf("want flags, with a factor above 0 and at least one job; see -help")
	}
	all := programDrills()
	for _, d := range packageDrills {
		all = append(all, d.spec())
	}
	fuzzed, err := fuzzDrills()
	if err != nil {
		return false, err
	}
	all = append(all, fuzzed...)
	var chosen []drillSpec
	for _, d := range all {
		if s.chooses(d.name) {
			chosen = append(chosen, d)
		}
	}
	if len(chosen) == 0 {
		return false, fmt.Errorf("no drill is called %s; -list tells which there are", s.only)
	}
	if s.list {
		for _, d := range chosen {
			fmt.Fprintf(os.Stdout, "%-28s %s\n", d.name, d.what)
		}
		return false, nil
	}
	return s.drill(chosen)
}

func (s *settings) chooses(name string) bool {
	if s.only == "" {
		return true
	}
	for pattern := range strings.SplitSeq(s.only, ",") {
		start, open := strings.CutSuffix(strings.TrimSpace(pattern), "*")
		if name == start || open && strings.HasPrefix(name, start) {
			return true
		}
	}
	return false
}

// drill runs the chosen drills and prints the table.
func (s *settings) drill(chosen []drillSpec) (failed bool, err error) {
	place, err := os.MkdirTemp("", "scqm-soak-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(place)
	// Programs are started with the signals that this one has a handler for as
	// they should be, even where a shell ignores them for what it runs beside
	// itself.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b, err := newBench(ctx, *s, place)
	if err != nil {
		return false, err
	}
	done := b.runAll(chosen)
	for _, o := range done {
		failed = failed || o.failed > 0 || o.broken
	}
	printTable(os.Stdout, done)
	if ctx.Err() != nil {
		return failed, errors.New("interrupted; the table has what was tried until then")
	}
	return failed, nil
}

// runAll runs drills until it is interrupted, and returns their results in the same order.
// Drills with together set run concurrently, after the others.
func (b *bench) runAll(chosen []drillSpec) []*outcome {
	outcomes := make([]*outcome, len(chosen))
	var printing sync.Mutex
	run := func(k int) {
		if b.interrupted.Err() != nil {
			return
		}
		printing.Lock()
		fmt.Fprintf(os.Stdout, "drill %s: %s\n", chosen[k].name, chosen[k].what)
		printing.Unlock()
		outcomes[k] = chosen[k].run(b)
		printing.Lock()
		outcomes[k].print(os.Stdout)
		printing.Unlock()
	}
	var together []int
	for k, d := range chosen {
		if d.together {
			together = append(together, k)
		} else {
			run(k)
		}
	}
	par.Do(b.jobs, len(together), func(_, i int) { run(together[i]) })
	return slices.DeleteFunc(outcomes, func(o *outcome) bool { return o == nil })
}
