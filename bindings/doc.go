// Package bindings contains the functions that gopy exports to the Python module, all in
// one flat package.
//
// # Conventions
//
// Arguments and results are numbers and strings. Settings are passed as JSON. An array is
// passed as the address of its first number; in JSON its shape is added. The caller keeps
// the array alive, C-contiguous and unchanged until the call returns or, if a job was
// started, until the job is released. Go writes to an address only if the parameter is
// described as a destination.
//
// # Jobs
//
// A computation that may take long is a job. [Start] starts it under a unique number
// chosen by the caller and returns at once; a job of a few milliseconds is complete by
// then. The caller knows the number even if an interrupt hides the return of Start.
// [Wait] waits a short time for news, [Cancel] asks the job to end, [Report] and [Fetch]
// return its results, and [Release] removes it. A completed job may be kept if later jobs
// use its results. Between two calls of Wait, the interpreter can handle signals and show
// progress.
//
// The work of a job is returned by a function of this package that reads the settings and
// arrays. The map acts lists these functions.
//
// # Questions
//
// Jobs never call into Python. If a job needs Python, to evaluate a loss or to run a
// solver written in Python, Wait returns [Asked]. The caller then fetches the arguments,
// computes the answer, passes it to the job, and calls Wait again.
//
// # Functions
//
// [Minimize] and [CheckProblem] are not jobs. They run on the calling thread and call
// Python functions on it.
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
// A panic ends only the call or job in which it occurs.
package bindings
