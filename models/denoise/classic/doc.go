// Package classic has the methods that package denoise is compared with in the literature: each fits a surface to the
// neighbours of a row, with settings that users choose.
//
// Begin with [MLS], and hand it to denoise.Fit.
package classic
