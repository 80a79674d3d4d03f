package bindings

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

// tableOf adds the number of rows to settings.
func tableOf(settings string, n int) string {
	return fmt.Sprintf(`{"rows":%d,"columns":%d,%s`, n, columns, settings[1:])
}

// streamed answers the reads of a fit from parts of rows, the last ones first, and
// returns the report of the fit. spoil changes what answers a read.
func streamed(t *testing.T, x []float64, n int, settings string, spoil func(parts [][]byte) [][]byte) (int64, error) {
	number := newNumber()
	t.Cleanup(func() { release(t, number) })
	_, err := Start(number, "stream", tableOf(settings, n), "{}")
	require.NoError(t, err)
	state := pinned[float64](t, stateEntries)
	for {
		news, err := Wait(number, 50, at(state))
		if err != nil || news == Done {
			return number, err
		}
		if news != Asked {
			continue
		}
		require.EqualValues(t, QuestionSum, state[QuestionAt])
		request := pinned[byte](t, int(state[RowsAt]))
		_, err = FetchRequest(number, at(request))
		require.NoError(t, err)
		var parts [][]byte
		for first := (n - 1) / scqm.BlockRows * scqm.BlockRows; first >= 0; first -= scqm.BlockRows {
			parts = append(parts, sum(t, request, x, first, min(scqm.BlockRows, n-first)))
		}
		for _, p := range spoil(parts) {
			if _, err := AnswerPart(number, at(p), int64(len(p))); err != nil {
				return number, err
			}
		}
		if _, err := AnswerSum(number); err != nil {
			return number, err
		}
	}
}

// sum answers a request for some of the rows.
func sum(t *testing.T, request []byte, x []float64, first, count int) []byte {
	b, err := sumOfPart(t, request, placed(x[first*columns:(first+count)*columns], count, columns), nil, first)
	require.NoError(t, err)
	return b
}

// sumOfPart answers a request for rows, and weights if there are any.
func sumOfPart(t *testing.T, request []byte, x, weights []uint64, first int) ([]byte, error) {
	number := newNumber()
	defer release(t, number)
	given := map[string]any{"request": placed(request), "x": x}
	if weights != nil {
		given["weights"] = weights
	}
	if _, err := Start(number, "sum", fmt.Sprintf(`{"loss":{"name":"squared_l2"},"threads":1,"first":%d}`, first), arrays(t, given)); err != nil {
		return nil, err
	}
	if err := await(t, number); err != nil {
		return nil, err
	}
	return resultBytes(t, number), nil
}

func resultBytes(t *testing.T, number int64) []byte {
	text, err := Report(number)
	require.NoError(t, err)
	var head struct{ Lengths map[string]int }
	require.NoError(t, json.Unmarshal([]byte(text), &head))
	b := pinned[byte](t, head.Lengths["bytes"])
	_, err = Fetch(number, arrays(t, map[string]any{"bytes": placed(b)}))
	require.NoError(t, err)
	return b
}

// merged merges answers to a request.
func merged(t *testing.T, request []byte, parts [][]byte) ([]byte, error) {
	number := newNumber()
	defer release(t, number)
	var places [][]uint64
	for _, p := range parts {
		places = append(places, placed(p))
	}
	settings, err := encode(map[string]any{"parts": places})
	require.NoError(t, err)
	_, err = Start(number, "merge", settings, arrays(t, map[string]any{"request": placed(request)}))
	require.NoError(t, err)
	if err := await(t, number); err != nil {
		return nil, err
	}
	return resultBytes(t, number), nil
}

// rowsOnASheet returns n rows.
func rowsOnASheet(t *testing.T, n int) []float64 {
	x := pinned[float64](t, n*columns)
	for i := range n {
		a, b := float64(i%101)/50-1, float64(i%37)/18-1
		x[3*i], x[3*i+1], x[3*i+2] = a, b, a*a+b*b/2+0.05*float64(i%7)
	}
	return x
}

const streaming = `{"parameters":{"n_components":2,"max_iter":3},"solver":"auto","loss":{"name":"squared_l2"}}`

func TestStreamIsThatOfTheLibrary(t *testing.T) {
	const n = 3*scqm.BlockRows + 10
	x := rowsOnASheet(t, n)
	number, err := streamed(t, x, n, streaming, func(parts [][]byte) [][]byte { return parts })
	require.NoError(t, err)
	c := scqm.Config{Latent: 2, Loss: losses.SquaredL2()}
	c.Options.MaxIterations = 3
	want, err := scqm.LearnFrom(t.Context(), &scqm.LocalEngine{Source: scqm.Data{N: n, D: columns, X: x}, Loss: c.Loss}, c)
	require.NoError(t, err)
	assert.Equal(t, want.Model.U, made(t, number, nil)["u"])
}

func TestStreamsRefuse(t *testing.T) {
	const n = 2*scqm.BlockRows + 10
	x := rowsOnASheet(t, n)
	for name, spoil := range map[string]func([][]byte) [][]byte{
		"summed twice":                     func(p [][]byte) [][]byte { return append(p, p[1]) },
		"rows from 1024 on are in no part": func(p [][]byte) [][]byte { return [][]byte{p[0], p[2]} },
		"rows from 0 on are in no part":    func([][]byte) [][]byte { return nil },
		"0 bytes are no partial sum":       func([][]byte) [][]byte { return [][]byte{{}} },
		"a partial sum is damaged":         func(p [][]byte) [][]byte { p[0][40] ^= 1; return p },
	} {
		number, err := streamed(t, x, n, streaming, spoil)
		assert.ErrorContains(t, err, "input: ")
		assert.ErrorContains(t, err, name)
		_, err = AnswerRows(number, 0, 0)
		assert.Error(t, err)
	}
	_, err := streamed(t, x, n, `{"parameters":{"n_components":2},"solver":"auto","loss":{"name":"huber_entries"}}`, nil)
	assert.ErrorContains(t, err, "loss huber_entries needs delta")
	_, err = FetchRequest(newNumber(), 0)
	assert.ErrorContains(t, err, "job: ")
	_, err = Start(newNumber(), "sum", `{}`, `{"request":[0,1,8]}`)
	assert.ErrorContains(t, err, "request: no address")
}

// Merged parts are the bytes of one of all rows.
func TestMergedPartsAreOne(t *testing.T) {
	for _, blocks := range []int{1, 3, 7} {
		n := blocks*scqm.BlockRows - 5
		x := rowsOnASheet(t, n)
		data := scqm.Data{N: n, D: columns, X: x}
		request := sweepRequest(t, data)
		var parts [][]byte
		for first := 0; first < n; first += scqm.BlockRows {
			parts = append(parts, sum(t, request, x, first, min(scqm.BlockRows, n-first)))
		}
		whole, err := merged(t, request, parts)
		require.NoError(t, err)
		assert.Equal(t, sum(t, request, x, 0, n), whole)
		if blocks > 2 {
			_, err = merged(t, request, [][]byte{parts[0], parts[2]})
			assert.ErrorContains(t, err, "2 ranges of blocks that do not adjoin")
		}
	}
}

// sweepRequest returns the bytes of a request with a model.
func sweepRequest(t *testing.T, x scqm.Data) []byte {
	number := newNumber()
	defer release(t, number)
	_, err := Start(number, "stream", tableOf(streaming, x.N), "{}")
	require.NoError(t, err)
	state := pinned[float64](t, stateEntries)
	for read := 0; ; {
		news, err := Wait(number, 50, at(state))
		require.NoError(t, err)
		if news != Asked {
			continue
		}
		request := pinned[byte](t, int(state[RowsAt]))
		_, err = FetchRequest(number, at(request))
		require.NoError(t, err)
		if read++; read == 4 {
			return request
		}
		b := sum(t, request, x.X, 0, x.N)
		_, err = AnswerPart(number, at(b), int64(len(b)))
		require.NoError(t, err)
		_, err = AnswerSum(number)
		require.NoError(t, err)
		runtime.KeepAlive(b)
	}
}

// Rows of float32 are read as they are.
func TestSumsOfSinglePrecision(t *testing.T) {
	const n = 100
	x, single := rowsOnASheet(t, n), pinned[float32](t, n*columns)
	for i, v := range x {
		single[i] = float32(v)
		x[i] = float64(single[i])
	}
	request := sweepRequest(t, scqm.Data{N: n, D: columns, X: x})
	got, err := sumOfPart(t, request, placed(single, n, columns), nil, 0)
	require.NoError(t, err)
	assert.Equal(t, sum(t, request, x, 0, n), got)
}

// Rows have weights, and cuts inside of blocks are refused.
func TestSumsOfParts(t *testing.T) {
	const n = 3*scqm.BlockRows + 10
	x := rowsOnASheet(t, n)
	request := sweepRequest(t, scqm.Data{N: n, D: columns, X: x})
	weights := pinned[float64](t, n)
	for i := range weights {
		weights[i] = 1
	}
	got, err := sumOfPart(t, request, placed(x, n, columns), placed(weights), 0)
	require.NoError(t, err)
	assert.Equal(t, sum(t, request, x, 0, n), got)
	weights[1027] = math.NaN()
	for want, c := range map[string]struct {
		first, rows int
		weights     []uint64
	}{
		"rows 0 to 999 are cut inside of a block":   {0, 1000, nil},
		"rows 10 to 3081 are cut inside of a block": {10, n - 10, nil},
		"rows 1024 to 4105 of 3082":                 {scqm.BlockRows, n, nil},
		"x: shape [0 3]":                            {0, 0, nil},
		"weights: shape [3082], not [1024]":         {0, scqm.BlockRows, placed(weights)},
		"weight of row 1027 is NaN":                 {0, n, placed(weights)},
	} {
		_, err := sumOfPart(t, request, placed(x, c.rows, columns), c.weights, c.first)
		assert.ErrorContains(t, err, want)
	}
}
