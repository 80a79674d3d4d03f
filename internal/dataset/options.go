package dataset

import "io"

// ReadOptions says which part of a file Read takes, and how. The zero value
// takes everything as it stands.
type ReadOptions struct {
	// Columns to keep, in this order: numbers from 1 and ranges as cut -f takes
	// them ("3", "2-5", "4-"), or names from the header of a CSV or TSV file.
	// What can be a number or a range is never a name. None keeps all columns.
	Columns []string

	// Scale divides unsigned 8-bit values (IDX or NumPy) by 255. It is an error
	// with values of any other type.
	Scale bool

	// Header says whether the first row of a CSV or TSV file holds names; other
	// formats have none, and take HeaderAuto only.
	Header Header

	// Missing accepts entries that are missing, and gives NaN for them: NaN in any
	// format, and in CSV and TSV empty fields and words for "not available". In files
	// of one column no empty line is taken for an empty field.
	Missing bool

	// Labels has one label for each row; nil takes all rows. Of those whose label
	// is in Keep, or of all where that is empty, the First rows of each label are
	// taken, or all where that is 0; see Select.
	Labels, Keep []string
	First        int

	// Stdin is what the path "-" reads, as CSV.
	Stdin io.Reader
}

// Header says whether the first row of a CSV or TSV file holds names.
type Header int

// Whether the first row is a header is told by its cells in the columns asked
// for, or by the caller. Cells that are empty, NaN, infinite or a word for "not
// available" are missing values, and names only beside other names. Numbers,
// such as 0, 1, 2 or years, are values.
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
