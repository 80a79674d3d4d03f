// Package alternating lowers the objective by majorize-minimize sweeps, first over Tau and then over c, Q and Theta.
// It supports losses of the norm and r'Mr.
package alternating
