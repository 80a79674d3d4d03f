// Package alternating minimises the objective exactly over some of its blocks at
// a time: majorise-minimise sweeps for losses of the norm, reweighted least
// squares over c and Theta, and Newton's method over the rows of Tau for others.
package alternating
