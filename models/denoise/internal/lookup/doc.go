// Package lookup finds the nearest rows of a cloud: exactly, with ties in favour of the row that comes first, and to the same bits
// by a scan, a tree and a copy of the rows near by.
package lookup
