package dataset

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadLabels(t *testing.T) {
	for content, want := range map[string][]string{
		"4\n9\n4\n":             {"4", "9", "4"},
		"digit\n4\n9\n":         {"4", "9"},
		"Class\ncat\ndog\n":     {"cat", "dog"},
		"cat\ndog\n\ncat\r\n":   {"cat", "dog", "cat"},
		"cat\n":                 {"cat"},
		"\ufeff4.0\n1e2\n007\n": {"4", "100", "007"},
		"\"a, b\"\n0.5\nNA":     {"a, b", "0.5", "NA"},
	} {
		for _, name := range []string{"y.txt", "y.csv", "y.tsv"} {
			got, err := ReadLabels(file(t, name, []byte(content)))
			require.NoError(t, err, "%q", content)
			if content[0] != '"' || name != "y.tsv" {
				assert.Equal(t, want, got, "%q", content)
			}
		}
	}
	got, err := ReadLabels("testdata/numpy/labels.npy")
	require.NoError(t, err)
	assert.Equal(t, []string{"4", "9", "4", "2"}, got)
	got, err = ReadLabels(file(t, "y.npy", npy(t, []int{3}, 1e15, -0.5, 1e20)))
	require.NoError(t, err)
	assert.Equal(t, []string{"1000000000000000", "-0.5", "1e+20"}, got)
}

func TestReadLabelsRefuses(t *testing.T) {
	for _, c := range []struct {
		name, content string
		kind          error
		part          string
	}{
		{"y.txt", "", ErrShape, "y.txt: holds no labels"},
		{"y.csv", "label\n", ErrShape, "y.csv: holds no labels"},
		{"y.csv", "1,2\n", ErrShape, "y.csv:1:1: 2 fields; labels are one to a line"},
		{"y.csv", "a\n\"\"\n", ErrFormat, "y.csv:2:1: the label is empty"},
		{"y.dat", "a\n", ErrFormat, "y.dat: unknown format"},
		{"y.npy", string(npy(t, []int{1, 2}, 1, 2)), ErrShape, "y.npy: shape (1, 2) is not a list of labels"},
		{"y.npy", string(npy(t, []int{0})), ErrShape, "y.npy: holds no labels"},
		{"y.npy", string(npy(t, []int{2}, 1, math.NaN())), ErrNonFinite, "y.npy: label 1 is NaN"},
		{"y.idx", string(images), ErrShape, "y.idx: shape (2, 6)"},
	} {
		_, err := ReadLabels(file(t, c.name, []byte(c.content)))
		refused(t, err, c.kind, c.part)
	}
}
