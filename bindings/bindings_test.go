package bindings

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/denoise"
	"github.com/scqm/scqm/models/scqm"
)

const rows, columns = 40, 3

// at is the address of numbers that the caller keeps alive.
func at[T any](x []T) uint64 {
	if len(x) == 0 {
		return 0
	}
	return uint64(uintptr(unsafe.Pointer(&x[0])))
}

// pinned returns numbers that neither move nor go for the time of the test.
func pinned[T any](t testing.TB, n int) []T {
	x := make([]T, max(n, 1))
	var pin runtime.Pinner
	pin.Pin(&x[0])
	t.Cleanup(pin.Unpin)
	return x[:n]
}

// parabola returns rows near a curved sheet.
func parabola(t testing.TB) []float64 {
	x := pinned[float64](t, rows*columns)
	for i := range rows {
		a := float64(i)/rows*2 - 1
		b := math.Sin(7 * float64(i))
		x[3*i], x[3*i+1], x[3*i+2] = a, b, a*a+b*b/2+0.05*math.Sin(float64(i*i))
	}
	return x
}

// arrays describes arrays for Start: names, each followed by a slice of numbers and its shape, if
// that has not one dimension.
func arrays(t testing.TB, given map[string]any) string {
	text, err := encode(given)
	require.NoError(t, err)
	return text
}

// placed describes numbers as rows x columns, or as so many of them.
func placed[T any](x []T, shape ...int) []uint64 {
	var one T
	if shape == nil {
		shape = []int{len(x)}
	}
	list := []uint64{at(x), uint64(unsafe.Sizeof(one))}
	for _, n := range shape {
		list = append(list, uint64(n))
	}
	return list
}

// rowsAt describes rows of the width of the tests.
func rowsAt(t testing.TB, x []float64) string {
	return arrays(t, map[string]any{"x": placed(x, len(x)/columns, columns)})
}

// made is the report of a job, and its arrays.
func made(t testing.TB, number int64, report any) map[string][]float64 {
	text, err := Report(number)
	require.NoError(t, err)
	head := struct {
		Report  any            `json:"report"`
		Lengths map[string]int `json:"lengths"`
	}{Report: report}
	require.NoError(t, json.Unmarshal([]byte(text), &head))
	found, places := map[string][]float64{}, map[string]any{}
	for name, n := range head.Lengths {
		if name != "bytes" {
			found[name] = pinned[float64](t, n)
			places[name] = placed(found[name])
		}
	}
	_, err = Fetch(number, arrays(t, places))
	require.NoError(t, err)
	return found
}

var numbers atomic.Int64

func newNumber() int64 { return numbers.Add(1) }

// await waits for the end of a job, answering questions about the loss |r|^2.
func await(t testing.TB, number int64) error {
	state := pinned[float64](t, stateEntries)
	for {
		news, err := Wait(number, 50, at(state))
		if err != nil || news == Done {
			return err
		}
		if news != Asked {
			continue
		}
		if state[QuestionAt] == float64(QuestionMinimum) {
			_, err = AnswerPoint(number, 0, 0)
			require.NoError(t, err)
			continue
		}
		require.EqualValues(t, QuestionLoss, state[QuestionAt])
		n, dim := int(state[RowsAt]), int(state[ColumnsAt])
		r, values, grad := pinned[float64](t, n*dim), pinned[float64](t, n), pinned[float64](t, n*dim)
		_, err = FetchRows(number, at(r), 0)
		require.NoError(t, err)
		for i := range n {
			for k := i * dim; k < (i+1)*dim; k++ {
				values[i] += r[k] * r[k]
				grad[k] = 2 * r[k]
			}
		}
		_, err = AnswerRows(number, at(values), at(grad))
		require.NoError(t, err)
	}
}

func release(t testing.TB, number int64) {
	require.Eventually(t, func() bool {
		gone, err := Release(number)
		return err == nil && gone == 1
	}, 10*time.Second, time.Millisecond)
}

// learned fits a model and returns its report and arrays.
func learned(t testing.TB, settings string) (scqm.Meta, map[string][]float64) {
	number := newNumber()
	defer release(t, number)
	_, err := Start(number, "fit", settings, rowsAt(t, parabola(t)))
	require.NoError(t, err)
	require.NoError(t, await(t, number))
	var r scqm.Meta
	a := made(t, number, &r)
	return r, a
}

const plain = `{"parameters":{"n_components":2},"solver":"auto","loss":{"name":"squared_l2"}}`

func TestFitIsThatOfTheLibrary(t *testing.T) {
	r, a := learned(t, plain)
	want, err := scqm.Learn(t.Context(), scqm.Data{N: rows, D: columns, X: parabola(t)}, scqm.Config{Latent: 2, Loss: losses.SquaredL2()})
	require.NoError(t, err)
	assert.Equal(t, want.Model.Meta.Objective, r.Objective)
	assert.Equal(t, want.Model.U, a["u"])
	assert.Equal(t, want.Model.Tau, a["tau"])
	assert.Len(t, a["history"], 4*len(want.Run.History))
}

func TestLossOfPython(t *testing.T) {
	native, _ := learned(t, plain)
	foreign, _ := learned(t, `{"parameters":{"n_components":2},"solver":"lbfgs","loss":{"name":"mine","python":true}}`)
	assert.InEpsilon(t, native.Objective, foreign.Objective, 1e-6)
	assert.Equal(t, "mine", foreign.Loss.Name)
}

// settingsOf are the settings of a fitted model, and more of an act.
func settingsOf(t *testing.T, r scqm.Meta, more map[string]any) string {
	settings := map[string]any{"loss": map[string]any{"name": "squared_l2"}, "threads": 1, "meta": r}
	for name, value := range more {
		settings[name] = value
	}
	text, err := encode(settings)
	require.NoError(t, err)
	return text
}

// sheetOf describes the arrays of a model, and rows if there are any.
func sheetOf(t *testing.T, r scqm.Meta, a map[string][]float64, x []float64, width int) string {
	d, s := r.Latent, r.Curvature
	given := map[string]any{
		"c": placed(a["c"]), "u": placed(a["u"], columns, d), "v": placed(a["v"], columns, s),
		"theta": placed(a["theta"], d*(d+1)/2, s), "tau": placed(a["tau"], rows, d),
	}
	if x != nil {
		given["x"] = placed(x, len(x)/width, width)
	}
	return arrays(t, given)
}

func TestMapsAndFiles(t *testing.T) {
	r, a := learned(t, plain)
	path := filepath.Join(t.TempDir(), "m.npz")

	number := newNumber()
	_, err := Start(number, "save", settingsOf(t, r, map[string]any{"path": path}), sheetOf(t, r, a, nil, 0))
	require.NoError(t, err)
	require.NoError(t, await(t, number))
	release(t, number)
	m, err := scqm.Load(path)
	require.NoError(t, err)
	assert.Equal(t, r, m.Meta)

	data := scqm.Data{N: rows, D: columns, X: parabola(t)}
	tau, err := m.Transform(t.Context(), data, 1)
	require.NoError(t, err)
	for act, c := range map[string]struct {
		in         []float64
		width, out int
	}{
		"transform":   {parabola(t), columns, rows * 2},
		"reconstruct": {a["tau"], 2, rows * columns},
		"project":     {parabola(t), columns, rows * columns},
		"losses":      {parabola(t), columns, rows},
	} {
		number := newNumber()
		_, err := Start(number, act, settingsOf(t, r, nil), sheetOf(t, r, a, c.in, c.width))
		require.NoError(t, err, act)
		require.NoError(t, await(t, number), act)
		out := made(t, number, nil)["out"]
		release(t, number)
		assert.Len(t, out, c.out, act)
		if act == "transform" {
			assert.Equal(t, tau, out)
		}
		assert.NotContains(t, out, 0.0, act)
	}

	number = newNumber()
	_, err = Start(number, "load", arrays(t, map[string]any{"path": path}), "{}")
	require.NoError(t, err)
	require.NoError(t, await(t, number))
	assert.NotContains(t, made(t, number, nil), "precision")
	release(t, number)
}

func TestCancelEndsWhoeverWaitsForPython(t *testing.T) {
	for _, settings := range []string{
		`{"parameters":{"n_components":2},"solver":"lbfgs","loss":{"name":"mine","python":true}}`,
		`{"parameters":{"n_components":2},"solver":"mine","python_solver":true,"loss":{"name":"l2"}}`,
	} {
		number, x := newNumber(), parabola(t)
		_, err := Start(number, "fit", settings, rowsAt(t, x))
		require.NoError(t, err)
		for news := Running; news != Asked; {
			news, err = Wait(number, 50, 0)
			require.NoError(t, err)
		}
		_, err = Cancel(number)
		require.NoError(t, err)
		release(t, number)
		_, err = Wait(number, 0, 0)
		assert.ErrorContains(t, err, "job: ")
	}
}

// TestSolverOfPython takes the part of a solver: one gradient step.
func TestSolverOfPython(t *testing.T) {
	number, x := newNumber(), parabola(t)
	defer release(t, number)
	_, err := Start(number, "fit", `{"parameters":{"n_components":2},"solver":"mine","python_solver":true,"loss":{"name":"squared_l2"}}`, rowsAt(t, x))
	require.NoError(t, err)
	state := pinned[float64](t, stateEntries)
	news, err := Wait(number, 5000, at(state))
	require.NoError(t, err)
	require.Equal(t, Asked, news)
	require.EqualValues(t, QuestionMinimum, state[QuestionAt])

	text, err := ProblemBlocks(number)
	require.NoError(t, err)
	var blocks []struct{ Rows, Size int }
	require.NoError(t, json.Unmarshal([]byte(text), &blocks))
	size := 0
	for _, b := range blocks {
		size += b.Rows * b.Size
	}
	point, grad, step, trial := pinned[float64](t, size), pinned[float64](t, size), pinned[float64](t, size), pinned[float64](t, size)
	cost := func(at, grad uint64) float64 {
		_, err := StartCost(number, at, grad)
		require.NoError(t, err)
		news, err := Wait(number, 5000, 0)
		require.NoError(t, err)
		require.Equal(t, Evaluated, news)
		c, err := Cost(number)
		require.NoError(t, err)
		return c
	}
	_, err = ProblemStart(number, at(point))
	require.NoError(t, err)
	before := cost(at(point), at(grad))
	_, err = ProblemMap(number, "gradient", at(step), at(point), at(grad), 0)
	require.NoError(t, err)
	for i := range step {
		step[i] *= -1e-3
	}
	_, err = ProblemMap(number, "retraction", at(trial), at(point), at(step), 0)
	require.NoError(t, err)
	after := cost(at(trial), 0)
	assert.Less(t, after, before)
	_, err = AnswerPoint(number, at(trial), 0)
	require.NoError(t, err)
	require.NoError(t, await(t, number))
	var r scqm.Meta
	made(t, number, &r)
	assert.LessOrEqual(t, r.Objective, after*(1+1e-12))
}

func TestErrorsHaveAKind(t *testing.T) {
	x := parabola(t)
	bad := pinned[float64](t, rows*columns)
	copy(bad, x)
	bad[7] = math.NaN()
	fit := func(settings string, x []float64) error {
		number := newNumber()
		defer release(t, number)
		if _, err := Start(number, "fit", settings, rowsAt(t, x)); err != nil {
			return err
		}
		return await(t, number)
	}
	load := func(path string) error {
		number := newNumber()
		defer release(t, number)
		_, err := Start(number, "load", arrays(t, map[string]any{"path": path}), "{}")
		require.NoError(t, err)
		return await(t, number)
	}
	notModel := filepath.Join(t.TempDir(), "x.npz")
	require.NoError(t, os.WriteFile(notModel, []byte("no"), 0o600))
	_, unknown := Wait(-1, 0, 0)
	start := func(more string, x ...uint64) error {
		given := map[string]any{"x": x}
		if more != "" {
			given[more] = placed(bad)
		}
		_, err := Start(newNumber(), "fit", plain, arrays(t, given))
		return err
	}
	_, act := Start(newNumber(), "dance", `{}`, `{}`)
	_, noArray := Start(newNumber(), "fit", plain, `{}`)
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"NaN":       {fit(plain, bad), "input: row 2, column 1 is NaN"},
		"settings":  {fit(`{"dd":2}`, x), `input: settings: json: unknown field "dd"`},
		"solver":    {fit(`{"parameters":{"n_components":2},"solver":"sgd","loss":{"name":"l2"}}`, x), `input: solvers: no solver "sgd"`},
		"loss":      {fit(`{"parameters":{"n_components":2},"solver":"auto","loss":{"name":"l9"}}`, x), `input: losses: no loss "l9"`},
		"missing":   {load(filepath.Join(t.TempDir(), "none.npz")), "file: "},
		"damaged":   {load(notModel), "input: "},
		"job":       {unknown, "job: "},
		"unaligned": {start("", at(x)+1, 8, rows, columns), "input: x: address"},
		"overflow":  {start("", at(x), 8, math.MaxInt64, 8), "input: x: shape"},
		"address":   {start("", 0, 8, rows, columns), "input: x: no address"},
		"type":      {start("", at(x), 4, rows, columns), "input: x: ["},
		"shape":     {start("", at(x), 8, rows), "input: x: shape [40]"},
		"short":     {start("", at(x)), "input: x: shape [], not [-1 -1]"},
		"weights":   {start("weights", at(x), 8, rows, columns), "input: weights: shape [120], not [40]"},
		"name":      {start("wieghts", at(x), 8, rows, columns), "input: fit: no array that it reads is called wieghts"},
		"no array":  {noArray, "input: x: no array"},
		"act":       {act, `input: no act "dance"`},
	} {
		require.Error(t, c.err, name)
		assert.True(t, strings.HasPrefix(c.err.Error(), c.want), "%s: %v", name, c.err)
	}
}

func TestPanicsBecomeErrors(t *testing.T) {
	_, err := guarded("act", func() (int, error) { panic("oops") })
	assert.ErrorContains(t, err, "panic: act: panic in user code: oops")
	_, err = guarded("act", func() (int, error) { return len(*new(*[3]int)), errors.New("plain") })
	assert.EqualError(t, err, "failed: plain")
	_, err = guarded("act", func() (int, error) { var p *int; return *p, nil })
	assert.ErrorContains(t, err, "panic: act")

	number := newNumber()
	_, err = begin(number, "job", false, func(*job) (*outcome, error) { panic("oops") })
	require.NoError(t, err)
	assert.ErrorContains(t, await(t, number), "panic: job")
	release(t, number)
}

// TestBriefWork is done when its start returns, as it would be elsewhere.
func TestBriefWork(t *testing.T) {
	state, number := pinned[float64](t, stateEntries), newNumber()
	_, err := Start(number, "loss", `{"name":"l1"}`, rowsAt(t, parabola(t)))
	require.NoError(t, err)
	news, err := Wait(number, 0, at(state))
	require.NoError(t, err)
	assert.Equal(t, Done, news)
	assert.Positive(t, state[SecondsAt])
	release(t, number)

	number = newNumber()
	_, err = begin(number, "job", true, func(*job) (*outcome, error) { panic("oops") })
	require.NoError(t, err)
	assert.ErrorContains(t, await(t, number), "panic: job")
	release(t, number)
}

func TestNumbersAreTakenOnce(t *testing.T) {
	number := newNumber()
	wait := make(chan struct{})
	do := func(*job) (*outcome, error) { <-wait; return nil, nil }
	_, err := guarded("one", func() (int64, error) { return begin(number, "one", false, do) })
	require.NoError(t, err)
	_, err = guarded("two", func() (int64, error) { return begin(number, "two", false, do) })
	assert.ErrorContains(t, err, "number is taken")
	gone, err := Release(number)
	require.NoError(t, err)
	assert.Zero(t, gone, "a job that runs keeps its arrays")
	close(wait)
	release(t, number)
	gone, err = Release(number)
	require.NoError(t, err)
	assert.EqualValues(t, 1, gone, "a job that was never started has none")
}

func TestCheck(t *testing.T) {
	number := newNumber()
	defer release(t, number)
	_, err := Start(number, "loss check", `{"loss":{"name":"mine","python":true},"dim":3,"scale":1}`, `{}`)
	require.NoError(t, err)
	require.NoError(t, await(t, number))
	var verdicts []frameworktest.Verdict
	made(t, number, &verdicts)
	assert.Greater(t, len(verdicts), 10)
	for _, v := range verdicts {
		assert.True(t, v.OK, v.Law)
	}
}

func TestLibrary(t *testing.T) {
	text, err := Library()
	require.NoError(t, err)
	var l struct {
		Version, Platform string
		Losses, Solvers   []string
		Methods           []struct {
			Name     string
			Settings []string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &l))
	assert.Equal(t, scqm.Version, l.Version)
	assert.Contains(t, l.Platform, runtime.GOOS)
	assert.Len(t, l.Losses, len(losses.Describe()))
	assert.Equal(t, "auto", l.Solvers[0])
	require.Len(t, l.Methods, len(denoise.Describe()))
	assert.Equal(t, "auto", l.Methods[0].Name)
	assert.Equal(t, []string{"Loss"}, l.Methods[0].Settings)
}

// BenchmarkFit compares a tiny fit through a job with the same without.
func BenchmarkFit(b *testing.B) {
	x := parabola(b)
	const settings = `{"parameters":{"n_components":2,"max_iter":1,"n_threads":1},"solver":"rgd","loss":{"name":"squared_l2"}}`
	b.Run("job", func(b *testing.B) {
		at := rowsAt(b, x)
		for range b.N {
			number := newNumber()
			_, _ = Start(number, "fit", settings, at)
			_, _ = Wait(number, 50, 0)
			_, _ = Report(number)
			_, _ = Release(number)
		}
	})
	b.Run("library", func(b *testing.B) {
		var s fitSettings
		_ = decode(settings, &s)
		for range b.N {
			c, _ := s.config(&job{})
			c.Loss = losses.SquaredL2()
			_, _ = scqm.Learn(b.Context(), scqm.Data{N: rows, D: columns, X: x}, c)
		}
	})
}
