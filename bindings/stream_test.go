package bindings

import (
	"encoding/binary"
	"math"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

// streamed answers the reads of a fit from parts of rows, the last ones first, and
// returns the report of the fit. spoil changes what answers a read.
func streamed(t *testing.T, x []float64, n int, settings string, spoil func(parts [][]byte) [][]byte) (int64, error) {
	number := newNumber()
	t.Cleanup(func() { release(t, number) })
	_, err := StartStream(number, settings, int64(n), columns, 0)
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
	number := newNumber()
	defer release(t, number)
	settings, err := encode(map[string]any{"loss": map[string]any{"name": "squared_l2"}, "threads": 1})
	require.NoError(t, err)
	chunks := chunksOf(t, [5]uint64{at(x[first*columns:]), uint64(count), 0, 0, uint64(first)})
	_, err = StartSum(number, settings, at(request), int64(len(request)), at(chunks), 1, columns, 0)
	require.NoError(t, err)
	require.NoError(t, await(t, number))
	parts := answers(t, number)
	require.Len(t, parts, 1)
	return parts[0]
}

// answers returns the answers of a job of StartSum.
func answers(t *testing.T, number int64) (parts [][]byte) {
	for b := resultBytes(t, number); len(b) > 0; {
		n := binary.LittleEndian.Uint64(b)
		part := pinned[byte](t, int(n))
		copy(part, b[8:])
		parts, b = append(parts, part), b[8+n:]
	}
	return parts
}

// chunksOf describes arrays for StartSum.
func chunksOf(t *testing.T, chunks ...[5]uint64) []uint64 {
	list := pinned[uint64](t, 5*len(chunks))
	for i, c := range chunks {
		copy(list[5*i:], c[:])
	}
	return list
}

func resultBytes(t *testing.T, number int64) []byte {
	n, err := ResultBytes(number, 0)
	require.NoError(t, err)
	b := pinned[byte](t, int(n))
	_, err = ResultBytes(number, at(b))
	require.NoError(t, err)
	return b
}

// merged merges answers to a request.
func merged(t *testing.T, request []byte, parts [][]byte) ([]byte, error) {
	number := newNumber()
	defer release(t, number)
	places, lengths := pinned[uint64](t, len(parts)), pinned[uint64](t, len(parts))
	for i, p := range parts {
		places[i], lengths[i] = at(p), uint64(len(p))
	}
	_, err := StartMerge(number, at(request), int64(len(request)), at(places), at(lengths), int64(len(parts)))
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
	u := pinned[float64](t, columns*2)
	_, err = FitArrays(number, 0, at(u), 0, 0, 0, 0)
	require.NoError(t, err)
	assert.Equal(t, want.Model.U, u)
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
	_, err = StartSum(newNumber(), `{}`, 0, 8, 0, 1, 1, 0)
	assert.ErrorContains(t, err, "request: no address")
}

// Merged parts are as many bytes as one of all rows, whatever their number.
func TestMergedPartsAreOne(t *testing.T) {
	lengths := map[int]bool{}
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
		lengths[len(whole)] = true
		if blocks > 2 {
			_, err = merged(t, request, [][]byte{parts[0], parts[2]})
			assert.ErrorContains(t, err, "2 ranges of blocks that do not adjoin")
		}
	}
	assert.Len(t, lengths, 1)
}

// sweepRequest returns the bytes of a request with a model.
func sweepRequest(t *testing.T, x scqm.Data) []byte {
	number := newNumber()
	defer release(t, number)
	_, err := StartStream(number, streaming, int64(x.N), columns, 0)
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

// Rows of float32, where single says so, are read as they are.
func TestSumsOfSinglePrecision(t *testing.T) {
	const n = 100
	x, single := rowsOnASheet(t, n), pinned[float32](t, n*columns)
	for i, v := range x {
		single[i] = float32(v)
		x[i] = float64(single[i])
	}
	request := sweepRequest(t, scqm.Data{N: n, D: columns, X: x})
	number := newNumber()
	defer release(t, number)
	chunks := chunksOf(t, [5]uint64{uint64(uintptr(unsafe.Pointer(&single[0]))), n, 0, 1})
	_, err := StartSum(number, `{"loss":{"name":"squared_l2"}}`, at(request), int64(len(request)), at(chunks), 1, columns, 0)
	require.NoError(t, err)
	require.NoError(t, await(t, number))
	assert.Equal(t, [][]byte{sum(t, request, x, 0, n)}, answers(t, number))
}

// Arrays with gaps between them have an answer for each run, and rows that come twice are refused.
func TestSumsOfArraysWithGaps(t *testing.T) {
	const b, n = scqm.BlockRows, 4*scqm.BlockRows + 10
	x := rowsOnASheet(t, n)
	request := sweepRequest(t, scqm.Data{N: n, D: columns, X: x})
	array := func(first, end int) [5]uint64 {
		return [5]uint64{at(x[first*columns:]), uint64(end - first), 0, 0, uint64(first)}
	}
	number := newNumber()
	defer release(t, number)
	chunks := chunksOf(t, array(0, b), array(2*b, 3*b), array(3*b, 4*b))
	_, err := StartSum(number, `{"loss":{"name":"squared_l2"}}`, at(request), int64(len(request)), at(chunks), 3, columns, 0)
	require.NoError(t, err)
	require.NoError(t, await(t, number))
	assert.Equal(t, [][]byte{sum(t, request, x, 0, b), sum(t, request, x, 2*b, 2*b)}, answers(t, number))
	chunks = chunksOf(t, array(0, 2*b), array(b, 3*b))
	_, err = StartSum(newNumber(), `{"loss":{"name":"squared_l2"}}`, at(request), int64(len(request)), at(chunks), 2, columns, 0)
	assert.ErrorContains(t, err, "rows 1024 to 2047 are given twice")
}

// Rows in several arrays are summed as in one, with weights where some have them, and cuts
// inside of blocks are refused.
func TestSumsOfSeveralArrays(t *testing.T) {
	const n = 3*scqm.BlockRows + 10
	x := rowsOnASheet(t, n)
	request := sweepRequest(t, scqm.Data{N: n, D: columns, X: x})
	ones := pinned[float64](t, 2*scqm.BlockRows)
	for i := range ones {
		ones[i] = 1
	}
	start := func(number int64, at0, at1 int, weights uint64) error {
		chunks := chunksOf(t, [5]uint64{at(x), uint64(at0)},
			[5]uint64{at(x[at0*columns:]), uint64(at1 - at0), weights, 0, uint64(at0)},
			[5]uint64{at(x[at1*columns:]), uint64(n - at1), 0, 0, uint64(at1)})
		_, err := StartSum(number, `{"loss":{"name":"squared_l2"}}`, at(request), int64(len(request)), at(chunks), 3, columns, 0)
		runtime.KeepAlive(chunks)
		if err != nil {
			return err
		}
		return await(t, number)
	}
	for _, weights := range []uint64{0, at(ones)} {
		number := newNumber()
		require.NoError(t, start(number, scqm.BlockRows, 3*scqm.BlockRows, weights))
		assert.Equal(t, [][]byte{sum(t, request, x, 0, n)}, answers(t, number))
		release(t, number)
	}
	assert.ErrorContains(t, start(newNumber(), 1000, 3*scqm.BlockRows, 0), "rows 0 to 999 are cut inside of a block")
	assert.ErrorContains(t, start(newNumber(), scqm.BlockRows, n, 0), "rows 3082 to 3081 of 3082")
	ones[3] = math.NaN()
	number := newNumber()
	defer release(t, number)
	assert.ErrorContains(t, start(number, scqm.BlockRows, 3*scqm.BlockRows, at(ones)), "weight of row 1027 is NaN")
}
