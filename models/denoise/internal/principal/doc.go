// Package principal finds the principal axes along which rows with many columns are denoised, and linear models,
// which are better than surfaces for some rows.
package principal
