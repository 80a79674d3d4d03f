// Package plugins runs losses in processes of their own, written in any
// language, and serves losses written in Go to other programs.
//
// Begin with [Serve] to write a plugin, and with [Open] to use one.
//
// [Open] starts a plugin and returns it; [Plugin.Loss] is a framework.Loss that
// implements exactly the optional interfaces that the plugin declares. Whatever
// the plugin does, calls return by their deadline with an [Error] that carries
// the plugin's last words, and [Plugin.Close] leaves no process, socket or file
// behind.
//
// On Linux, a program whose main function begins with [Guard] is run once more by Open, as a guard that ends
// the plugin with everything that it has started. A program that only imports this package is not changed by it.
//
// A plugin in Go is a program whose main function calls [Serve] with a
// framework.Loss. docs/plugin-protocol.md specifies the protocol for other
// languages.
//
// Start, handshake and negotiation are those of
// github.com/hashicorp/go-plugin.
package plugins
