package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/cmd/scqm/internal/options"
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

// fitJSON fits with --json and returns the report.
func fitJSON(t *testing.T, args ...string) map[string]any {
	t.Helper()
	var report map[string]any
	require.NoError(t, json.Unmarshal([]byte(succeed(t, append([]string{"fit", "--json"}, args...)...)), &report))
	return report
}

func TestFitReportsInJSON(t *testing.T) {
	p := newPlace(t)
	report := fitJSON(t, p.matrix("data.csv", bowl(80, 6)), "-o", p.path("model.npz"), "--seed", "7", "--ridge", "0.1", "-s", "full")

	for _, key := range []string{
		"objective", "penalty", "curvature", "mean_loss", "loss", "loss_params", "n", "D", "d", "s", "solver", "status",
		"message", "iterations", "evaluations", "kkt", "seconds", "seed", "notes", "n_init",
	} {
		assert.Contains(t, report, key)
	}
	assert.ElementsMatch(t, []string{"c", "Q", "Theta", "tau"}, slices.Collect(maps.Keys(report["kkt"].(map[string]any))))
	assert.Equal(t, "l2", report["loss"])
	assert.EqualValues(t, 80, report["n"])
	assert.EqualValues(t, 6, report["D"])
	assert.EqualValues(t, 2, report["d"])
	assert.EqualValues(t, 3, report["s"])
	assert.EqualValues(t, 7, report["seed"])
	assert.Greater(t, report["penalty"], 0.0)
	assert.Greater(t, report["seconds"], 0.0)

	m, err := scqm.Load(p.path("model.npz"))
	require.NoError(t, err)
	assert.Equal(t, report["objective"], m.Meta.Objective)
	assert.Len(t, m.Tau, 80*2)
}

func TestFitWithoutAnOutputOnlyReports(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.csv", bowl(80, 6))
	before, err := os.ReadDir(p.path("."))
	require.NoError(t, err)
	assert.NotContains(t, succeed(t, "fit", data, "--max-iter", "5"), "saved")
	after, err := os.ReadDir(p.path("."))
	require.NoError(t, err)
	assert.Len(t, after, len(before))
}

func TestFitReportsToPeople(t *testing.T) {
	p := newPlace(t)
	out := succeed(t, "fit", p.matrix("data.csv", bowl(80, 6)), "-o", p.path("model.npz"), "-s", "4", "--loss", "lp", "--p", "1.5", "--max-iter", "5")

	assert.Contains(t, out, "d = 2, s = 3, from 80 rows of 6 columns\n")
	assert.Contains(t, out, "lp, p = 1.5\n")
	assert.Contains(t, out, "s = 4 was reduced to 3")
	assert.Contains(t, out, "saved to   "+p.path("model.npz")+"\n")
}

// What is wrong with a fit is told on stderr, or in the list of its report.
func TestFitWarns(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.csv", bowl(80, 6))
	r := execute("fit", data, "--max-iter", "2")
	assert.Zero(t, r.code)
	assert.Regexp(t, "^scqm: fit: warning: stopped after 2 iterations; [^\n]*\n$", r.stderr)
	r = execute("fit", data, "--max-iter", "2", "--json")
	assert.Empty(t, r.stderr)
	report := fitJSON(t, data, "--max-iter", "2")
	assert.Equal(t, []any{report["message"]}, report["warnings"])
	assert.Equal(t, []any{}, fitJSON(t, data, "--loss", "squared_l2")["warnings"])
}

// The objective of the paper has no penalty.
func TestRidgeOfThePaper(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.csv", bowl(80, 6))
	quick := []string{data, "--loss", "squared_l2", "--max-iter", "50"}
	byDefault := fitJSON(t, quick...)
	assert.InDelta(t, scqm.DefaultRidge, byDefault["ridge"], 0)
	assert.Positive(t, byDefault["penalty"])
	for _, args := range [][]string{{"--ridge", "0"}, {"--preset", "paper"}, {"--linear"}} {
		report := fitJSON(t, append(slices.Clone(quick), args...)...)
		assert.Zero(t, report["ridge"], args)
		assert.Zero(t, report["penalty"], args)
	}
	assert.InDelta(t, 0.5, fitJSON(t, append(slices.Clone(quick), "--preset", "paper", "--ridge", "0.5")...)["ridge"], 0)
	assert.Contains(t, []any{0.001, 0.01, 0.1, 1.0, 10.0}, fitJSON(t, append(slices.Clone(quick), "--ridge", "auto")...)["ridge"])
	for _, bad := range []string{"-1", "nan", "inf", "much"} {
		r := execute("fit", data, "--ridge="+bad)
		assert.Equal(t, cli.ExitUsage, r.code)
		assert.Contains(t, r.stderr, "want a number of at least 0, or auto")
	}
}

func TestFitOfDigitsIsBelowTheLinearModel(t *testing.T) {
	p := newPlace(t)
	digits := []string{
		"../../testdata/mnist/images-idx3-ubyte.gz", "--labels", "../../testdata/mnist/labels-idx1-ubyte.gz",
		"--keep", "4,9", "--first", "50", "--scale", "-d", "2", "--loss", "l2", "--tol", "1e-4", "-o", p.path("m.npz"),
	}
	curved, flat := fitJSON(t, append(digits, "-s", "3")...), fitJSON(t, append(digits, "--linear")...)

	assert.EqualValues(t, 100, curved["n"])
	assert.EqualValues(t, 784, curved["D"])
	assert.Less(t, curved["objective"], 0.95*flat["objective"].(float64))
}

func TestFitDoesNotDependOnThreads(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.npy", bowl(300, 10))
	var models [][]byte
	for _, threads := range []string{"1", "2", "2"} {
		succeed(t, "fit", data, "-o", p.path("model.npz"), "--threads", threads, "--max-iter", "30")
		model, err := os.ReadFile(p.path("model.npz"))
		require.NoError(t, err)
		models = append(models, model)
	}
	assert.Equal(t, models[0], models[1])
	assert.Equal(t, models[1], models[2])
}

func TestFitChoosesTheDeltaOfHuber(t *testing.T) {
	p := newPlace(t)
	m := bowl(60, 5)
	data := p.matrix("data.npy", m)
	norms, err := scqm.ResidualNorms(cli.RowsOf(m), 2)
	require.NoError(t, err)
	for _, c := range []struct {
		args []string
		want float64
	}{
		{nil, losses.DefaultDelta("huber", norms)},
		{[]string{"--delta", "0.25"}, 0.25},
	} {
		report := fitJSON(t, append(c.args, data, "--loss", "huber", "-o", p.path("model.npz"))...)
		assert.Equal(t, map[string]any{"delta": c.want}, report["loss_params"])
	}
}

func TestFitTakesAPrecisionMatrix(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.npy", bowl(60, 3))
	precision := p.file("precision.csv", "2,0.5,0\n0.5,2,0\n0,0,1\n")
	report := fitJSON(t, data, "--loss", "mahalanobis", "--precision", precision, "-o", p.path("model.npz"), "--max-iter", "20")

	assert.Equal(t, "mahalanobis", report["loss"])
	assert.Equal(t, map[string]any{}, report["loss_params"])
	m, err := scqm.Load(p.path("model.npz"))
	require.NoError(t, err)
	assert.Equal(t, "mahalanobis", m.Loss.Name())
}

func TestFitObeysLimits(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.npy", bowl(400, 8))
	for _, c := range []struct {
		name, status string
		args         []string
	}{
		{"iterations", "max_iter", []string{"--max-iter", "2"}},
		{"tolerance", "converged", []string{"--tol", "0.5"}},
		{"time", "time_limit", []string{"--time-limit", "1us"}},
		{"seconds", "time_limit", []string{"--time-limit", "0.000001"}},
		{"preset", "max_iter", []string{"--preset", "paper", "--max-iter", "3"}},
		{"solver", "max_iter", []string{"--solver", "rgd", "--max-iter", "3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := fitJSON(t, append(c.args, data, "-o", p.path("model.npz"))...)
			assert.Equal(t, c.status, report["status"], report["message"])
		})
	}
}

func TestFitTakesTheBestOfSeveralStarts(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.npy", bowl(60, 8))
	one := fitJSON(t, data, "-d", "1", "--max-iter", "30")
	five := fitJSON(t, data, "-d", "1", "--max-iter", "30", "--n-init", "5")
	assert.LessOrEqual(t, five["objective"], one["objective"].(float64)*(1+1e-8), "30 iterations do not settle more digits")
	assert.EqualValues(t, 5, five["n_init"])
	assert.Contains(t, fmt.Sprint(five["notes"]), "the best of 5 starts")
	r := execute("fit", data, "--n-init", "2", "--checkpoint", p.path("run"))
	assert.Equal(t, cli.ExitUsage, r.code)
	assert.Contains(t, r.stderr, "with several starts")
}

func TestFitReadsStandardInput(t *testing.T) {
	p := newPlace(t)
	m := bowl(40, 4)
	r := executeWith(t.Context(), csv(m), "fit", "-", "--json", "-o", p.path("piped.npz"))
	require.Zero(t, r.code, r.stderr)
	succeed(t, "fit", p.matrix("data.npy", m), "--json", "-o", p.path("read.npz"))

	piped, err := os.ReadFile(p.path("piped.npz"))
	require.NoError(t, err)
	read, err := os.ReadFile(p.path("read.npz"))
	require.NoError(t, err)
	assert.Equal(t, read, piped)
}

func TestFitTakesColumns(t *testing.T) {
	p := newPlace(t)
	data := p.file("data.csv", "name,x,y,z\na,1,2,3\nb,2,3,5\nc,4,1,0\nd,3,3,3\n")
	report := fitJSON(t, data, "--columns", "z,2-3", "-d", "1", "-o", p.path("model.npz"), "--max-iter", "5")
	assert.EqualValues(t, 3, report["D"])
}

func TestProgressBar(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.npy", bowl(40, 4))
	for when, shown := range map[string]bool{"always": true, "never": false, "auto": false} {
		r := execute("fit", data, "-o", p.path("model.npz"), "--progress", when)
		require.Zero(t, r.code)
		bar, _, _ := strings.Cut(r.stderr, "scqm: fit: warning: ") // which comes after it
		assert.Equal(t, shown, bar != "", when)
		if shown {
			assert.Contains(t, bar, "cost ")
			assert.Regexp(t, `\r *\r$`, bar, "the bar does not go away")
		}
	}
}

func TestFailedFitSavesTheBestModel(t *testing.T) {
	p := newPlace(t)
	fit, err := options.Learn(t.Context(), cli.RowsOf(bowl(40, 4)), scqm.Config{Latent: 1, Loss: losses.L2()})
	require.NoError(t, err)
	cmd := fitCommand()
	cmd.SetContext(t.Context())
	var stdout writerToString
	cmd.SetOut(&stdout)

	err = (&fitFlags{output: p.path("model.npz")}).finish(cmd, fit, nil, framework.ErrNonFinite)

	require.ErrorIs(t, err, framework.ErrNonFinite)
	assert.Equal(t, cli.ExitFailed, cli.ExitCode(t.Context(), err))
	assert.Equal(t, "fit: "+p.path("model.npz")+" holds the best model so far: cost is not finite", cli.OneLine(cmd, err))
	assert.Empty(t, stdout)
	assert.Equal(t, []string{"model.npz"}, p.names())
}

// The loss that the residuals choose is in the report, with the reason, and in
// the model file.
func TestFitChoosesLoss(t *testing.T) {
	p := newPlace(t)
	rows := bowl(120, 8)
	rng := rand.New(rand.NewPCG(1, 3))
	for i := range rows.Data {
		rows.Data[i] += 0.3 * (2*rng.Float64() - 1)
	}
	var report fitReport
	out := succeed(t, "fit", p.matrix("rows.npy", rows), "--loss", "auto", "--json", "-o", p.path("m.npz"))
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.NotEmpty(t, report.Notes)
	assert.Contains(t, report.Notes[len(report.Notes)-1], " the loss "+report.Loss)
	m, err := scqm.Load(p.path("m.npz"))
	require.NoError(t, err)
	assert.Equal(t, report.Loss, m.Meta.Loss.Name)
	assert.Equal(t, report.Notes, m.Meta.Notes)

	r := execute("fit", p.path("rows.npy"), "--loss", "auto", "--p", "1.5")
	assert.Equal(t, result{cli.ExitUsage, "", "scqm: fit: --p does nothing with --loss auto; leave it out\n"}, r)
	assert.Equal(t, cli.ExitUsage, execute("denoise", p.path("rows.npy"), "--method", "scqm", "--loss", "auto").code)
}

func TestHeaderIsReported(t *testing.T) {
	p := newPlace(t)
	rows := csv(bowl(30, 3))
	named, plain := p.file("named.csv", "a,b,c\n"+rows), p.file("plain.csv", rows)
	years := p.file("years.csv", "2019,2020,2021\n"+rows)
	mixed := p.file("mixed.csv", "0.1,O.2,0.3\n"+rows)

	report := func(args ...string) (r struct {
		N      int
		Header []string
	}) {
		require.NoError(t, json.Unmarshal([]byte(succeed(t, append(args, "--json")...)), &r))
		return r
	}
	for _, command := range [][]string{{"fit"}, {"mean"}, {"denoise", "-o", p.path("out.csv")}} {
		r := report(append(command, named)...)
		assert.Equal(t, []string{"a", "b", "c"}, r.Header, command)
		assert.Equal(t, 30, r.N)
		r = report(append(command, plain)...)
		assert.Nil(t, r.Header, command)
		assert.Equal(t, 30, r.N)
		assert.Equal(t, 31, report(append(command, years)...).N, command)
		r = report(append(command, years, "--header", "yes")...)
		assert.Equal(t, []string{"2019", "2020", "2021"}, r.Header)
		assert.Equal(t, 30, r.N)

		asked := execute(append(command, mixed)...)
		assert.Equal(t, cli.ExitUsage, asked.code)
		assert.Equal(t, "scqm: "+command[0]+": "+mixed+`:1:2: "O.2" is not a number, but column 1 of the same row has "0.1"; `+
			"correct it, or say whether this row is a header, with --header yes or --header no\n", asked.stderr)
	}
	assert.Contains(t, succeed(t, "fit", named), `the first row, taken as names: "a", "b", "c"`)
	assert.Contains(t, succeed(t, "denoise", named, "-o", p.path("out.csv")), `the first row, taken as names: "a", "b", "c"`)
	assert.Contains(t, succeed(t, "suggest", named, "--max-latent", "1"), `the first row, taken as names: "a", "b", "c"`)
	assert.NotContains(t, succeed(t, "fit", plain), "header")
}
