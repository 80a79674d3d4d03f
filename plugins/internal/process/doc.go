// Package process runs a plugin in its own process, and can kill it together with all
// its descendants.
package process
