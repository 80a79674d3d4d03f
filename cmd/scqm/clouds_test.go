package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/dataset"
)

// TestFilesOfOthers denoises files that other programs write, or misread.
func TestFilesOfOthers(t *testing.T) {
	for name, want := range map[string]string{
		"more_values.ply":   "more_values.ply: vertex 0: 6 values, expected 3",
		"decimal_comma.xyz": "decimal_comma.xyz:1: a comma beside blanks is a decimal comma",
		"cr_only.xyz":       "lines that end in CR alone",
		"hash_na.csv":       `hash_na.csv:42:1: "#N/A" is no number (missing): fill it in, leave out its row, or ignore what is missing (missing="ignore", --missing ignore)`,
		"thousands.csv":     `thousands.csv:2:1: "9,366.89" is not a number; leave out the separator of thousands`,
	} {
		r := execute("denoise", filepath.Join("testdata", "clouds", name), "-o", filepath.Join(t.TempDir(), "o.npy"))
		assert.Equal(t, 2, r.code, name)
		assert.Contains(t, r.stderr, want)
	}
	for _, name := range []string{"list_first.ply", "crlf_header.ply", "evlr.las", "twice.las", "count_0.pcd", "stored.pcd", "bom.xyz"} {
		p := newPlace(t)
		source := filepath.Join("testdata", "clouds", name)
		first, second := p.path("first"+filepath.Ext(name)), p.path("second"+filepath.Ext(name))
		succeed(t, "denoise", source, "--method", "mls", "--drop-outliers", "--report", "-o", first)
		succeed(t, "denoise", first, "--method", "mls", "--report", "-o", second)
		before, err := dataset.ReadPointCloud(source, false)
		require.NoError(t, err)
		for _, path := range []string{first, second} {
			after, err := dataset.ReadPointCloud(path, false)
			require.NoError(t, err, name)
			assert.InDelta(t, before.Points.Rows, after.Points.Rows, 20)
			assert.InDeltaSlice(t, moments(before.Points), moments(after.Points), 0.2*moments(before.Points)[1], name)
		}
		a, err := os.ReadFile(first)
		require.NoError(t, err)
		b, err := os.ReadFile(second)
		require.NoError(t, err)
		switch filepath.Ext(name) {
		case ".ply":
			header, _, _ := bytes.Cut(b, []byte("end_header"))
			assert.Equal(t, bytes.Count(header, []byte("\n")), bytes.Count(header, []byte(map[bool]string{true: "\r\n", false: "\n"}[name == "crlf_header.ply"])))
			assert.Equal(t, 1, bytes.Count(header, []byte("property double residual")), "columns are replaced")
		case ".pcd":
			assert.Equal(t, 1, strings.Count(string(b), " residual "), "columns are replaced")
			assert.NotContains(t, string(a[:200]), " 0\nWIDTH", "COUNT 0")
		case ".las":
			assert.Len(t, b, len(a), "columns are replaced")
		}
		if name == "list_first.ply" {
			old, err := os.ReadFile(source)
			require.NoError(t, err)
			assert.Equal(t, bytes.Fields(bytes.SplitAfter(old, []byte("end_header\n"))[1])[:2], bytes.Fields(bytes.SplitAfter(b, []byte("end_header\n"))[1])[:2], "the list stays")
		}
	}
}

// moments are the mean and the spread of the coordinates.
func moments(m *dataset.Matrix) []float64 {
	var sum, squares float64
	for _, v := range m.Data {
		sum, squares = sum+v, squares+v*v
	}
	n := float64(len(m.Data))
	return []float64{sum / n, math.Sqrt(squares/n - sum*sum/n/n)}
}

// TestInvalidPixels passes pixels that a depth camera did not see through, and counts
// them.
func TestInvalidPixels(t *testing.T) {
	p := newPlace(t)
	source, out := filepath.Join("testdata", "clouds", "organised_nan.pcd"), p.path("o.pcd")
	var s denoiseSummary
	require.NoError(t, json.Unmarshal([]byte(succeed(t, "denoise", source, "--method", "mls", "--report", "--normals", "-o", out, "--json")), &s))
	assert.Equal(t, []int{80, 2}, []int{s.Rows, s.Unchanged})
	before, err := dataset.ReadPointCloud(source, false)
	require.NoError(t, err)
	after, err := dataset.ReadPointCloud(out, false)
	require.NoError(t, err, "it is organised still")
	for i, v := range before.Points.Data {
		assert.Equal(t, math.IsNaN(v), math.IsNaN(after.Points.Data[i]))
	}
	content, err := os.ReadFile(source)
	require.NoError(t, err)
	line := p.path("line.pcd")
	require.NoError(t, os.WriteFile(line, bytes.Replace(content, []byte("WIDTH 10\nHEIGHT 8"), []byte("WIDTH 80\nHEIGHT 1"), 1), 0o600))
	assert.Contains(t, execute("denoise", line, "-o", out).stderr, `point 78 (counting from 0), x: "NaN" is no number (missing)`)
	succeed(t, "denoise", line, "--missing", "ignore", "--method", "mls", "-o", out)
}
