// Package lookup finds the nearest rows of a cloud exactly. Ties are resolved in favour of the row that comes first.
// A scan, a tree and a copy of the nearby rows give bit-identical results.
package lookup
