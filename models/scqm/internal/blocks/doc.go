// Package blocks computes the sums of a fit over rows that need not be in memory: rows
// are cut into blocks of a fixed number, each block gives sums of its rows at a sheet,
// and the sums of blocks are added up along a fixed binary tree. The result depends
// on the rows and the sheet alone: not on who summed which blocks, nor where, nor how
// often.
package blocks
