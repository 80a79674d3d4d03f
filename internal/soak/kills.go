package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/scqm/scqm/models/scqm"
)

// task is a command that writes the same bytes in every complete run. In its words L stands for many
// rows, S for few, M for a model of these, T for coordinates, P for a plugin.
type task struct {
	command string
	outputs []string
	// keeps says that an interrupted run writes the best model so far.
	keeps bool
	// checkpoint is the file from which an interrupted command resumes.
	checkpoint string
}

var tasks = []task{
	{"fit L -o out.npz --max-iter 40 --solver alternating", []string{"out.npz"}, true, ""},
	{"fit L -o out.npz --loss l1 --max-iter 15", []string{"out.npz"}, true, ""},
	{"fit L -o out.npz --max-iter 30 --solver lbfgs --checkpoint fit.state --checkpoint-every 1ms", []string{"out.npz"}, true, "fit.state"},
	{"fit L -o out.npz --max-iter 8 --plugin P", []string{"out.npz"}, true, ""},
	{"transform M L -o out.npy", []string{"out.npy"}, false, ""},
	{"transform M L -o out.csv", []string{"out.csv"}, false, ""},
	{"project M L --report -o out.npz", []string{"out.npz"}, false, ""},
	{"reconstruct M T -o out.tsv", []string{"out.tsv"}, false, ""},
	{"denoise L -o out.csv --method lpca", []string{"out.csv"}, false, ""},
	{"denoise S -o out.npy --method scqm --neighbors 20", []string{"out.npy"}, false, ""},
	{"mean L -o out.csv --influence rows.csv", []string{"out.csv", "rows.csv"}, false, ""},
	{"influence M L -o out.csv", []string{"out.csv"}, false, ""},
	{"suggest S --max-latent 2 -o out.csv", []string{"out.csv"}, false, ""},
	{"experiment toy --quick -o results", []string{"results/toy.csv", "results/toy.md", "results/params.json", "results/toy-long.png"}, false, ""},
}

// finished is the result and the duration of an undisturbed task.
type finished struct {
	files map[string][]byte
	took  time.Duration
}

// line returns the command line of a task.
func (b *bench) line(k task, more ...string) []string {
	words := strings.Fields(k.command)
	for i, w := range words {
		switch w {
		case "L":
			words[i] = b.path(largeNPY)
		case "S":
			words[i] = b.path("rows.npy")
		case "M":
			words[i] = b.path(largeNPZ)
		case "B":
			words[i] = b.path(bulkNPY)
		case "T":
			words[i] = b.path(tauNPY)
		case "P":
			words[i] = b.path("scqm-loss-tukey")
		}
	}
	return append(words, more...)
}

// finish runs a task without disturbance, once per bench.
func (c *trial) finish(k task) (finished, error) {
	if f, ok := c.done[k.command]; ok {
		return f, nil
	}
	alone := &trial{bench: c.bench, Rand: c.Rand, dir: filepath.Join(c.dir, "alone")}
	if err := os.Mkdir(alone.dir, 0o755); err != nil {
		return finished{}, err
	}
	defer os.RemoveAll(alone.dir)
	began := time.Now()
	r, err := alone.scqmRun(c.line(k)...)
	f := finished{took: time.Since(began), files: map[string][]byte{}}
	if err == nil {
		err = r.check(0)
	}
	for _, name := range k.outputs {
		if err == nil {
			f.files[name], err = os.ReadFile(filepath.Join(alone.dir, name))
		}
	}
	if err != nil {
		return f, fmt.Errorf("undisturbed, %s: %w", k.command, err)
	}
	c.done[k.command] = f
	return f, nil
}

// tryKill sends a signal to a command at a random time. Its output must then be the
// complete old or new file, and the next run must be unaffected.
func tryKill(c *trial) error {
	k := tasks[c.IntN(len(tasks))]
	want, err := c.finish(k)
	if err != nil {
		return err
	}
	old := map[string][]byte{}
	if c.IntN(2) == 0 {
		if old, err = c.putOld(k); err != nil {
			return err
		}
	}
	signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM, syscall.SIGSTOP}[c.IntN(4)]
	moment := time.Duration(c.Float64() * 1.1 * float64(want.took))
	r, err := c.run(command{disturb: func(p *os.Process) error { return disturb(p, signal, moment) }}, c.line(k)...)
	if err != nil {
		return err
	}
	c.said = append(c.said, fmt.Sprintf("with %s after %v: exit code %d %s\n", signal, moment, r.code, firstLine(r.stderr)))
	if err := r.checkSignalled(signal); err != nil {
		return err
	}
	c.happened(fmt.Sprintf("ended with %d", r.code))
	if err := c.judge(k, r, old, want); err != nil {
		return err
	}
	return c.again(k, want)
}

// putOld writes files that the task is to replace.
func (c *trial) putOld(k task) (map[string][]byte, error) {
	old := map[string][]byte{}
	for _, name := range k.outputs {
		path := filepath.Join(c.dir, name)
		old[name] = []byte("what was in " + name + " before")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, old[name], 0o644); err != nil {
			return nil, err
		}
	}
	return old, nil
}

// disturb sends a signal to a process after a delay. It resumes a stopped process a little later.
func disturb(p *os.Process, signal syscall.Signal, moment time.Duration) error {
	time.Sleep(moment)
	err := p.Signal(signal)
	if signal == syscall.SIGSTOP && err == nil {
		time.Sleep(30 * time.Millisecond)
		err = p.Signal(syscall.SIGCONT)
	}
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	return err
}

// checkSignalled checks the exit code after a signal. After SIGKILL the process may be killed, after
// SIGSTOP it must succeed, and after any other signal it must succeed or exit with 128 + n.
func (r run) checkSignalled(signal syscall.Signal) error {
	switch signal {
	case syscall.SIGSTOP:
		return r.check(0)
	case syscall.SIGKILL:
		if r.signalled {
			return nil
		}
		return r.check(0)
	}
	return r.check(0, 128+int(signal))
}

// judge compares the files with the earlier and the expected ones.
func (c *trial) judge(k task, r run, old map[string][]byte, want finished) error {
	for _, name := range k.outputs {
		got, err := os.ReadFile(filepath.Join(c.dir, name))
		before, had := old[name]
		switch {
		case err == nil && bytes.Equal(got, want.files[name]):
			continue
		case r.code == 0:
			return fmt.Errorf("exit code 0, and %s is not what it should be (%v)", name, err)
		case errors.Is(err, fs.ErrNotExist) && !had, err == nil && had && bytes.Equal(got, before):
			continue
		case err != nil:
			return fmt.Errorf("%s, which was there before: %w", name, err)
		}
		if _, err := scqm.Load(filepath.Join(c.dir, name)); !k.keeps || err != nil || r.signalled {
			return fmt.Errorf("%s is neither the old file nor the new one (%d bytes, %w)", name, len(got), err)
		}
		c.happened("saved the best so far")
	}
	return nil
}

// again runs the command undisturbed in the same directory, and checks its files.
func (c *trial) again(k task, want finished) error {
	args := c.line(k)
	if k.checkpoint != "" {
		args = append(args, "--resume")
		if _, err := os.Stat(filepath.Join(c.dir, k.checkpoint)); err == nil {
			c.happened("resumed")
		}
	}
	r, err := c.scqmRun(args...)
	if err == nil {
		err = r.check(0)
	}
	if err != nil {
		return fmt.Errorf("the next run: %w", err)
	}
	if err := c.judge(k, r, nil, want); err != nil {
		return fmt.Errorf("after the next run: %w", err)
	}
	names := append(slices.Clone(k.outputs), k.checkpoint, k.checkpoint+".lock", "results")
	if err := checkNames(c.dir, names...); err != nil {
		return fmt.Errorf("after the next run: %w", err)
	}
	if results := filepath.Join(c.dir, "results"); slices.Contains(k.outputs, "results/toy.csv") {
		return checkNames(results, "toy.csv", "toy.md", "params.json", "toy-long.png", "toy.png")
	}
	return nil
}
