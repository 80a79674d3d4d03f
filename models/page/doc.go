// Package page writes a fit and its rows as one HTML file that needs no network.
// Begin with [Write].
package page
