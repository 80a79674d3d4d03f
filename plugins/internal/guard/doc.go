// Package guard runs a program and kills it together with all its descendants.
//
// A guard is a small process between a host and a program. It is the subreaper of
// the program's descendants: if the parent of a descendant ends, the descendant
// becomes a child of the guard. This holds even if it has its own session, an empty
// environment and no open file. When the program ends, or the host asks for the end
// or ends itself, the guard kills its children until none is left. It then removes
// the working directory and exits.
//
// [Start] runs the guard by executing a program whose main function begins with
// [Run]. This is the program of the host, or one set by [SetExecutable]. A host that is not a Go program, such as the
// Python interpreter, uses the command cmd, which only runs a guard.
//
// Guards exist on Linux only. On other systems Start returns [ErrUnavailable].
package guard
