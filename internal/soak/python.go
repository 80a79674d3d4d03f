package main

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// scripts try cases in one interpreter, and fit real tables; see there.
//
//go:embed cases.py cluster_fits.py real_tables.py
var scripts embed.FS

// hasPython reports whether a Python interpreter with scqm is installed.
func (b *bench) hasPython() bool {
	return exec.Command(b.python, "-c", "import scqm; scqm.load").Run() == nil
}

// needPython writes the scripts, or returns errSkip if there is no Python with scqm.
func needPython(b *bench) (undo func(), err error) {
	if out, err := exec.Command(b.python, "-c", "import scqm; scqm.load").CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return nil, skipf("%s cannot import scqm (%s); make install-python builds .venv, -python names another", b.python, clip(lines[len(lines)-1]))
	}
	for _, name := range []string{"cases.py", "cluster_fits.py", "real_tables.py"} {
		text, err := scripts.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(b.path(name), text, 0o644); err != nil {
			return nil, err
		}
	}
	return func() {}, nil
}

// tryTables returns a function that fits tables of scikit-learn with default settings. The
// first of several cases runs all of them; options select the tables.
func tryTables(options ...string) func(c *trial) error {
	const together = 10
	return func(c *trial) error {
		if c.index%together != 0 && c.caseNo < 0 {
			return nil
		}
		how := command{program: c.python, env: []string{"PYTHONWARNINGS=ignore", "OPENBLAS_NUM_THREADS=1"}}
		some := []string{c.path("real_tables.py"), "--first", strconv.Itoa(c.index), "--count", strconv.Itoa(min(together, c.last-c.index))}
		r, err := c.run(how, append(some, options...)...)
		if err != nil {
			return err
		}
		return c.countEnds(r)
	}
}

// needDask is needPython for drills on clusters.
func needDask(b *bench) (undo func(), err error) {
	if exec.Command(b.python, "-c", "import distributed").Run() != nil {
		return nil, skipf("%s has no distributed", b.python)
	}
	return needPython(b)
}

// tryCluster fits on a Dask cluster whose workers and scheduler may be killed.
func tryCluster(c *trial) error {
	// Dask logs every death that it sees with a trace, which is what the drill is about.
	how := command{program: c.python, env: []string{"OMP_NUM_THREADS=1", "DASK_LOGGING__DISTRIBUTED=critical"}}
	r, err := c.run(how, c.path("cluster_fits.py"), "--first", strconv.Itoa(c.index), "--count", "1")
	if err != nil {
		return err
	}
	return c.countEnds(r)
}

// pythonCases returns a function that runs several cases in one interpreter, whose start
// takes a second. The first of these cases runs all of them.
func pythonCases(mode string, together int) func(c *trial) error {
	return func(c *trial) error {
		if c.index%together != 0 && c.caseNo < 0 {
			return nil // tried with an earlier one
		}
		count := min(together, c.last-c.index)
		r, err := c.runPython(command{}, mode, strconv.FormatUint(c.seed, 10), strconv.Itoa(c.index), strconv.Itoa(count), c.place)
		if err != nil {
			return err
		}
		return c.countEnds(r)
	}
}

// countEnds adds the numbers of events that a script prints.
func (c *trial) countEnds(r run) error {
	if err := r.check(0); err != nil {
		return fmt.Errorf("%w\n%s", err, clip(r.stdout))
	}
	if !strings.HasSuffix(r.stdout, "alive\n") {
		return fmt.Errorf("the interpreter did not get to its end:\n%s", clip(r.stdout))
	}
	for line := range strings.Lines(r.stdout) {
		if what, ok := strings.CutPrefix(strings.TrimSpace(line), "happened: "); ok {
			c.happened(what)
		}
	}
	return nil
}

func (c *trial) runPython(how command, args ...string) (run, error) {
	how.program = c.python
	how.env = append(how.env, "PYTHONWARNINGS=ignore", "OPENBLAS_NUM_THREADS=1")
	return c.run(how, append([]string{c.path("cases.py")}, args...)...)
}

// tryPythonKill interrupts a fit in Python, or kills the process while it saves.
func tryPythonKill(c *trial) error {
	if c.IntN(2) == 0 {
		return pythonCases("interrupts", 1)(c)
	}
	moment := time.Duration(c.IntN(400)) * time.Millisecond
	ready := filepath.Join(c.dir, "ready")
	kill := func(p *os.Process) error {
		for began := time.Now(); time.Since(began) < hangs; time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat(ready); err == nil {
				break
			}
		}
		return disturb(p, syscall.SIGKILL, moment)
	}
	if _, err := c.runPython(command{disturb: kill}, "saves", c.path(largeNPZ)); err != nil {
		return err
	}
	if err := readable(filepath.Join(c.dir, "saved.npz")); err != nil && !os.IsNotExist(err) {
		if _, gone := os.Stat(filepath.Join(c.dir, "saved.npz")); gone == nil {
			return err
		}
	}
	// The next save clears what the killed one left.
	r, err := c.runPython(command{}, "save", c.path(largeNPZ))
	if err == nil {
		err = r.check(0)
	}
	if err != nil {
		return err
	}
	return checkNames(c.dir, "saved.npz", "ready")
}
