// Package guard ends a program together with everything that it has started.
//
// A guard is a small process between a host and a program. It is the subreaper
// of all descendants of the program: one whose parent ends becomes a child of
// the guard, also where it has a session of its own, an empty environment and
// no open file. When the program ends, when the host says so, and when the host
// is gone, the guard kills its children until it has none, removes a folder,
// and ends.
//
// [Start] runs the guard by executing a program whose main function begins with
// [Run]. That is the program of the host itself, or one that [SetExecutable] names: a host that is no Go program, such
// as the interpreter of Python, brings cmd along, which is nothing but a guard.
//
// Linux only; elsewhere Start returns [ErrUnavailable].
package guard
