package main

import (
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
	assert.Contains(t, text, "c &amp; d")
	assert.NotContains(t, text, "http")
	assert.Equal(t, 120, strings.Count(text, "<circle"), "in the plane and by row")
	assert.Equal(t, 10, strings.Count(text, "<tr><td>"), "rows that drive the fit")
	assert.Contains(t, text, "There is nothing to warn of.")
	assert.Contains(t, text, "-d 1 -s 1 --ridge 0.001 --loss squared_l2 --seed 0")
	errors := regexp.MustCompile(`error at hidden entries</th><td>([0-9.]+), ([0-9.]+) by a flat sheet`).FindStringSubmatch(text)
	require.Len(t, errors, 3, "the error at hidden entries")
	assert.Less(t, errors[1], errors[2], "the curve predicts better")
	assert.Less(t, len(text), 5_000_000)
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
