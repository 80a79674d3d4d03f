// Package classic has methods from the literature with which package denoise is compared. Each fits a surface to the
// neighbours of a row, with settings that users choose.
//
// Begin with [MLS], and pass it to denoise.Fit.
package classic
