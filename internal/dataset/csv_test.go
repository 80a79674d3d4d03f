package dataset

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func readText(content string, columns ...string) (*Matrix, error) {
	return readCSV(strings.NewReader(content), "f.csv", formatCSV, ReadOptions{Columns: columns})
}

func writeCSV(w io.Writer, m *Matrix, comma byte) error {
	if err := writeNames(w, m.Names, comma); err != nil {
		return err
	}
	return writeLines(w, m.Data, m.Cols, comma)
}

func TestCSVAccepts(t *testing.T) {
	plain := &Matrix{Rows: 2, Cols: 2, Data: []float64{1, 2, 3, 4}}
	named := &Matrix{Rows: 2, Cols: 2, Data: plain.Data, Names: []string{"a", "b c"}}
	for content, want := range map[string]*Matrix{
		"1,2\n3,4\n":                       plain,
		"1,2\n3,4":                         plain,
		"1,2\r\n3,4\r\n":                   plain,
		"\ufeff1,2\n3,4\n":                 plain,
		"\n\n1,2\n\n3,4\n\n":               plain,
		"# a, b\n\n#;\n1,2\n3,4\n":         plain,
		" 1 ,\t2\n+3, 4.0e0 \n":            plain,
		"\"1\",2\n3,\"4\"\n":               plain,
		"1;2\n3;4\n":                       plain,
		"1\t2\n3\t4\n":                     plain,
		"a,b c\n1,2\n3,4\n":                named,
		"\ufeffa, b c \n1,2\n3,4\n":        named,
		"\ufeff\"a\",\"b\nc\"\n1,2\n3,4\n": named,
		"a;b c\n1;2\n3;4\n":                named,
		"# x,y\na\tb c\n1\t2\n3\t4\n":      named,
		"7\n":                              {1, 1, []float64{7}, nil},
	} {
		got, err := readText(content)
		if assert.NoError(t, err, "%q", content) {
			assert.Equal(t, want, got, "%q", content)
		}
	}
}

func TestCSVRefuses(t *testing.T) {
	for content, c := range map[string]struct {
		kind    error
		message string
	}{
		"":                                {ErrShape, "f.csv: holds no rows"},
		"\n# only\n":                      {ErrShape, "f.csv: holds no rows"},
		"a,b\n":                           {ErrShape, "f.csv: holds a header but no rows"},
		"a,b\n1,2\n3\n":                   {ErrShape, "f.csv:3: 1 fields, expected 2 as in line 1"},
		"#\n1,2\n\n3,4,5,6\n":             {ErrShape, "f.csv:4: 4 fields, expected 2 as in line 2"},
		"1,2\n3,abc\n":                    {ErrFormat, `f.csv:2:2: "abc" is not a number`},
		"a,b\n\"\n\",2\n":                 {ErrNonFinite, "f.csv:2:1: the cell is empty"},
		"1,2\n3,\n":                       {ErrNonFinite, "f.csv:2:2: the cell is empty (missing): fill it in, leave out its row, or ignore what is missing (missing=\"ignore\", --missing ignore)"},
		"1,\n":                            {ErrNonFinite, "f.csv:1:2: the cell is empty"},
		"1,2\nNaN,4\n":                    {ErrNonFinite, `f.csv:2:1: "NaN" is no number (missing): fill it in`},
		"1,nan\n":                         {ErrNonFinite, `f.csv:1:2: "nan"`},
		"1,2\n3,-Infinity\n":              {ErrNonFinite, `f.csv:2:2: "-Infinity"`},
		"1,2\n3,1e999\n":                  {ErrNonFinite, `f.csv:2:2: "1e999"`},
		"1,2\n3,N/A\n":                    {ErrNonFinite, `f.csv:2:2: "N/A"`},
		"1,2\n3,0x1p4\n":                  {ErrFormat, `f.csv:2:2: "0x1p4" is not a number`},
		"1,2\n3,0x_1p4\n":                 {ErrFormat, `"0x_1p4" is not a number`},
		"1,2\n3,1_000\n":                  {ErrFormat, `"1_000" is not a number`},
		"a,b\n#N/A,2\n":                   {ErrNonFinite, `f.csv:2:1: "#N/A" is no number (missing): fill it in`},
		"# x\n#N/A,2\n":                   {ErrNonFinite, `f.csv:2:1: "#N/A"`},
		"a,b\n# 1,2\n":                    {ErrFormat, `f.csv:2:1: "# 1" is not a number; comments stand before the first row`},
		"1,2\n# x\n":                      {ErrShape, "f.csv:2: 1 fields, expected 2 as in line 1; comments stand before the first row"},
		"a,b\r1,2\r":                      {ErrFormat, "f.csv: has lines that end in CR alone"},
		"a;b\n1.234,5;2\n":                {ErrFormat, "leave out the separator of thousands, and write a point for the decimal comma"},
		"a,b\n\"1,234,567\",2\n":          {ErrFormat, "leave out the separator of thousands"},
		"a;b\n1 234;2\n":                  {ErrFormat, "leave out the separator of thousands"},
		"a,b,c\n1,5 2,5\n":                {ErrFormat, "a comma beside blanks is a decimal comma"},
		"a;b\n1,5;2\n":                    {ErrFormat, "decimal comma"},
		"1,2\n\"3,4\n":                    {ErrFormat, "f.csv:"},
		"1,2\n3\"3,4\n":                   {ErrFormat, "f.csv:2: bare \" in non-quoted-field"},
		"1,2\n3,4\x00\n":                  {ErrFormat, "f.csv: is not text"},
		"1,2\n3,a\nb\n":                   {ErrFormat, `f.csv:2:2: "a"`},
		"1,2\n3,\"a\nb\"\n":               {ErrFormat, `f.csv:2:2: "a\nb"`},
		"1\n" + strings.Repeat("x", 1000): {ErrFormat, `f.csv:2:1: "` + strings.Repeat("x", 40) + `"...`},
	} {
		_, err := readText(content)
		refused(t, err, c.kind, c.message)
	}
}

func TestCSVColumns(t *testing.T) {
	iris := "len,wid,kind,wid\n5,3,setosa,0\n6,4,other,1\n"
	for _, c := range []struct {
		content string
		columns []string
		want    *Matrix
	}{
		{iris, []string{"2", "1"}, &Matrix{2, 2, []float64{3, 5, 4, 6}, []string{"wid", "len"}}},
		{iris, []string{"len"}, &Matrix{2, 1, []float64{5, 6}, []string{"len"}}},
		{iris, []string{"4-", " 1-2 "}, &Matrix{2, 3, []float64{0, 5, 3, 1, 6, 4}, []string{"wid", "len", "wid"}}},
		{"5,3,setosa\n6,4,other\n", []string{"1-2"}, &Matrix{2, 2, []float64{5, 3, 6, 4}, nil}},
		{"2,1\n5,6\n", []string{"1"}, &Matrix{2, 1, []float64{2, 5}, nil}},
		{"na,x\n5,6\n", []string{"na"}, &Matrix{1, 1, []float64{5}, []string{"na"}}},
	} {
		got, err := readText(c.content, c.columns...)
		if assert.NoError(t, err, c.columns) {
			assert.Equal(t, c.want, got, c.columns)
		}
	}
	for column, part := range map[string]string{
		"height":               `f.csv: no column "height"; there are "len", "wid", "kind", "wid"`,
		"wid":                  `more than one column is called "wid"`,
		"0":                    "no column 0; there are columns 1 to 4",
		"5":                    "no column 5; there are columns 1 to 4",
		"3-2":                  "no column 3-2",
		"2-9":                  "no column 2-9",
		"":                     `no column ""`,
		"kind":                 `f.csv:2:3: "setosa" is not a number`,
		"99999999999999999999": "no column 99999999999999999999",
	} {
		_, err := readText(iris, column)
		refused(t, err, ErrInput, part)
	}
	_, err := readText(iris, "1", "1-2")
	refused(t, err, ErrInput, "column 1 is asked for twice")
	_, err = readText("1,2\n", "len")
	refused(t, err, ErrInput, `no column "len", for there is no header`)
}

func TestTSVKeepsCommas(t *testing.T) {
	got, err := readCSV(strings.NewReader("a,b\tc\n1\t2\n"), "f.tsv", formatTSV, ReadOptions{})
	require.NoError(t, err)
	assert.Equal(t, &Matrix{1, 2, []float64{1, 2}, []string{"a,b", "c"}}, got)
}

func TestWriteCSV(t *testing.T) {
	m := &Matrix{2, 3, []float64{0.1, -1e-300, 3, 1e21, 123456789, 4}, []string{"#a", "say \"b\", c", "=1+1"}}
	var b bytes.Buffer
	require.NoError(t, writeCSV(&b, m, ','))
	assert.Equal(t, "\"#a\",\"say \"\"b\"\", c\",'=1+1\n0.1,-1e-300,3\n1e+21,123456789,4\n", b.String())
	back, err := readCSV(&b, "f.csv", formatCSV, ReadOptions{})
	require.NoError(t, err)
	assert.Equal(t, m, back)

	b.Reset()
	require.NoError(t, writeCSV(&b, &Matrix{1, 2, []float64{1, 2}, []string{"2020", "2021"}}, ','))
	assert.Equal(t, "1,2\n", b.String(), "names that would read back as a row")
}
