// Package protocol is protocol v1 between SCQM and a loss plugin, generated
// from loss.proto by make proto: for hosts and plugins in Go that speak it themselves.
// Begin with [NewLossClient] or [RegisterLossServer]. docs/plugin-protocol.md says what must hold.
//
// Hosts of losses begin with plugins.Open, and losses with plugins.Serve.
package protocol
