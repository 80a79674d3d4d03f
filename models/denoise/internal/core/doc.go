// Package core has the parts that all methods of package denoise share: the fitted cloud, the neighbourhoods of rows,
// and the loop that denoises row by row.
package core
