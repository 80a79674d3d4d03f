package cli

import (
	"slices"

	"github.com/scqm/scqm/internal/dataset"
)

// Named is a file and the flag that names it. Path is "" where the flag was not
// given.
type Named struct{ Flag, Path string }

// Distinct refuses to write what is read, which would be lost, and to write two
// results to one file.
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
