package dataset

import "io"

// ReadOptions says which part of a file Read takes, and how. The zero value
// takes everything as it stands.
type ReadOptions struct {
	// Columns are the columns to keep, in this order. Each is a number from 1, a range as in
	// cut -f ("3", "2-5", "4-"), or a name in the header of a CSV or TSV file. A valid number
	// or range is never read as a name. None keeps all columns.
	Columns []string

	// Scale divides unsigned 8-bit values (IDX or NumPy) by 255. With values of any other type
	// it is an error.
	Scale bool

	// Header says whether the first row of a CSV or TSV file holds names. Other formats only
	// accept HeaderAuto.
	Header Header

	// Missing accepts missing entries and reads them as NaN. In any format NaN is missing; in
	// CSV and TSV also empty fields and words for "not available". In files of one column, an
	// empty line is not a missing entry.
	Missing bool

	// Labels has one label for each row. Read takes the rows whose label is in Keep, all if
	// Keep is empty, and of each label only the First ones, all if First is 0. If Labels is
	// nil, it takes all rows; see Select.
	Labels, Keep []string
	First        int

	// Stdin is the reader for the path "-"; its format is CSV.
	Stdin io.Reader
}

// Header says whether the first row of a CSV or TSV file holds names.
type Header int

// HeaderAuto decides by the cells of the first row in the selected columns; the others say
// it directly. Cells that are empty, NaN, infinite or a word for "not available" are
// missing values, and count as names only beside other names. Numbers, such as 0, 1, 2 or
// years, are values.
//
//	all of them numbers or missing values       not a header
//	none a number, one a name                   a header
//	both numbers and other words                ErrHeader
//	a number with a slip among words: O.1       ErrHeader
//	a column is asked for by its name           a header
const (
	HeaderAuto Header = iota
	HeaderYes
	HeaderNo
)
