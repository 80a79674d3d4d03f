package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scqm/scqm/internal/drill"
)

// goDrill is a drill that is a test of a package.
type goDrill struct {
	name, pkg, run string // pkg may be several packages, separated by spaces
	cases          int
	env            string
	flags          []string // additional flags of go test
	alone          bool     // depends on clocks, limits or processes
}

// packageHangs is the time after which the drills of a package count as hanging, at the
// usual number of cases and with all processors busy.
const packageHangs = 3 * time.Hour

func (d goDrill) spec() drillSpec {
	return drillSpec{name: d.name, what: fmt.Sprintf("go test %s -run '%s'", d.pkg, d.run), whole: d.whole, together: !d.alone}
}

// whole runs the tests and adds up the cases that internal/drill reports, or the tests
// themselves if there is no report.
func (d goDrill) whole(b *bench, o *outcome) {
	cases := max(1, int(math.Ceil(float64(d.cases)*b.factor)))
	report := b.path("report-" + d.name)
	env := []string{drill.EnvReport + "=" + report, fmt.Sprintf("%s=%d", drill.EnvSeed, b.seed)}
	if b.hasPython() {
		env = append(env, "SCQM_DRILL_PYTHON="+b.python)
	}
	if d.env != "" {
		env = append(env, fmt.Sprintf(d.env, cases))
	} else {
		env = append(env, fmt.Sprintf("%s=%d", drill.EnvCases, cases))
	}
	most := time.Duration(max(1, b.factor) * float64(packageHangs))
	flags := slices.Concat([]string{"-count=1", "-timeout", most.String()}, d.flags)
	out, err := b.runGo(most, env, slices.Concat([]string{"test", "-v"}, flags, []string{"-run", d.run}, strings.Fields(d.pkg)))
	rerun := strings.Join(slices.Concat(env[1:], []string{"go", "test"}, flags, []string{"-run", "'" + d.run + "'", d.pkg}), " ")
	if b.interrupted.Err() != nil {
		o.skip(1, skipf("interrupted"))
		return
	}
	reported := o.addReport(report)
	for _, m := range testEnd.FindAllStringSubmatch(out, -1) {
		switch {
		case reported && m[1] != "SKIP":
		case m[1] == "SKIP":
			if !reported {
				o.skip(1, skipf("%s: %s", m[2], "see go test -v"))
			}
		default:
			o.tried++
			if m[1] == "FAIL" {
				o.failed++
			}
		}
	}
	if err != nil {
		o.failed = max(o.failed, 1)
		o.failures = append(o.failures, fmt.Sprintf("%v\n%s\nrerun: %s", err, failedPart(out), rerun))
	} else if o.tried+o.skipped == 0 {
		o.breakOff(fmt.Errorf("no test matches: %s", rerun))
	}
}

// testEnd matches the results of tests, not of subtests.
var testEnd = regexp.MustCompile(`(?m)^--- (PASS|FAIL|SKIP): (\S+)`)

func (b *bench) runGo(most time.Duration, env, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(b.interrupted, most+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = time.Minute
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// addReport adds the lines of a report of internal/drill. It returns false if there are none.
func (o *outcome) addReport(path string) bool {
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 4 {
			continue
		}
		tried, _ := strconv.Atoi(fields[1])
		failed, _ := strconv.Atoi(fields[2])
		o.tried, o.failed = o.tried+tried, o.failed+failed
		if fields[3] != "" {
			o.skip(1, skipf("%s: %s", fields[0], fields[3]))
		}
		o.counts[fields[0]] += uint64(tried)
	}
	return len(text) > 0
}

// failedPart returns the part of the output of go test about failures.
func failedPart(out string) string {
	lines := strings.Split(out, "\n")
	first := slices.IndexFunc(lines, func(l string) bool {
		return strings.Contains(l, "rerun: ") || strings.Contains(l, "Error Trace") || strings.HasPrefix(strings.TrimSpace(l), "--- FAIL") || strings.HasPrefix(l, "panic:")
	})
	if first < 0 {
		first = max(0, len(lines)-30)
	}
	return clip(strings.Join(lines[max(0, first-3):min(len(lines), first+40)], "\n"))
}

// fuzzDrills returns a drill for every fuzz target of the module.
func fuzzDrills() ([]drillSpec, error) {
	var drills []drillSpec
	target := regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && file != "." && strings.HasPrefix(entry.Name(), ".") {
			return cmpSkip(err)
		}
		if entry.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, m := range target.FindAllSubmatch(text, -1) {
			drills = append(drills, fuzzDrill("./"+filepath.ToSlash(filepath.Dir(file)), string(m[1])))
		}
		return nil
	})
	return drills, err
}

func cmpSkip(err error) error {
	if err != nil {
		return err
	}
	return fs.SkipDir
}

// fuzzing returns the time, or the number of inputs, for each fuzz target.
func (s settings) fuzzing() string {
	d, err := time.ParseDuration(s.fuzzTime)
	if err != nil {
		return s.fuzzTime
	}
	return time.Duration(float64(d) * s.factor).Round(time.Millisecond).String()
}

// executed matches the number of inputs in the output of go test -fuzz.
var executed = regexp.MustCompile(`execs: (\d+)`)

func fuzzDrill(pkg, target string) drillSpec {
	whole := func(b *bench, o *outcome) {
		args := []string{"test", "-run", "^$", "-fuzz", "^" + target + "$", "-fuzztime", b.fuzzing(), "-fuzzminimizetime", "10x", pkg}
		out, err := b.runGo(packageHangs, nil, args)
		if all := executed.FindAllStringSubmatch(out, -1); all != nil {
			o.tried, _ = strconv.Atoi(all[len(all)-1][1])
		}
		// A target that finds nothing can still fail at its deadline
		// (golang/go#75804, fixed in Go 1.27).
		found := strings.Contains(out, "Failing input") || strings.Contains(out, "panic") || !strings.Contains(out, "context deadline exceeded")
		if err != nil && found && b.interrupted.Err() == nil {
			o.fail(clip(out) + "\nrerun: go " + strings.Join(args, " "))
		}
	}
	return drillSpec{name: "fuzz-" + path.Base(pkg) + "-" + strings.TrimPrefix(target, "Fuzz"), what: "go test -fuzz " + target + " " + pkg, whole: whole}
}
