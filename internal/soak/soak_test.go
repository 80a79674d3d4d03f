package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/drill"
)

func newTestBench(t *testing.T) *bench {
	t.Helper()
	return &bench{
		settings: settings{seed: 5, factor: 1, caseNo: -1, jobs: 2}, place: t.TempDir(),
		happened: func(string) {}, interrupted: t.Context(), done: map[string]finished{},
	}
}

// TestDrillsOfNumbersRunSideBySide has two that wait for each other, and one that must have ended before.
func TestDrillsOfNumbersRunSideBySide(t *testing.T) {
	first, second, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	wait := func(mine, other chan struct{}) func(*bench, *outcome) {
		return func(_ *bench, o *outcome) {
			close(mine)
			<-other
			select {
			case <-ended:
				o.tried++
			default:
			}
		}
	}
	done := newTestBench(t).runAll([]drillSpec{
		{name: "first", together: true, whole: wait(first, second)},
		{name: "alone", whole: func(*bench, *outcome) { close(ended) }},
		{name: "second", together: true, whole: wait(second, first)},
	})
	var names []string
	for _, o := range done {
		names = append(names, o.name)
	}
	assert.Equal(t, []string{"first", "alone", "second"}, names)
	assert.Equal(t, []int{1, 1}, []int{done[0].tried, done[2].tried}, "those that began after the one alone had ended")
}

// TestPackageDrillsAreThere looks for the tests that the table of drills names.
func TestPackageDrillsAreThere(t *testing.T) {
	tests := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, d := range packageDrills {
		named := regexp.MustCompile(d.run)
		for _, pkg := range strings.Fields(d.pkg) {
			files, err := filepath.Glob(filepath.Join("..", "..", pkg, "*_test.go"))
			require.NoError(t, err)
			found := d.run == "."
			for _, file := range files {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				for _, m := range tests.FindAllSubmatch(text, -1) {
					found = found || named.Match(m[1])
				}
			}
			assert.True(t, found, "%s: no test of %s matches %s", d.name, pkg, d.run)
		}
	}
}

func TestDrillCountsAndTellsHowToRepeat(t *testing.T) {
	b := newTestBench(t)
	drawn := map[int]uint64{}
	d := drillSpec{name: "odd", what: "odd cases", cases: 6, try: func(c *trial) error {
		drawn[c.index] = c.Uint64()
		c.happened("drew")
		switch c.index {
		case 1, 3:
			return errors.New("odd")
		case 5:
			return skipf("too odd")
		}
		return os.WriteFile(filepath.Join(c.dir, "file"), nil, 0o600)
	}}
	o := d.run(b)
	assert.Equal(t, []int{5, 2, 1}, []int{o.tried, o.failed, o.skipped})
	assert.Equal(t, map[string]uint64{"drew": 6}, o.counts)
	assert.Contains(t, o.failures[1], "case 3: odd")
	assert.Contains(t, o.failures[1], "rerun: go run ./internal/soak -seed 5 -only odd -case 3")
	left, err := os.ReadDir(b.place)
	require.NoError(t, err)
	assert.Empty(t, left, "directories of cases")

	// One case alone draws what it drew among the others.
	all := drawn
	drawn = map[int]uint64{}
	b.caseNo = 3
	alone := d.run(b)
	assert.Equal(t, []int{1, 1, 0}, []int{alone.tried, alone.failed, alone.skipped})
	assert.Equal(t, map[int]uint64{3: all[3]}, drawn)

	var table bytes.Buffer
	printTable(&table, []*outcome{o})
	assert.Regexp(t, `odd +5 +2 +1 `, table.String())
	assert.Contains(t, table.String(), "odd: skipped: too odd")
	assert.Contains(t, table.String(), "odd: 6 drew")
}

func TestDrillThatCannotBeRun(t *testing.T) {
	b := newTestBench(t)
	b.factor = 0.1
	d := drillSpec{name: "none", cases: 40, prepare: func(*bench) (func(), error) { return nil, skipf("no machine") }}
	o := d.run(b)
	assert.Equal(t, 4, o.skipped)
	assert.Equal(t, []string{"no machine"}, o.reasons)
	d.prepare = func(*bench) (func(), error) { return nil, errors.New("broke") }
	assert.True(t, d.run(b).broken)
}

func TestEndings(t *testing.T) {
	good := run{code: 2, stderr: "scqm: fit: no\n"}
	assert.NoError(t, good.check(0, 2))
	for part, r := range map[string]run{
		"exit code 2, want":   good,
		"a trace":             {code: 1, stderr: "panic: runtime error\n\ngoroutine 1 [running]:\n"},
		"without a sentence":  {code: 1, stderr: "Killed\n"},
		"6 lines":             {code: 1, stderr: strings.Repeat("scqm: no\n", 6)},
		"a trace (\"fatal er": {code: 0, stderr: "fatal error: out of memory\n"},
	} {
		assert.ErrorContains(t, r.check(0, 1), part)
	}
	assert.NoError(t, run{code: 130, stderr: "scqm: fit: interrupted\n"}.checkSignalled(syscall.SIGINT))
	assert.NoError(t, run{code: 137, signalled: true}.checkSignalled(syscall.SIGKILL))
	assert.Error(t, run{code: 1, stderr: "scqm: interrupted\n"}.checkSignalled(syscall.SIGINT))
	assert.Error(t, run{code: 130, stderr: "scqm: x\n"}.checkSignalled(syscall.SIGSTOP))
}

func TestHalfAFileIsFound(t *testing.T) {
	c := &trial{bench: newTestBench(t), dir: t.TempDir()}
	k := task{outputs: []string{"out.csv"}}
	want := finished{files: map[string][]byte{"out.csv": []byte("1,2\n3,4\n")}}
	old := map[string][]byte{"out.csv": []byte("old")}
	put := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(c.dir, "out.csv"), []byte(text), 0o600))
	}
	killed := run{code: 137, signalled: true}
	assert.NoError(t, c.judge(k, killed, nil, want), "nothing was there")
	assert.Error(t, c.judge(k, killed, old, want), "the old file is gone")
	put("old")
	assert.NoError(t, c.judge(k, killed, old, want))
	assert.Error(t, c.judge(k, run{}, old, want), "exit code 0 with the old file")
	put("1,2\n3,4\n")
	assert.NoError(t, c.judge(k, killed, old, want))
	put("1,2\n")
	assert.ErrorContains(t, c.judge(k, killed, old, want), "neither the old file nor the new one")
	assert.ErrorContains(t, checkNames(c.dir), "out.csv was left behind")
}

func TestDamageIsBySeed(t *testing.T) {
	sound := []byte(strings.Repeat("0.5,1.5,2.5\n", 9))
	changed := 0
	for i := range 200 {
		one := damage(drill.Stream(1, "files", i), sound, []byte("PK\x03\x04"))
		two := damage(drill.Stream(1, "files", i), sound, []byte("PK\x03\x04"))
		require.Equal(t, one, two)
		if !bytes.Equal(one, sound) {
			changed++
		}
	}
	assert.Greater(t, changed, 150)
	assert.Equal(t, strings.Repeat("0.5,1.5,2.5\n", 9), string(sound), "the sound file stays sound")
}

func TestReportsOfPackagesAreAdded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	require.NoError(t, os.WriteFile(path, []byte("flips\t500\t2\t\nmounts\t0\t0\tonly root\n"), 0o600))
	o := &outcome{counts: map[string]uint64{}}
	assert.True(t, o.addReport(path))
	assert.Equal(t, []int{500, 2, 1}, []int{o.tried, o.failed, o.skipped})
	assert.Equal(t, []string{"mounts: only root"}, o.reasons)
	assert.False(t, o.addReport(path+"-none"))
}

func TestDrillsAreChosenByName(t *testing.T) {
	s := settings{only: "kills, python-*"}
	assert.True(t, s.chooses("kills"))
	assert.True(t, s.chooses("python-files"))
	assert.False(t, s.chooses("files"))
	names := map[string]bool{}
	for _, d := range programDrills() {
		names[d.name] = true
	}
	for _, d := range packageDrills {
		names[d.name] = true
	}
	assert.Len(t, names, len(programDrills())+len(packageDrills), "no name twice")
}
