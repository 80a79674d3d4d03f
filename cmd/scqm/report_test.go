package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A page needs no network, escapes what comes from files, and takes the place of an
// older one.
func TestReport(t *testing.T) {
	folder := t.TempDir()
	data, model, page := filepath.Join(folder, "x.csv"), filepath.Join(folder, "m.npz"), filepath.Join(folder, "r.html")
	const evil = "</script><script>alert(1)</script>"
	var csv strings.Builder
	fmt.Fprintf(&csv, "a,%s,c & d,e\n", evil)
	for i := range 60 {
		s := float64(i)/30 - 1
		fmt.Fprintf(&csv, "%v,%v,%v,%v\n", s, s*s+0.05*math.Sin(float64(7*i)), 0.05*math.Cos(float64(5*i)), 0.05*math.Sin(float64(3*i)))
	}
	require.NoError(t, os.WriteFile(data, []byte(csv.String()), 0o600))
	require.NoError(t, os.WriteFile(page, []byte("older"), 0o600))
	succeed(t, "fit", data, "-o", model, "-d", "1", "--loss", "squared_l2")
	succeed(t, "report", model, data, "-o", page, "--title", "A "+evil)
	b, err := os.ReadFile(page)
	require.NoError(t, err)
	text := string(b)
	assert.NotContains(t, text, evil)
	assert.Equal(t, 1, strings.Count(text, "<script>"))
	assert.Contains(t, text, "<title>A &lt;/script&gt;")
	assert.NotContains(t, strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), "http")
	assert.Less(t, len(text), 5_000_000)
	var shown struct {
		Facts    [][2]string
		Row      []int
		Drivers  [][]string
		Warnings []string
		Verdict  string
		Settings string
		Axes     []struct{ Lines []struct{ Name string } }
		Plane    struct{ Note string }
	}
	found := regexp.MustCompile(`(?s)type="application/json">(.*?)</script>`).FindStringSubmatch(text)
	require.NoError(t, json.Unmarshal([]byte(found[1]), &shown))
	assert.Len(t, shown.Row, 60)
	assert.Len(t, shown.Drivers, 10, "rows that drive the fit")
	assert.Empty(t, shown.Warnings)
	assert.Empty(t, shown.Verdict)
	assert.Empty(t, shown.Plane.Note)
	assert.Equal(t, evil, shown.Axes[0].Lines[1].Name)
	assert.Contains(t, shown.Settings, "-d 1 -s 1 --ridge 0.001 --loss squared_l2 --seed 0")
	facts := map[string]string{}
	for _, f := range shown.Facts {
		facts[f[0]] = f[1]
	}
	var curved, flat, means float64
	_, err = fmt.Sscanf(facts["error at hidden entries"], "%g, %g by a flat sheet, %g by the means of columns", &curved, &flat, &means)
	require.NoError(t, err)
	assert.Less(t, curved, flat, "the curve predicts better")
	assert.Less(t, curved, means)
	assert.Contains(t, facts["R2 of principal components"], "with d + s = 2")
}

// Files keep the names of columns, and other orders are refused.
func TestPermutedColumnsAreRefused(t *testing.T) {
	folder := t.TempDir()
	name := func(s string) string { return filepath.Join(folder, s) }
	write := func(file, header string) {
		rows := header + "\n"
		for i := range 20 {
			rows += fmt.Sprintf("%d,%d,%d\n", i, i*i%17, i*7%5)
		}
		require.NoError(t, os.WriteFile(name(file), []byte(rows), 0o600))
	}
	write("x.csv", "a,b,c")
	write("permuted.csv", "b,a,c")
	write("other.csv", "a,b,d")
	succeed(t, "fit", name("x.csv"), "-o", name("m.npz"), "-d", "1", "--loss", "squared_l2")
	for _, command := range []string{"transform", "project", "report", "influence"} {
		for file, says := range map[string]string{
			"permuted.csv": `column 0 is "b", where the model was learned from "a": the columns are in another order`,
			"other.csv":    `there is no column "c"`,
		} {
			args := []string{command, name("m.npz"), name(file), "-o", name("out.html")}
			if command != "report" {
				args[4] = name("out.csv")
			}
			r := execute(args...)
			assert.Equal(t, 2, r.code, command)
			assert.Contains(t, r.stderr, says, command)
		}
	}
}
