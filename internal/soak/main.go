// Command soak drills the program scqm: it feeds it damaged files, kills it at
// random moments, fills its disk and takes its memory away, thousands of times,
// and prints a table of what was tried and what failed.
//
//	go run ./internal/soak                        all drills
//	go run ./internal/soak -factor 0.1            a tenth of the cases
//	go run ./internal/soak -only kills -case 17   one case of one drill
//	go run ./internal/soak -jobs 4                drills of numbers four at a time
//	go run ./internal/soak -list                  the drills there are
//
// A case is made by the seed, the name of its drill and its number, so that it
// can be run again alone. What fails depends on no clock but one: a command that
// has not ended after ten minutes hangs.
//
// Besides its own drills (files, kills, disks, ...), which run the program as
// users do, it runs the drills that packages have as tests, see internal/drill,
// and every fuzz target. Of the drills of packages those that look at no clock, limit
// or process, which are of numbers, run side by side, after the others.
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

// settings are the flags.
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
	flag.StringVar(&s.fuzzTime, "fuzztime", "20s", "time for each fuzz target, to be multiplied by -factor, or a number of inputs such as 100000x")
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

// drill runs drills and prints the table: those of numbers side by side, after the others.
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

// runAll runs drills, those of numbers side by side after the others, until it is interrupted, and
// returns what came of them, in their order.
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
