package cli

import (
	"slices"

	"github.com/scqm/scqm/internal/dataset"
)

// Named is the path of a file and the flag that gives it. Path is "" if the flag was
// not given.
type Named struct{ Flag, Path string }

// Distinct returns an error if an output file is also an input file, which would be
// overwritten, or if two outputs are the same file.
func Distinct(outputs []Named, inputs ...[]string) error {
	for i, o := range outputs {
		for _, in := range slices.Concat(inputs...) {
			if dataset.SameFile(o.Path, in) {
				return Usagef("%s: %s is what is read, and would be lost; name another file", o.Flag, o.Path)
			}
		}
		for _, other := range outputs[:i] {
			if dataset.SameFile(o.Path, other.Path) {
				return Usagef("%s: %s is written by %s already; name another file", o.Flag, o.Path, other.Flag)
			}
		}
	}
	return nil
}
