// Package alternating lowers the objective over Tau and then over c, Q and Theta:
// majorise-minimise sweeps for losses of the norm and for r'Mr.
package alternating
