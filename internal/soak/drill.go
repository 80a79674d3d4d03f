package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/scqm/scqm/internal/drill"
)

// drillSpec is a drill: either single cases, or tests of packages that count their own
// cases.
type drillSpec struct {
	name, what string
	cases      int // number of cases at factor 1
	// prepare makes what all cases need; it may be nil. undo is called at the end. errSkip
	// means that this machine cannot run the drill.
	prepare func(b *bench) (undo func(), err error)
	try     func(c *trial) error
	whole   func(b *bench, o *outcome)
	// together says that the drill may run beside others, because it depends on no clock, limit or process.
	together bool
}

// errSkip marks what this machine cannot run; the text gives the reason.
var errSkip = errors.New("skipped")

func skipf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errSkip, fmt.Sprintf(format, args...))
}

// trial is one case, with its random numbers and its directory.
type trial struct {
	*bench
	*rand.Rand
	index int
	last  int // the drill ends before the case of this index
	dir   string
	said  []string // command lines so far, for the report of a failure
}

// outcome is the result of a drill, a line of the table.
type outcome struct {
	name                   string
	tried, failed, skipped int
	took                   time.Duration
	broken                 bool              // the drill itself could not be run
	reasons                []string          // why cases were skipped, each reason once
	failures               []string          // a paragraph for each failure
	counts                 map[string]uint64 // numbers of events, which show that the drill is effective
}

// maxFailures is the largest number of failures that are reported individually.
const maxFailures = 5

func (d drillSpec) run(b *bench) *outcome {
	o := &outcome{name: d.name, counts: map[string]uint64{}}
	began := time.Now()
	defer func() { o.took = time.Since(began) }()
	if d.whole != nil {
		d.whole(b, o)
		return o
	}
	first, last := 0, int(math.Ceil(float64(d.cases)*b.factor))
	if b.caseNo >= 0 {
		first, last = b.caseNo, b.caseNo+1
	}
	if d.prepare != nil {
		undo, err := d.prepare(b)
		if errors.Is(err, errSkip) {
			o.skip(last-first, err)
			return o
		}
		if err != nil {
			o.breakOff(err)
			return o
		}
		defer undo()
	}
	for i := first; i < last && b.interrupted.Err() == nil; i++ {
		d.runCase(b, o, i, last)
	}
	return o
}

func (d drillSpec) runCase(b *bench, o *outcome, i, last int) {
	c := &trial{bench: b, Rand: drill.Stream(b.seed, d.name, i), index: i, last: last, dir: filepath.Join(b.place, fmt.Sprintf("case-%d", i))}
	if err := os.Mkdir(c.dir, 0o755); err != nil {
		o.breakOff(err)
		return
	}
	defer os.RemoveAll(c.dir)
	b.happened = func(what string) { o.counts[what]++ }
	err := d.try(c)
	if errors.Is(err, errSkip) {
		o.skip(1, err)
		return
	}
	o.tried++
	if err == nil {
		return
	}
	rerun := fmt.Sprintf("go run ./internal/soak -seed %d -only %s -case %d", b.seed, d.name, i)
	o.fail(fmt.Sprintf("case %d: %v\n%srerun: %s", i, err, strings.Join(c.said, ""), rerun))
}

func (o *outcome) fail(text string) {
	o.failed++
	if len(o.failures) < maxFailures {
		o.failures = append(o.failures, text)
	}
}

func (o *outcome) breakOff(err error) {
	o.broken = true
	o.failures = append(o.failures, "cannot be run: "+err.Error())
}

func (o *outcome) skip(n int, err error) {
	o.skipped += n
	reason := strings.TrimPrefix(err.Error(), errSkip.Error()+": ")
	if !slices.Contains(o.reasons, reason) {
		o.reasons = append(o.reasons, reason)
	}
}

// print prints the failures and events of a drill.
func (o *outcome) print(w io.Writer) {
	for _, f := range o.failures {
		fmt.Fprintf(w, "  FAILED %s: %s\n", o.name, strings.ReplaceAll(strings.TrimRight(f, "\n"), "\n", "\n    "))
	}
	if more := o.failed - len(o.failures); more > 0 {
		fmt.Fprintf(w, "  and %d more\n", more)
	}
}

// printTable prints a line for every drill, and the reasons for skipping.
func printTable(w io.Writer, done []*outcome) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\nDRILL\tTRIED\tFAILED\tSKIPPED\tSECONDS\t\n")
	all := outcome{}
	for _, o := range done {
		note := ""
		if o.broken {
			note = "  COULD NOT BE RUN"
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.1f\t%s\n", o.name, o.tried, o.failed, o.skipped, o.took.Seconds(), note)
		all.tried, all.failed, all.skipped, all.took = all.tried+o.tried, all.failed+o.failed, all.skipped+o.skipped, all.took+o.took
	}
	fmt.Fprintf(t, "all\t%d\t%d\t%d\t%.1f\t\n", all.tried, all.failed, all.skipped, all.took.Seconds())
	t.Flush()
	for _, o := range done {
		var counts []string
		for what, n := range o.counts {
			counts = append(counts, fmt.Sprintf("%d %s", n, what))
		}
		slices.Sort(counts)
		if len(counts) > 0 {
			fmt.Fprintf(w, "%s: %s\n", o.name, strings.Join(counts, ", "))
		}
		for _, reason := range o.reasons {
			fmt.Fprintf(w, "%s: skipped: %s\n", o.name, reason)
		}
	}
}
