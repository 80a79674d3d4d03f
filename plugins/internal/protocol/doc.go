// Package protocol is protocol v1 between SCQM and a loss plugin, generated
// from loss.proto by make proto.
package protocol
