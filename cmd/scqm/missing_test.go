package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gaps is a table of a parabola with empty fields, NaN and NA.
func gaps() string {
	var b strings.Builder
	b.WriteString("a,b,c\n")
	for i := range 40 {
		t := -1 + float64(i)/20
		fields := []string{fmt.Sprint(t), fmt.Sprint(t * t), fmt.Sprint(2*t - 1)}
		switch i % 6 {
		case 1:
			fields[0] = ""
		case 3:
			fields[1] = "NaN"
		case 5:
			fields[2] = "NA"
		}
		b.WriteString(strings.Join(fields, ",") + "\n")
	}
	return b.String()
}

func TestFitIgnoresMissingEntries(t *testing.T) {
	p := newPlace(t)
	data := p.path("gaps.csv")
	require.NoError(t, os.WriteFile(data, []byte(gaps()), 0o600))
	report := fitJSON(t, data, "-d", "1", "--loss", "squared_l2", "--missing", "ignore", "-o", p.path("m.npz"))
	assert.EqualValues(t, 40, report["n"])
	assert.EqualValues(t, "ignore", report["missing"].(map[string]any)["policy"])
	assert.EqualValues(t, 20, report["missing"].(map[string]any)["entries"])

	succeed(t, "transform", p.path("m.npz"), data, "-o", p.path("t.csv"))
	succeed(t, "reconstruct", p.path("m.npz"), p.path("t.csv"), "-o", p.path("x.csv"))
	completed := succeed(t, "project", p.path("m.npz"), data)
	rows := strings.Split(strings.TrimSpace(completed), "\n")
	require.Len(t, rows, 41)
	var a, b, c float64
	_, err := fmt.Sscanf(rows[2], "%g,%g,%g", &a, &b, &c) // -0.95, of which a was empty
	require.NoError(t, err)
	assert.InDelta(t, -0.95, a, 0.05)
	assert.InDelta(t, 0.9025, b, 0.05)

	full := strings.Split(strings.TrimSpace(succeed(t, "impute", p.path("m.npz"), data)), "\n")
	require.Len(t, full, 41)
	assert.Equal(t, "a,b,c", full[0])
	_, err = fmt.Sscanf(full[2], "%g,%g,%g", &a, &b, &c)
	require.NoError(t, err)
	assert.InDelta(t, -0.95, a, 0.05)
	assert.Equal(t, -0.95*-0.95, b)
	assert.Equal(t, -2.9, c)
}

func TestMissingEntriesAreRefused(t *testing.T) {
	p := newPlace(t)
	write := func(name, text string) string {
		require.NoError(t, os.WriteFile(p.path(name), []byte(text), 0o600))
		return p.path(name)
	}
	data := write("gaps.csv", gaps())
	for _, c := range []struct {
		args []string
		text string
	}{
		{[]string{data, "--loss", "squared_l2"}, "gaps.csv:3:1: the cell is empty"},
		{[]string{data, "--missing", "ignore"}, "--missing ignore does not go with --loss l2"},
		{[]string{data, "--missing", "ignore", "--loss", "auto"}, "squared_l2, huber (by entry), l1 or lp"},
		{[]string{data, "--missing", "drop"}, "--missing"},
		{[]string{write("inf.csv", "a,b\n1,2\nInf,3\n4,\n"), "-d", "1", "--loss", "l1", "--missing", "ignore"}, "inf.csv:3:1"},
		{[]string{write("row.csv", "a,b\n1,2\n,\n4,3\n"), "-d", "1", "--loss", "l1", "--missing", "ignore"}, "row 1 has no entry"},
		{[]string{write("column.csv", "a,b\n1,\n2,NA\n4,nan\n"), "-d", "1", "--loss", "l1", "--missing", "ignore"}, "column 1 has no entry"},
	} {
		r := execute(append([]string{"fit"}, c.args...)...)
		assert.Equal(t, 2, r.code, c.args)
		assert.Contains(t, r.stderr, c.text)
	}
}

// Every command that reads rows refuses a missing entry by one sentence with its place and the flag, or takes it.
func TestEveryCommandKnowsMissingEntries(t *testing.T) {
	p := newPlace(t)
	write := func(name, text string) string {
		require.NoError(t, os.WriteFile(p.path(name), []byte(text), 0o600))
		return p.path(name)
	}
	whole := strings.NewReplacer("NaN", "0.4", "NA", "0.3").Replace(strings.ReplaceAll(gaps(), "\n,", "\n0.1,"))
	complete, model, ignoring := write("whole.csv", whole), p.path("m.npz"), p.path("i.npz")
	succeed(t, "fit", complete, "-d", "1", "--loss", "squared_l2", "-o", model)
	succeed(t, "fit", write("gaps.csv", gaps()), "-d", "1", "--loss", "squared_l2", "--missing", "ignore", "-o", ignoring)
	const sentence = `: fill it in, leave out its row, or ignore what is missing (missing="ignore", --missing ignore)`
	for kind, cell := range map[string]string{"empty": "", "NaN": "NaN", "#N/A": "#N/A"} {
		lines := strings.SplitAfter(whole, "\n")
		lines[7] = "0.2," + cell + ",0.3\n"
		one := write("one.csv", strings.Join(lines, ""))
		lines[9] = strings.Join([]string{cell, cell, cell}, ",") + "\n"
		none := write("none.csv", strings.Join(lines, ""))
		for verb, args := range map[string][]string{
			"fit": {"-d", "1", "--loss", "squared_l2"}, "mean": {}, "suggest": {"--max-latent", "1"}, "denoise": {"-d", "1", "--method", "mls"},
			"transform": {model}, "project": {model}, "impute": {model}, "influence": {model}, "report": {model, "-o", p.path("r.html")},
		} {
			call := func(data string, more ...string) result {
				list := append([]string{verb}, args...)
				if len(args) > 0 && strings.HasSuffix(args[0], ".npz") {
					list = append([]string{verb, args[0], data}, args[1:]...)
				} else {
					list = append(list, data)
				}
				return execute(append(list, more...)...)
			}
			r := call(one)
			assert.Equal(t, 2, r.code, "%s %s", verb, kind)
			assert.Contains(t, r.stderr, "one.csv:8:2: ", "%s %s", verb, kind)
			assert.Contains(t, r.stderr, sentence, "%s %s", verb, kind)
			took := "refused by a sentence"
			r = call(none, "--missing", "ignore", "--drop-missing")
			if len(args) > 0 && args[0] == model {
				assert.Contains(t, r.stderr, "was learned without it, and takes complete rows", verb)
				args[0] = ignoring
				r = call(none, "--drop-missing")
				args[0] = model
			}
			if verb == "influence" {
				assert.Contains(t, r.stderr, "entries of row 6 are missing, and influence takes complete rows; impute them first")
			} else {
				took = "taken"
				assert.Equal(t, 0, r.code, "%s %s: %s", verb, kind, r.stderr)
				assert.Contains(t, r.stderr, "are left out (counted from 0): ", "%s %s", verb, kind)
			}
			if verb != "denoise" { // whose rows come back as they came
				assert.NotContains(t, r.stdout, "NaN", "%s %s", verb, kind)
			}
			t.Logf("%-6s %-10s alone: refused by a sentence; with the flags: %s", kind, verb, took)
		}
	}
}
