// Package bindings is what the Python module is made of: one flat package of
// functions that gopy exports.
//
// # Conventions
//
// Results and arguments are numbers and strings. Settings travel as JSON.
// Arrays travel as the address of their first number, in JSON with their shape; the
// caller keeps them alive, C-contiguous and unchanged until the call returns
// or, where a job was started, until the job is released. Go writes to an
// address only where a parameter is named as a destination.
//
// # Jobs
//
// Whatever may take long is a job: [Start] begins it under a number of
// the caller's choice, which no other job has, and returns at once; small work,
// which surely takes no more than milliseconds, is done by then. The caller
// knows the number even where an interrupt keeps it from seeing the return.
// [Wait] waits a short while for news, [Cancel] asks it to end, [Report] and
// [Fetch] have what it has made, and [Release] forgets it. A job that is done
// may be kept, where others use what it has made. Between two calls of Wait the
// interpreter is free to handle signals and to show progress.
//
// What a job does is a function of this package that reads settings and arrays,
// and returns the work; the table of them is acts.
//
// # Questions
//
// Jobs never call into Python. Where one needs Python, to evaluate a loss or
// to run a solver written there, Wait returns [Asked]; the caller fetches the
// arguments, computes and answers, and waits again.
//
// # Functions
//
// [Minimize] and [CheckProblem] are no jobs: they work on the thread that has
// called, and call functions in Python there.
//
// # Errors
//
// The text of an error is its kind, a colon and what happened:
//
//	input       data or settings that cannot be used
//	file        a file that cannot be read or written
//	memory      there is not enough memory for it
//	nonfinite   a loss or gradient that is NaN or infinite
//	plugin      a plugin that crashes, hangs or gives wrong answers
//	stopped     a budget is used up
//	cancelled   the job was cancelled
//	job         no job has this number, or it is not in this state
//	panic       a fault of this library
//	failed      anything else
//
// A panic ends the call or job it happens in and nothing else.
package bindings
