// Package classic has the methods that package denoise is compared with in the literature: each fits a surface to the
// neighbours of a row, with settings that users choose.
package classic
