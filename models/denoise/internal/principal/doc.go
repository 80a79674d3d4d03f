// Package principal finds the principal axes along which wide rows are denoised, and the linear models that are better than
// surfaces for some of them.
package principal
