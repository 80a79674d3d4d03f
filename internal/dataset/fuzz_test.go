package dataset

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The fuzz targets hold the readers to three promises on any input: an error is
// one line and the user's to mend; memory is bounded by the bytes given; and what
// is accepted reads back the same after it was written.

func checkRefusal(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, ErrInput) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("not one line about bad input: %q", err)
	}
}

func equalArrays(a, b Array) bool {
	return slices.Equal(a.Shape, b.Shape) && slices.EqualFunc(a.Data, b.Data, equalBits)
}

func checkRoundTrip(t *testing.T, a Array) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteNPY(&b, a); err != nil {
		t.Fatal(err)
	}
	back, err := readNPYAll(&b, int64(b.Len()))
	if err != nil || !equalArrays(a, back) {
		t.Fatalf("wrote %v, read %v, %v", a, back, err)
	}
}

func FuzzCSV(f *testing.F) {
	f.Fuzz(func(t *testing.T, content []byte, tabs bool) {
		format, comma := formatCSV, byte(',')
		if tabs {
			format, comma = formatTSV, '\t'
		}
		m, err := readCSV(bytes.NewReader(content), "f.csv", format, ReadOptions{})
		if err != nil {
			checkRefusal(t, err)
			return
		}
		if len(m.Data) > len(content) || len(m.Data) != m.Rows*m.Cols || m.Rows == 0 || m.Cols == 0 {
			t.Fatalf("%d bytes gave %d x %d values", len(content), m.Rows, m.Cols)
		}
		var b bytes.Buffer
		if err := writeCSV(&b, m, comma); err != nil {
			t.Fatal(err)
		}
		// Whether it has names is known here; some look like numbers with a slip.
		header := HeaderNo
		if m.Names != nil {
			header = HeaderYes
		}
		back, err := readCSV(bytes.NewReader(b.Bytes()), "f.csv", format, ReadOptions{Header: header})
		if err != nil {
			t.Fatalf("cannot read what was written: %v\n%q", err, b.String())
		}
		if back.Rows != m.Rows || !slices.EqualFunc(back.Data, m.Data, equalBits) || !slices.Equal(back.Names, m.Names) {
			t.Fatalf("%q became %q: %v, %v", content, b.String(), m, back)
		}
	})
}

func FuzzNPY(f *testing.F) {
	f.Fuzz(func(t *testing.T, content []byte) {
		a, err := readNPYAll(bytes.NewReader(content), int64(len(content)))
		streamed, err2 := readNPYAll(bytes.NewReader(content), -1)
		if (err == nil) != (err2 == nil) || !equalArrays(a, streamed) {
			t.Fatalf("the size changes the result: %v, %v", err, err2)
		}
		checkPlaced(t, content, readNPYLayout, a, err)
		if err != nil {
			checkRefusal(t, err)
			checkRefusal(t, err2)
			return
		}
		if len(a.Data) > len(content) {
			t.Fatalf("%d bytes gave %d values", len(content), len(a.Data))
		}
		checkRoundTrip(t, a)
	})
}

// checkPlaced compares an array that was read with the table at its place.
func checkPlaced(t *testing.T, content []byte, read func(io.Reader, int64) (arrayLayout, error), want Array, wanted error) {
	t.Helper()
	r := bytes.NewReader(content)
	l, err := read(r, int64(len(content)))
	c := contents{arrayLayout: l, at: bytes.NewReader(content), offset: l.header, stream: r}
	if err == nil {
		err = c.check(2)
	}
	if err != nil {
		checkRefusal(t, err)
		if wanted == nil && len(want.Shape) == 2 && len(want.Data) > 0 {
			t.Fatalf("refused in place: %v", err)
		}
		return
	}
	if wanted != nil {
		t.Fatalf("read in place, refused otherwise: %v", wanted)
	}
	placed, err := c.table(nil)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float64, len(want.Data))
	if err := placed.read(t.Context(), got, 0, nil, nil); err != nil || !slices.EqualFunc(got, want.Data, equalBits) {
		t.Fatalf("in place %v, %v; otherwise %v", got, err, want.Data)
	}
}

func FuzzIDX(f *testing.F) {
	f.Fuzz(func(t *testing.T, content []byte) {
		a, err := readIDX(bytes.NewReader(content), int64(len(content)))
		streamed, err2 := readIDX(bytes.NewReader(content), -1)
		if (err == nil) != (err2 == nil) || !equalArrays(a, streamed) {
			t.Fatalf("the size changes the result: %v, %v", err, err2)
		}
		checkPlaced(t, content, readIDXLayout, a, err)
		if err != nil {
			checkRefusal(t, err)
			checkRefusal(t, err2)
			return
		}
		if len(a.Data) > len(content) || len(a.Shape) > 2 {
			t.Fatalf("%d bytes gave %v", len(content), a.Shape)
		}
		checkRoundTrip(t, a)
	})
}

// fuzzLimit is what FuzzNPZ allows a member to hold.
const fuzzLimit = 1 << 16

// FuzzNPZ takes its input for an archive, and also for an array inside a sound
// one, for few mutations of an archive keep its checksums. Run it with
// -fuzzminimizetime=10x: pooled buffers make its coverage vary, so that shrinking
// an input does not come to an end.
func FuzzNPZ(f *testing.F) {
	f.Fuzz(func(t *testing.T, content []byte) {
		checkMember(t, content, zip.Store)
		checkMember(t, content, zip.Deflate)

		z, err := OpenNPZ(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			checkRefusal(t, err)
			return
		}
		var b bytes.Buffer
		w := NewNPZWriter(&b)
		arrays := map[string]Array{}
		for _, name := range z.Names() {
			if raw, err := z.Raw(name, fuzzLimit); err != nil {
				checkRefusal(t, err)
			} else if len(raw) > fuzzLimit {
				t.Fatalf("%d bytes", len(raw))
			}
			a, err := z.Array(name, fuzzLimit)
			if err != nil {
				checkRefusal(t, err)
				continue
			}
			if len(a.Data) > min(fuzzLimit, 1100*len(content)) { // deflate packs 1032 to 1
				t.Fatalf("%d bytes gave %d values", len(content), len(a.Data))
			}
			if _, twice := arrays[name]; !twice {
				arrays[name] = a
				if err := w.Array(name, a); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		checkArchive(t, b.Bytes(), arrays)
	})
}

// checkMember compares an array in an archive with the same array outside.
func checkMember(t *testing.T, content []byte, method uint16) {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.CreateHeader(&zip.FileHeader{Name: "a.npy", Method: method})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(content)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	want, wantErr := readNPYAll(bytes.NewReader(content), int64(len(content)))
	z, err := OpenNPZ(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	got, err := z.Array("a", maxElements)
	if (err == nil) != (wantErr == nil) || !equalArrays(want, got) {
		t.Fatalf("outside %v, %v; inside %v, %v", want, wantErr, got, err)
	}
	if err != nil {
		checkRefusal(t, err)
	}
}

func checkArchive(t *testing.T, b []byte, want map[string]Array) {
	t.Helper()
	z, err := OpenNPZ(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range want {
		back, err := z.Array(name, fuzzLimit)
		if err != nil || !equalArrays(a, back) {
			t.Fatalf("%q: wrote %v, read %v, %v", name, a, back, err)
		}
	}
}

// FuzzPLY wants files that are read to be written back as they were.
func FuzzPLY(f *testing.F) {
	for _, content := range plyFiles() {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		c, err := parseCloud("a.ply", content, false)
		if err != nil {
			require.ErrorIs(t, err, ErrInput)
			return
		}
		var b bytes.Buffer
		require.NoError(t, c.write(&b, c.Points, nil))
		again, err := parseCloud("a.ply", b.Bytes(), false)
		require.NoError(t, err)
		require.Equal(t, c.Points, again.Points)
	})
}
