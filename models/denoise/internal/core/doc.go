// Package core has what all methods of package denoise share: the cloud that they are fitted to, the neighbourhoods of
// rows, and the work that denoises row by row.
package core
