package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/drill"
)

// The drills of this file run the program, and Python where SCQM_DRILL_PYTHON
// names one that can import scqm, with little memory: whatever is asked, they
// end with a result or with one sentence.

// traces are what a process says that did not end in words.
var traces = regexp.MustCompile(`goroutine |fatal error|runtime:|SIG[A-Z]{3,}|panic|Traceback|Killed`)

// memoryPlace holds the program and tables of several sizes.
type memoryPlace struct {
	place
	program string
	tables  []string // of random numbers
	model   string   // of the first table
}

func newMemoryPlace(t *testing.T, name string) *memoryPlace {
	t.Helper()
	if runtime.GOOS != "linux" {
		drill.Skip(t, name, "limits of memory are read on Linux only")
	}
	program, err := builtProgram()
	if err != nil {
		drill.Skip(t, name, err.Error())
	}
	return &memoryPlace{place: newPlace(t), program: program}
}

// builtProgram is the program as it is released.
var builtProgram = sync.OnceValues(func() (string, error) {
	folder, err := newBuiltFolder()
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "scqm")
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-E=_scqm_entry", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the program cannot be built: %w %s", err, out)
	}
	return path, nil
})

// addTables writes tables of random numbers and a model of the smallest.
func (p *memoryPlace) addTables(shapes ...[2]int) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range shapes {
		m := &dataset.Matrix{Rows: s[0], Cols: s[1], Data: make([]float64, s[0]*s[1])}
		for i := range m.Data {
			m.Data[i] = rng.Float64()
		}
		p.tables = append(p.tables, p.matrix(fmt.Sprintf("%dx%d.npy", s[0], s[1]), m))
	}
	p.model = p.path("model.npz")
	succeed(p.t, "fit", p.tables[0], "--columns", "1-10", "--max-iter", "2", "-o", p.model)
}

// sparse makes a table of so many bytes of zeros that take no room.
func (p *memoryPlace) sparse(name string, bytes int64, columns int) (string, error) {
	rows := int(bytes) / 8 / columns
	var b strings.Builder
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", rows, columns)
	header += strings.Repeat(" ", 127-10-len(header)) + "\n"
	fmt.Fprintf(&b, "\x93NUMPY\x01\x00%c\x00%s", len(header), header)
	path := p.path(name)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return "", err
	}
	return path, os.Truncate(path, int64(b.Len())+8*int64(rows)*int64(columns))
}

// command picks a command line of the program.
func (p *memoryPlace) command(c drill.Case) ([]string, error) {
	table := p.tables[c.IntN(len(p.tables))]
	columns := "1-10"
	out := p.path("out.npy")
	switch c.IntN(8) {
	case 0:
		return []string{"transform", p.model, table, "--columns", columns, "-o", out}, nil
	case 1:
		return []string{"project", p.model, table, "--columns", columns, "-o", out, "--report"}, nil
	case 2: // loads of any size
		path, err := p.sparse("zeros.npy", int64(c.IntN(2500))<<20, 1+c.IntN(1000))
		return []string{"transform", p.model, path, "-o", out}, err
	case 3:
		return []string{"mean", table, "--loss", "squared_l2", "-o", out}, nil
	case 4:
		return []string{"mean", p.path("text.csv"), "--loss", "squared_l2", "-o", out}, nil
	}
	solver := []string{"auto", "alternating", "newton", "lbfgs", "rgd"}[c.IntN(5)]
	loss := []string{"l2", "l1", "squared_l2"}[c.IntN(3)]
	args := []string{"fit", table, "--solver", solver, "--loss", loss, "--max-iter", "2", "--time-limit", "2s", "--progress", "never", "-o", p.path("out.npz")}
	if c.IntN(3) > 0 {
		args = append(args, "--columns", fmt.Sprintf("1-%d", 3+c.IntN(8)))
	}
	return args, nil
}

// try runs a shell command and tells what was wrong with its end.
func try(script string, args ...string) error {
	run := exec.Command("bash", append([]string{"-c", script, "bash"}, args...)...)
	run.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1")
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, &out
	err := run.Run()
	code := run.ProcessState.ExitCode()
	text := out.String()
	outcomes[code]++
	switch {
	case code != 0 && code != 1 && code != 2:
		return fmt.Errorf("%s %q: ended with %v: %.2000s", script, args, err, text)
	case traces.MatchString(text):
		return fmt.Errorf("%s %q: left a trace: %.2000s", script, args, text)
	case code != 0 && strings.Count(text, "\n") != 1:
		return fmt.Errorf("%s %q: not one line: %.2000s", script, args, text)
	case code == 1 && !regexp.MustCompile(`of memory, and .* is left by|needs? to start`).MatchString(text):
		return fmt.Errorf("%s %q: no figures: %.2000s", script, args, text)
	}
	return nil
}

// outcomes counts exit codes, to show that cases of both kinds occur.
var outcomes = map[int]int{}

func (p *memoryPlace) writeText(t *testing.T) {
	f, err := os.Create(p.path("text.csv"))
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(3, 4))
	w := bufio.NewWriterSize(f, 1<<20)
	var line []byte
	for range 1 << 20 {
		line = line[:0]
		for range 9 {
			line = append(strconv.AppendInt(line, int64(rng.IntN(1000)), 10), ',')
		}
		line = append(line, "7\n"...)
		_, err = w.Write(line)
		require.NoError(t, err)
	}
	require.NoError(t, w.Flush())
	require.NoError(t, f.Close())
}

// Under ulimit -v and ulimit -d there is no trace and no abort.
func TestDrillMemoryLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	const name = "memory limits of processes"
	p := newMemoryPlace(t, name)
	p.addTables([2]int{20000, 10})
	if drill.Cases(t, name, 4) > 4 {
		p.addTables([2]int{20000, 10}, [2]int{100000, 10}, [2]int{1000000, 10}, [2]int{10000, 784}, [2]int{500000, 50})
	}
	p.writeText(t)
	drill.Run(t, name, 4, func(c drill.Case) error {
		args, err := p.command(c)
		if err != nil {
			return err
		}
		limit := fmt.Sprintf("ulimit -v %d", (300+c.IntN(41)*2700/40)<<10)
		if c.IntN(5) == 0 {
			limit = fmt.Sprintf("ulimit -d %d", (40+c.IntN(41)*1000/40)<<10)
		}
		return try(limit+`; exec "$@"`, append([]string{p.program}, args...)...)
	})
	t.Logf("exit codes: %v", outcomes)
}

// In a control group with a limit nothing is killed.
func TestDrillMemoryControlGroups(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	const name = "memory limits of control groups"
	g, err := newControlGroup()
	if err != nil {
		drill.Skip(t, name, err.Error())
	}
	defer func() { require.NoError(t, g.remove()) }()
	p := newMemoryPlace(t, name)
	p.addTables([2]int{20000, 10})
	if drill.Cases(t, name, 2) > 2 {
		p.addTables([2]int{20000, 10}, [2]int{100000, 10}, [2]int{1000000, 10}, [2]int{10000, 784}, [2]int{500000, 50})
	}
	p.writeText(t)
	drill.Run(t, name, 2, func(c drill.Case) error {
		args, err := p.command(c)
		if err != nil {
			return err
		}
		if err := g.limit(int64(100+c.IntN(41)*1900/40) << 20); err != nil {
			return err
		}
		before := g.kills()
		err = try(`echo $$ > "$1" && shift && exec "$@"`, append([]string{filepath.Join(g.dir, "cgroup.procs"), p.program}, args...)...)
		if killed := g.kills() - before; killed > 0 {
			err = errors.Join(err, fmt.Errorf("%q: %d killed", args, killed))
		}
		return err
	})
	t.Logf("exit codes: %v", outcomes)
}

// controlGroup is one that the drill has made below that of the test.
type controlGroup struct {
	dir     string
	unified bool
}

func newControlGroup() (*controlGroup, error) {
	membership, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(membership)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		g := &controlGroup{unified: len(parts) == 3 && parts[1] == ""}
		switch {
		case g.unified:
			g.dir = filepath.Join("/sys/fs/cgroup", parts[2])
		case len(parts) == 3 && parts[1] == "memory":
			g.dir = filepath.Join("/sys/fs/cgroup/memory", parts[2])
		default:
			continue
		}
		g.dir = filepath.Join(g.dir, fmt.Sprintf("scqm-drill-%d", os.Getpid()))
		if os.Mkdir(g.dir, 0o755) != nil {
			continue
		}
		if g.limit(1<<30) == nil {
			return g, nil
		}
		_ = g.remove()
	}
	return nil, errors.New("no control group can be made that limits memory")
}

func (g *controlGroup) limit(bytes int64) error {
	file := "memory.limit_in_bytes"
	if g.unified {
		file = "memory.max"
	}
	return os.WriteFile(filepath.Join(g.dir, file), []byte(strconv.FormatInt(bytes, 10)), 0o644)
}

// kills is how many processes of the group were killed for want of memory.
func (g *controlGroup) kills() int {
	file := "memory.oom_control"
	if g.unified {
		file = "memory.events"
	}
	b, _ := os.ReadFile(filepath.Join(g.dir, file))
	for line := range strings.Lines(string(b)) {
		if words := strings.Fields(line); len(words) == 2 && words[0] == "oom_kill" {
			n, _ := strconv.Atoi(words[1])
			return n
		}
	}
	return 0
}

func (g *controlGroup) remove() error { return os.Remove(g.dir) }

// Python lives on after MemoryError, and fits what is smaller.
func TestDrillMemoryPython(t *testing.T) {
	const name = "memory limits of Python"
	python := os.Getenv("SCQM_DRILL_PYTHON")
	if python == "" {
		drill.Skip(t, name, "SCQM_DRILL_PYTHON names no Python that can import scqm")
	}
	script := filepath.Join("testdata", "memory_drill.py")
	drill.Run(t, name, 4, func(c drill.Case) error {
		limit := fmt.Sprintf("ulimit -v %d", (300+c.IntN(41)*2700/40)<<10)
		if c.IntN(5) == 0 {
			limit = fmt.Sprintf("ulimit -d %d", (100+c.IntN(41)*1000/40)<<10)
		}
		run := exec.Command("bash", "-c", limit+`; exec "$@"`, "bash", python, script, strconv.FormatUint(c.Uint64()>>32, 10), t.TempDir())
		run.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1")
		out, err := run.CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if last := lines[len(lines)-1]; err != nil || traces.Match(out) || !strings.HasPrefix(last, "alive") {
			return fmt.Errorf("%s: %v: %.3000s", limit, err, out)
		}
		t.Logf("%s: %s", limit, strings.Join(lines, "; "))
		return nil
	})
}

// Files that are larger than memory, and those that become so, end in words.
// Newton needs all rows in memory; other fits stream, see TestDrillHundredGigabytes.
func TestDrillLargeFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	const name = "files larger than memory"
	if drill.Cases(t, name, 0) == 0 {
		drill.Skip(t, name, "writes gigabytes; give SCQM_DRILL_CASES")
	}
	p := newMemoryPlace(t, name)
	p.addTables([2]int{20000, 10})
	zeros := func(path, packer, head string, gigabytes int) []string {
		return []string{fmt.Sprintf(`{ printf '%s'; head -c %dG /dev/zero; } | %s > %s`, head, gigabytes, packer, path)}
	}
	sparse, err := p.sparse("sparse.npy", 100<<30, 1000)
	require.NoError(t, err)
	cases := []struct {
		name  string
		setup []string
		args  []string
	}{
		{"sparse array of 100 GiB", nil, []string{p.program, "fit", sparse, "--solver", "newton", "--memory", "4G"}},
		{"gzip of 10 GiB", zeros(p.path("x.csv.gz"), "gzip -1", "1,2\\n", 10), []string{p.program, "fit", p.path("x.csv.gz"), "--solver", "newton", "--memory", "4G"}},
		{"gzip of 10 GiB of rows", []string{`yes 0,0,0,0 | head -c 10G | gzip -1 > ` + p.path("y.csv.gz")}, []string{p.program, "fit", p.path("y.csv.gz"), "--solver", "newton", "--memory", "4G"}},
		{"line of 1 GiB", []string{`{ echo 1,2; head -c 1G /dev/zero | tr '\0' 1; } > ` + p.path("line.csv")}, []string{p.program, "fit", p.path("line.csv"), "--solver", "newton", "--memory", "4G"}},
		{"quoted field of 1 GiB", []string{`{ printf '1,2\n3,"'; yes 4,5 | head -c 1G; } > ` + p.path("quote.csv")}, []string{p.program, "fit", p.path("quote.csv"), "--solver", "newton", "--memory", "4G"}},
		{"stream without end", nil, []string{"bash", "-c", `yes 1,2,3 | "$0" mean - --memory 1G`, p.program}},
		{"deflated member of 20 GiB", p.bomb(t), []string{p.program, "fit", p.path("bomb.npz"), "--solver", "newton", "--memory", "4G"}},
	}
	drill.Run(t, name, len(cases), func(c drill.Case) error {
		if c.Index >= len(cases) {
			return nil
		}
		one := cases[c.Index]
		for _, s := range one.setup {
			if err := exec.Command("bash", "-c", s).Run(); err != nil {
				return fmt.Errorf("%s: %w", one.name, err)
			}
		}
		run := exec.Command("bash", append([]string{"-c", `ulimit -v 6000000; exec "$@"`, "bash"}, one.args...)...)
		out, _ := run.CombinedOutput()
		code := run.ProcessState.ExitCode()
		t.Logf("%s: %d: %s", one.name, code, out)
		if code != 1 && code != 2 || traces.Match(out) || bytes.Count(out, []byte("\n")) != 1 {
			return fmt.Errorf("%s: %d: %.2000s", one.name, code, out)
		}
		return nil
	})
}

// bomb writes an archive with a member of zeros, deflated from 20 GiB, by Python.
func (p *memoryPlace) bomb(t *testing.T) []string {
	t.Helper()
	f, err := os.Create(p.path("bomb.py"))
	require.NoError(t, err)
	_, err = io.WriteString(f, `import sys, zipfile
head = "{'descr': '|u1', 'fortran_order': False, 'shape': (20971520, 1024), }"
head += " " * (117 - len(head)) + "\n"
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED, compresslevel=1) as z:
    with z.open("x.npy", "w", force_zip64=True) as m:
        m.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode())
        zeros = bytes(1 << 26)
        for _ in range(320):
            m.write(zeros)
`)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return []string{fmt.Sprintf("python3 %s %s", p.path("bomb.py"), p.path("bomb.npz"))}
}
