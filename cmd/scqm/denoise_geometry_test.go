package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/dataset"
)

// torusNormal is the outward normal of the torus at the place nearest to x.
func torusNormal(x []float64) [3]float64 {
	r := math.Hypot(x[0], x[1])
	n := [3]float64{x[0] * (1 - 1/r), x[1] * (1 - 1/r), x[2]}
	size := math.Sqrt(n[0]*n[0] + n[1]*n[1] + n[2]*n[2])
	return [3]float64{n[0] / size, n[1] / size, n[2] / size}
}

// TestDenoiseGeometry wants columns in the order that the documentation says, normals
// that point outwards, and curvatures of the torus.
func TestDenoiseGeometry(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("x.npy", torus(1500, 0.01))
	succeed(t, "denoise", data, "--method", "mls", "--normals", "--curvature", "-o", p.path("c.csv"))
	m := p.read("c.csv")
	require.Equal(t, []string{"x1", "x2", "x3", "nx", "ny", "nz", "curvature", "curvature_1", "curvature_2"}, m.Names)
	var tube float64
	for i := range m.Rows {
		row := m.Row(i)
		n := torusNormal(row)
		assert.Greater(t, n[0]*row[3]+n[1]*row[4]+n[2]*row[5], 0.9, "row %d", i)
		assert.InDelta(t, (row[7]+row[8])/2, row[6], 1e-9)
		tube += row[7] / float64(m.Rows)
	}
	assert.InDelta(t, 1/0.4, tube, 0.25, "one principal curvature is that of the tube")
	succeed(t, "denoise", data, "--method", "mls", "--normals", "--viewpoint", "0,0,50", "-o", p.path("c.csv"))
	m = p.read("c.csv")
	for i := range m.Rows {
		require.Positive(t, -m.Row(i)[0]*m.Row(i)[3]-m.Row(i)[1]*m.Row(i)[4]+(50-m.Row(i)[2])*m.Row(i)[5])
	}
	for _, args := range [][]string{{"-d", "1", "--normals"}, {"--viewpoint", "1,2"}, {"--viewpoint", "here"}, {"--drop-outliers=-1"}} {
		require.Equal(t, 2, execute(append([]string{"denoise", data, "--method", "mls", "-o", p.path("d.csv")}, args...)...).code, args)
	}
}

// plyScan is a PLY file of rows with normals, inwards, and colours; and faces.
func plyScan(m *dataset.Matrix, faces bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ply\nformat ascii 1.0\nelement vertex %d\nproperty float nx\nproperty float ny\nproperty float nz\nproperty double x\nproperty double y\nproperty double z\nproperty uchar red\n", m.Rows)
	if faces {
		b.WriteString("element face 1\nproperty list uchar int vertex_indices\n")
	}
	b.WriteString("end_header\n")
	for i := range m.Rows {
		x := m.Row(i)
		n := torusNormal(x)
		fmt.Fprintf(&b, "%g %g %g %v %v %v %d\n", -n[0], -n[1], -n[2], x[0], x[1], x[2], i%256)
	}
	if faces {
		b.WriteString("3 0 1 2\n")
	}
	return b.String()
}

// TestDenoiseComputesNormalsAnew wants the normals of a file computed anew, on the side
// that they had, and all else as it was.
func TestDenoiseComputesNormalsAnew(t *testing.T) {
	p := newPlace(t)
	noisy := torus(800, 0.01)
	scan := p.file("scan.ply", plyScan(noisy, true))
	succeed(t, "denoise", scan, "--method", "mls", "-o", p.path("clean.ply"))
	before, err := dataset.ReadPointCloud(scan, false)
	require.NoError(t, err)
	after, err := dataset.ReadPointCloud(p.path("clean.ply"), false)
	require.NoError(t, err)
	n, old := after.Normals(), before.Normals()
	require.NotEqual(t, old, n)
	for i := range noisy.Rows {
		true_ := torusNormal(after.Points.Row(i))
		require.Less(t, true_[0]*n[3*i]+true_[1]*n[3*i+1]+true_[2]*n[3*i+2], -0.9, "row %d", i)
	}
	lines := strings.Split(p.text("clean.ply"), "\n")
	assert.Equal(t, strings.Split(plyScan(noisy, true), "\n")[:13], lines[:13], "the header is as it was")
	assert.True(t, strings.HasSuffix(lines[12+255], " 254") || strings.HasSuffix(lines[12+256], " 255"), "colours too")
	require.Equal(t, 2, execute("denoise", scan, "--method", "mls", "--drop-outliers", "-o", p.path("d.ply"), "--neighbors", "20", "--drop-outliers=0.5").code, "faces name vertices")
}

// TestDropOutliers wants the outliers gone from the file, and the number said.
func TestDropOutliers(t *testing.T) {
	p := newPlace(t)
	noisy := torus(800, 0.01)
	for i := 0; i < 800; i += 40 {
		noisy.Data[3*i+2] += 0.3 + float64(i)/800
	}
	for _, name := range []string{"scan.ply", "scan.xyz"} {
		content := plyScan(noisy, false)
		if name == "scan.xyz" {
			content = "# a comment\n" + csv(noisy)
		}
		scan := p.file(name, content)
		var s denoiseSummary
		require.NoError(t, json.Unmarshal([]byte(succeed(t, "denoise", scan, "--method", "mls", "--drop-outliers", "-o", p.path("clean_"+name), "--json")), &s))
		after, err := dataset.ReadPointCloud(p.path("clean_"+name), false)
		require.NoError(t, err)
		assert.Equal(t, 800-s.Dropped, after.Points.Rows)
		assert.InDelta(t, 20, s.Dropped, 3)
		assert.Less(t, offTorus(after.Points), 0.05)
	}
	assert.True(t, strings.HasPrefix(p.text("clean_scan.xyz"), "# a comment\n"))
}

// TestDenoiseNamesFormats wants unknown formats refused with all that are known.
func TestDenoiseNamesFormats(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("x.npy", torus(100, 0.01))
	for _, args := range [][]string{{"scan.obj"}, {data, "--queries", "scan.obj"}, {data, "-o", p.path("c.obj")}} {
		r := execute(append([]string{"denoise", "--method", "lpca"}, args...)...)
		require.Equal(t, 2, r.code)
		for _, name := range []string{".npy", ".csv", ".ply", ".xyz", ".pcd", ".las"} {
			assert.Contains(t, r.stderr, name, args)
		}
	}
	r := execute("denoise", "scan.laz")
	require.Equal(t, 2, r.code)
	assert.Contains(t, r.stderr, "laspy")
}

// TestDenoisePCDAndLAS wants both formats in and out, with normals, columns and fewer
// points.
func TestDenoisePCDAndLAS(t *testing.T) {
	p := newPlace(t)
	noisy := torus(400, 0.01)
	for _, name := range []string{"a.pcd", "a.las", "a.pcd.gz"} {
		require.NoError(t, dataset.WritePointCloud(p.path(name), nil, noisy, nil))
		succeed(t, "denoise", p.path(name), "--method", "mls", "--normals", "--report", "--drop-outliers=4", "-o", p.path("b"+name))
		c, err := dataset.ReadPointCloud(p.path("b"+name), false)
		require.NoError(t, err)
		assert.Less(t, offTorus(c.Points), 0.009, name)
		assert.LessOrEqual(t, c.Points.Rows, 400)
		assert.NotNil(t, c.Normals(), name)
	}
}

// TestDenoiseChoosesTheDimension wants a curve and a surface told apart, and the end of
// the grid said.
func TestDenoiseChoosesTheDimension(t *testing.T) {
	p := newPlace(t)
	var s denoiseSummary
	data := p.matrix("x.npy", torus(300, 0.02))
	require.NoError(t, json.Unmarshal([]byte(succeed(t, "denoise", data, "-d", "auto", "--method", "mls", "--normals", "-o", p.path("c.npy"), "--json")), &s))
	assert.Equal(t, 2, s.Latent)
	assert.Empty(t, s.GridEnd)
	assert.Equal(t, 6, p.read("c.npy").Cols)
	out := succeed(t, "denoise", p.matrix("y.npy", torus(90, 0.3)), "-o", p.path("c.npy"))
	assert.Contains(t, out, "(the largest tried: more may do better)")
}
