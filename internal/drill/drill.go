// Package drill runs a test at two sizes: with a few cases in go test, and with many cases
// of another seed in make soak.
//
// A drill is a test of many independent cases. Random numbers of a seed make each case:
//
//	func TestFlippedBits(t *testing.T) {
//		drill.Run(t, "flipped bits of models", 64, func(c drill.Case) error {
//			... c.IntN(8) ...
//		})
//	}
//
// make soak runs the drills listed in internal/soak, sets the variables below, and
// collects the results:
//
//	SCQM_DRILL_CASES   how many cases: 5000, or flips=5000,limits=200 by name, or both
//	SCQM_DRILL_SEED    seed of all cases, 1 unless set
//	SCQM_DRILL_CASE    run only this case, by its number from 0
//	SCQM_DRILL_SHARD   K/M: run only the cases whose number leaves K when divided by M,
//	                   so that M processes run all of them between them
//	SCQM_DRILL_REPORT  file to which a line NAME, tried, failed, skipped is
//	                   appended for each drill, with tabs between
package drill

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Environment variables that scale drills.
const (
	EnvCases  = "SCQM_DRILL_CASES"
	EnvSeed   = "SCQM_DRILL_SEED"
	EnvCase   = "SCQM_DRILL_CASE"
	EnvShard  = "SCQM_DRILL_SHARD"
	EnvReport = "SCQM_DRILL_REPORT"
)

// Case is one case of a drill. Its random numbers depend only on the name, the seed and
// the index, not on earlier cases.
type Case struct {
	Index int // from 0
	*rand.Rand
}

// maxFailures is the largest number of failed cases that are reported individually.
const maxFailures = 10

// Run runs all cases of a drill, even after failures, and reports how many failed. A case
// fails if try returns an error; the log then says how to run this case alone.
func Run(t testing.TB, name string, quick int, try func(Case) error) {
	t.Helper()
	first, last, stride := 0, Cases(t, name, quick), 1
	if text := os.Getenv(EnvCase); text != "" {
		first = number(t, EnvCase, text)
		last = first + 1
	} else if text := os.Getenv(EnvShard); text != "" {
		first, stride = shard(t, text)
	}
	tried, failed := 0, 0
	for i := first; i < last; i += stride {
		tried++
		err := try(Case{i, Rand(t, name, i)})
		if err == nil {
			continue
		}
		if failed++; failed <= maxFailures {
			t.Logf("%s: case %d: %v\nrerun: %s=%d %s=%d go test -count=1 -run '^%s$' <package>", name, i, err, EnvSeed, Seed(t), EnvCase, i, t.Name())
		}
	}
	Report(t, name, tried, failed)
}

// shard parses K/M.
func shard(t testing.TB, text string) (k, m int) {
	t.Helper()
	first, of, _ := strings.Cut(text, "/")
	k, m = number(t, EnvShard, first), number(t, EnvShard, of)
	if k >= m {
		t.Fatalf("%s: %q is not K/M with K below M", EnvShard, text)
	}
	return k, m
}

// Cases returns the number of cases of a drill: quick, unless the environment sets another
// number.
func Cases(t testing.TB, name string, quick int) int {
	t.Helper()
	n := quick
	for entry := range strings.SplitSeq(os.Getenv(EnvCases), ",") {
		key, count, named := strings.Cut(entry, "=")
		switch {
		case entry == "":
		case !named:
			n = number(t, EnvCases, entry)
		case strings.TrimSpace(key) == name:
			return number(t, EnvCases, count)
		}
	}
	return n
}

// Whole reports whether make soak runs the test. Tests of combinations of settings then
// try all, while go test tries a diverse subset. Whole is false under the race detector,
// because all combinations use goroutines in the same way.
func Whole() bool { return os.Getenv(EnvCases) != "" && !Race }

// Seed returns the seed of all cases: that of the environment, or 1.
func Seed(t testing.TB) uint64 {
	t.Helper()
	if text := os.Getenv(EnvSeed); text != "" {
		return uint64(number(t, EnvSeed, text))
	}
	return 1
}

// Rand returns the random numbers of one case.
func Rand(t testing.TB, name string, index int) *rand.Rand {
	t.Helper()
	return Stream(Seed(t), name, index)
}

// Stream returns the random numbers of one case of a drill under a seed.
func Stream(seed uint64, name string, index int) *rand.Rand {
	// FNV-1a keeps drills of one seed apart.
	stream := uint64(14695981039346656037)
	for _, b := range []byte(fmt.Sprintf("%s/%d", name, index)) {
		stream = (stream ^ uint64(b)) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, stream))
}

// Report reports how many cases were tried and how many failed. The test fails if any case
// failed, or if none was tried.
func Report(t testing.TB, name string, tried, failed int) {
	t.Helper()
	t.Logf("%s: %d cases, %d failed", name, tried, failed)
	record(t, name, tried, failed, "")
	if failed > 0 || tried == 0 {
		t.Errorf("%s: %d of %d cases failed with seed %d", name, failed, tried, Seed(t))
	}
}

// Skip ends a drill that cannot run on this machine, with the reason.
func Skip(t testing.TB, name, reason string) {
	t.Helper()
	record(t, name, 0, 0, reason)
	t.Skipf("%s: %s", name, reason)
}

// record appends a line to the report, in one write, so that lines of several processes do
// not mix.
func record(t testing.TB, name string, tried, failed int, skipped string) {
	t.Helper()
	path := os.Getenv(EnvReport)
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatalf("%s: %v", EnvReport, err)
	}
	line := fmt.Sprintf("%s\t%d\t%d\t%s\n", name, tried, failed, strings.Join(strings.Fields(skipped), " "))
	if _, err := f.WriteString(line); err != nil {
		t.Errorf("%s: %v", EnvReport, err)
	}
	if err := f.Close(); err != nil {
		t.Errorf("%s: %v", EnvReport, err)
	}
}

func number(t testing.TB, variable, text string) int {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 31)
	if err != nil {
		t.Fatalf("%s: %q is not a whole number of at least 0", variable, text)
	}
	return int(n)
}
