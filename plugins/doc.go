// Package plugins runs losses as plugins: separate processes, written in any
// language. It also serves losses written in Go to other programs.
//
// Begin with [Serve] to write a plugin, and with [Open] to use one.
//
// [Open] starts a plugin and returns it; [Plugin.Loss] is a framework.Loss that
// implements exactly the optional interfaces that the plugin declares. If the
// plugin fails or hangs, calls return by their deadline. The [Error] contains the
// end of the plugin's standard error. [Plugin.Close] removes all processes,
// sockets and files of the plugin.
//
// On Linux, if the main function of a program begins with [Guard], Open runs the program once more as a guard. The
// guard kills the plugin together with its descendants. Without a call of Guard the program is not run again.
//
// A plugin in Go is a program whose main function calls [Serve] with a
// framework.Loss. docs/plugin-protocol.md specifies the protocol for other
// languages.
//
// The start, the handshake and the negotiation of versions follow
// github.com/hashicorp/go-plugin.
package plugins
