//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/drill"
)

// sparse writes the header of a table, and as many zeros as it claims, which take
// no room on the disk.
func (p place) sparse(name string, rows, cols int) string {
	p.t.Helper()
	p.matrix(name, &dataset.Matrix{Rows: 1, Cols: cols, Data: make([]float64, cols)})
	text, err := os.ReadFile(p.path(name))
	require.NoError(p.t, err)
	const header = 128
	shape := fmt.Sprintf("(1, %d), }", cols)
	wide := fmt.Sprintf("(%d, %d), }", rows, cols)
	text = bytes.Replace(text[:header], []byte(shape+strings.Repeat(" ", len(wide)-len(shape))), []byte(wide), 1)
	require.NoError(p.t, os.WriteFile(p.path(name), text, 0o600))
	if err := os.Truncate(p.path(name), header+8*int64(rows)*int64(cols)); err != nil {
		p.t.Skipf("no sparse files here: %v", err)
	}
	return p.path(name)
}

// peak runs the program and returns the most memory that it held, in bytes.
func peak(args ...string) (int64, error) {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%v: %w: %s", args, err, out)
	}
	return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10, nil
}

// However many rows, transform, project and reconstruct hold a few megabytes more
// than for a thousand. The rows take 40 MB, and up to 800.
func TestDrillStreams(t *testing.T) {
	const D, most = 25, 16 << 20
	p := newPlace(t)
	model := p.path("model.npz")
	succeed(t, "fit", p.matrix("part.npy", bowl(300, D)), "-o", model)
	commands := [][]string{
		{"reconstruct", "2", "x.npy"}, {"transform", "25", "x.npy"}, {"project", "25", "x.npz"},
		{"project", "25", "x.csv", "--report"}, {"reconstruct", "2", "x.tsv"},
	}
	drill.Run(t, "streams", 1, func(c drill.Case) error {
		k := commands[c.Index%len(commands)]
		rows := int(2e5 * math.Pow(10, float64(c.Index/len(commands))/10))
		held := map[int]int64{}
		for _, n := range []int{1000, min(rows, 4e6)} {
			cols := D
			if k[1] == "2" {
				cols = 2
			}
			var err error
			args := append([]string{k[0], model, p.sparse("rows.npy", n, cols), "-o", p.path(k[2]), "--progress", "never"}, k[3:]...)
			if held[n], err = peak(args...); err != nil {
				return err
			}
			if err := os.Remove(p.path(k[2])); err != nil {
				return err
			}
		}
		if held[rows] > held[1000]+most {
			return fmt.Errorf("%v of %d rows holds %d bytes, of 1000 rows %d", k, rows, held[rows], held[1000])
		}
		return nil
	})
}

// A hundred gigabytes under a limit of five end in one sentence, or go on until
// they are interrupted.
func TestDrillHundredGigabytes(t *testing.T) {
	p := newPlace(t)
	p.matrix("part.npy", bowl(300, 100))
	succeed(t, "fit", p.path("part.npy"), "-o", p.path("model.npz"), "--max-iter", "2")
	p.sparse("huge.npy", 125e6, 100)
	drill.Run(t, "hundred gigabytes", 1, func(c drill.Case) error {
		line, code, text := `ulimit -v 5242880; exec "$0" fit huge.npy --solver newton`, 1, "huge.npy: values of shape (125000000, 100) take about 93 GiB of memory, and "
		if c.Index%2 == 1 {
			line, code, text = `ulimit -v 5242880; exec timeout -s INT 1 "$0" project model.npz huge.npy -o out.npy`, 124, "interrupted"
		}
		got, stdout, stderr := shell(t, p.dir, line)
		if got != code || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, text) || traces.MatchString(stderr) {
			return fmt.Errorf("%s: %d, %q, %q", line, got, stdout, stderr)
		}
		if names := p.names(); len(names) != 3 {
			return fmt.Errorf("left behind: %v", names)
		}
		return nil
	})
}
