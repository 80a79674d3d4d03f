package dataset

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func readHeader(content string, header Header, columns ...string) (*Matrix, error) {
	return readCSV(strings.NewReader(content), "f.csv", formatCSV, ReadOptions{Header: header, Columns: columns})
}

func TestHeaderIsTold(t *testing.T) {
	for first, want := range map[string][]string{
		"x,y":         {"x", "y"},
		"x1,x2":       {"x1", "x2"},
		"O2,e1":       {"O2", "e1"},
		",x":          {"", "x"}, // an index column of pandas
		"K,Na":        {"K", "Na"},
		"pc.1,pc.2":   {"pc.1", "pc.2"},
		"25th,75th":   {"25th", "75th"},
		"a-1,b+2":     {"a-1", "b+2"},
		"2020,2021":   nil,
		"0,1":         nil,
		"1e5,-.5":     nil,
		"# a comment": nil,
	} {
		m, err := readHeader(first+"\n5,6\n", HeaderAuto)
		if assert.NoError(t, err, first) {
			assert.Equal(t, want, m.Names, first)
		}
	}
}

func TestHeaderIsAskedFor(t *testing.T) {
	for first, part := range map[string]string{
		"0.1,O.2":      `f.csv:1:2: "O.2" is not a number, but column 1 of the same row has "0.1"; correct it, or say whether`,
		"x,0.2":        `f.csv:1:1: "x" is not a number, but column 2 of the same row has "0.2"`,
		"country,2019": `f.csv:1:1: "country"`,
		"O.1,l.2":      `f.csv:1:1: "O.1" is not a number, though it looks like one; correct it, or say whether`,
		"x,1.2.3":      `f.csv:1:2: "1.2.3" is not a number, though`,
		"x,25%":        `f.csv:1:2: "25%"`,
		"NaN,O.2":      `f.csv:1:2: "O.2"`,
		",-O2":         `f.csv:1:2: "-O2"`,
		"0x1p4,7":      `f.csv:1:1: "0x1p4"`,
		"\"1,5\",x":    `f.csv:1:1: "1,5"`,
	} {
		_, err := readHeader(first+"\n5,6\n", HeaderAuto)
		refused(t, err, ErrHeader, part)
	}
	// A missing value is not a name.
	for _, first := range []string{"NA,0.2", ",0.2", "NaN,inf", ",", "null,none"} {
		_, err := readHeader(first+"\n5,6\n", HeaderAuto)
		refused(t, err, ErrNonFinite, "f.csv:1:1")
	}
}

func TestHeaderIsSaid(t *testing.T) {
	m, err := readHeader("2020,2021\n5,6\n", HeaderYes)
	require.NoError(t, err)
	assert.Equal(t, &Matrix{1, 2, []float64{5, 6}, []string{"2020", "2021"}}, m)

	m, err = readHeader("country,2021\n5,6\n", HeaderYes, "2")
	require.NoError(t, err)
	assert.Equal(t, &Matrix{1, 1, []float64{6}, []string{"2021"}}, m)

	m, err = readHeader("a,2021\n5,6\n", HeaderNo, "2")
	require.NoError(t, err)
	assert.Equal(t, &Matrix{2, 1, []float64{2021, 6}, nil}, m)

	_, err = readHeader("0.1,O.2\n5,6\n", HeaderNo)
	refused(t, err, ErrFormat, `f.csv:1:2: "O.2" is not a number`)
	_, err = readHeader("a,b\n5,6\n", HeaderNo, "a")
	refused(t, err, ErrInput, `no column "a", for there is no header`)
	_, err = readHeader("5,6\n", HeaderYes)
	refused(t, err, ErrShape, "holds a header but no rows")
	_, err = Read(file(t, "x.npy", []byte("any")), ReadOptions{Header: HeaderYes})
	refused(t, err, ErrFormat, "a header is for CSV and TSV")
}

// Names are asked for only where they would be used: of the columns that are not
// read, a header may say anything.
func TestHeaderOfOtherColumns(t *testing.T) {
	m, err := readHeader("5,3,setosa\n6,4,other\n", HeaderAuto, "1-2")
	require.NoError(t, err)
	assert.Equal(t, &Matrix{2, 2, []float64{5, 3, 6, 4}, nil}, m)
}

func TestHeaderOfMixedNamesIsWritten(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, writeCSV(&b, &Matrix{1, 2, []float64{1, 2}, []string{"year", "2021"}}, ','))
	assert.Equal(t, "year,2021\n1,2\n", b.String())
}

func TestLabelsWithASlipAreNoHeader(t *testing.T) {
	_, err := readTextLabels(strings.NewReader("1O\n2\n3\n"), "y.csv", formatCSV)
	refused(t, err, ErrHeader, `y.csv:1:1: "1O" is not a number, though it looks like one`)
	labels, err := readTextLabels(strings.NewReader("digit\n2\n3\n"), "y.csv", formatCSV)
	require.NoError(t, err)
	assert.Equal(t, []string{"2", "3"}, labels)
}
