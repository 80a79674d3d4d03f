// Package lookup finds the nearest rows of a cloud: exactly, with ties in favour of the row that comes first, and to the same bits
// by a scan, a tree, a copy of the rows near by, and an index of a part of the rows that says what it missed.
package lookup
