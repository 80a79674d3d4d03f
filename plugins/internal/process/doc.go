// Package process runs a plugin in a process of its own and ends it with
// everything that it has started.
package process
