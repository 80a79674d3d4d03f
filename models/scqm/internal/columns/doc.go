// Package columns ends fits under the sum of absolute values in data with more columns than rows. Each column k has unknowns
// of its own, (c_k, Q_k), which a linear system eliminates one column at a time; what is left is a border of Theta, tau and the
// multipliers of Q'Q = I. An end is shown by multipliers |g_ik| <= 1 of the entries.
package columns
