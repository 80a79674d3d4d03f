package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/drill"
)

// mutantsPerCase go to one run of the judges.
const mutantsPerCase = 250

// TestDrillForeignReaders changes point clouds at random. What is read then is written
// with other points and columns, and testdata/foreign_judge.py compares both files
// value by value as plyfile, laspy and (if it is there) pypcd4 read them: either all of them agree, or
// the file was refused.
func TestDrillForeignReaders(t *testing.T) {
	const name = "changed point clouds"
	python := os.Getenv("SCQM_DRILL_PYTHON")
	if python == "" || exec.Command(python, "-c", "import plyfile, laspy").Run() != nil {
		drill.Skip(t, name, "SCQM_DRILL_PYTHON names no Python that can import plyfile and laspy")
	}
	bases := foreignBases(t)
	drill.Run(t, name, 2, func(c drill.Case) error {
		dir := t.TempDir()
		accepted := 0
		for i := range mutantsPerCase {
			base := bases[c.IntN(len(bases))]
			content, err := os.ReadFile(base)
			require.NoError(t, err)
			in := filepath.Join(dir, strconv.Itoa(i)+".in"+filepath.Ext(base))
			require.NoError(t, os.WriteFile(in, mutant(c, content), 0o600))
			cloud, err := dataset.ReadPointCloud(in, false)
			if err == nil {
				err = rewrite(in, cloud)
			}
			if err == nil {
				accepted++
			} else if os.Remove(in); !errors.Is(err, dataset.ErrInput) {
				return fmt.Errorf("%s, mutant %d: %w", base, i, err)
			}
		}
		out, err := exec.Command(python, filepath.Join("testdata", "foreign_judge.py"), dir).CombinedOutput()
		t.Logf("%d of %d accepted", accepted, mutantsPerCase)
		if err != nil {
			return fmt.Errorf("%w: %.3000s", err, out)
		}
		return nil
	})
}

// foreignBases are files of all formats.
func foreignBases(t *testing.T) []string {
	var bases []string
	for _, name := range []string{"list_first.ply", "crlf_header.ply", "evlr.las", "twice.las", "count_0.pcd", "stored.pcd", "bom.xyz"} {
		bases = append(bases, filepath.Join("testdata", "clouds", name))
		c, err := dataset.ReadPointCloud(bases[len(bases)-1], false)
		require.NoError(t, err)
		out := filepath.Join(t.TempDir(), name)
		more := &dataset.Matrix{Rows: c.Points.Rows, Cols: 2, Names: []string{"nx", "error"}, Data: make([]float64, 2*c.Points.Rows)}
		require.NoError(t, dataset.WritePointCloud(out, c, c.Points, more))
		bases = append(bases, out)
	}
	for name, content := range map[string]string{
		"faces.ply": "ply\nformat ascii 1.0\ncomment faces\nelement camera 1\nproperty list uchar int path\nelement vertex 3\nproperty uchar red\nproperty float y\nproperty float x\nproperty double z\nproperty list uchar int tags\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n2 7 8\n255 2 1 3.5 0\n128 20 10 30 2 5 6\n0 200 100 300 0\n3 0 1 2\n",
		"text.pcd":  "# .PCD v.7 - Point Cloud Data file format\nVERSION .7\nFIELDS x y z rgb label\nSIZE 4 8 4 4 2\nTYPE F F F U I\nCOUNT 1 1 1 1 2\nWIDTH 3\nHEIGHT 1\nVIEWPOINT 1 2 3 1 0 0 0\nPOINTS 3\nDATA ascii\n1 2 3.5 16711680 -1 7\n10 20 30 255 2 -8\n100 200 300 0 3 9\n",
		"comma.xyz": "# scan\n1.5,2,3,255,tree\n4,5.25,6,254,bush\n7,8,9.125,253,\n",
	} {
		bases = append(bases, filepath.Join(t.TempDir(), name))
		require.NoError(t, os.WriteFile(bases[len(bases)-1], []byte(content), 0o600))
	}
	return bases
}

// mutant changes a file in one to three places.
func mutant(c drill.Case, content []byte) []byte {
	out := bytes.Clone(content)
	words := []string{"0", "-1", "255", "256", "nan", "1e39", " ", "\n", "\r\n", "\r", ",", "\x00", "uchar", "double", "x", "list", "0 "}
	for range 1 + c.IntN(3) {
		at := c.IntN(len(out) + 1)
		if c.IntN(2) == 0 { // headers have most to say
			at = c.IntN(min(len(out), 400) + 1)
		}
		n := min(c.IntN(20), len(out)-at)
		switch c.IntN(6) {
		case 0:
			if at < len(out) {
				out[at] ^= 1 << c.IntN(8)
			}
		case 1:
			out = append(out[:at:at], out[at+n:]...)
		case 2:
			out = append(out[:at+n:at+n], out[at:]...)
		case 3:
			out = append(out[:at:at], append([]byte(words[c.IntN(len(words))]), out[at:]...)...)
		case 4:
			if at < len(out) {
				out[at] = "0123456789"[c.IntN(10)]
			}
		case 5:
			out = out[:at+c.IntN(len(out)-at+1)]
		}
	}
	return out
}

// rewrite moves the points of a file by a quarter and numbers them.
func rewrite(in string, c *dataset.PointCloud) error {
	moved := &dataset.Matrix{Rows: c.Points.Rows, Cols: 3, Data: make([]float64, len(c.Points.Data))}
	for i, v := range c.Points.Data {
		moved.Data[i] = v + 0.25
	}
	more := &dataset.Matrix{Rows: moved.Rows, Cols: 2, Names: []string{"residual", "nx"}, Data: make([]float64, 2*moved.Rows)}
	for i := range moved.Rows {
		more.Row(i)[0], more.Row(i)[1] = float64(i), 0.5
	}
	out := in[:len(in)-len(".in.ply")]
	if err := dataset.WritePointCloud(out+".out"+filepath.Ext(in), c, moved, more); err != nil {
		return err
	}
	var odd []int
	for i := 1; i < moved.Rows; i += 2 {
		odd = append(odd, i)
	}
	some, err := c.Only(odd)
	if err != nil || len(odd) == 0 {
		return nil
	}
	return dataset.WritePointCloud(out+".odd"+filepath.Ext(in), some, some.Points, nil)
}
