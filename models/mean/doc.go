// Package mean computes the mean of rows under a loss, the Frechet mean of Zhai
// and Li (arXiv 2605.20300, section VI),
//
//	c = argmin sum_i w_i loss(c - x_i),
//
// and the response of the mean when rows move or are left out. With squared_l2 it is the mean, with l1 the median of
// every column, with l2 the geometric median, and with huber something between mean and median. User-defined losses
// are possible.
//
// Begin with [Of].
//
// The mean is a [framework.Problem] with one block, so that every solver finds
// it.
package mean
