// Package python calls functions of the Python interpreter that has loaded this
// library, on the thread that it was called from.
//
// The library is not linked against the interpreter. The interpreter passes the addresses
// of functions of its stable ABI to [Use]. A call acquires the global interpreter lock,
// which the exported function has released, and then releases it. An exception, even
// KeyboardInterrupt, is appended to a list; the caller raises it when the exported function
// has returned. If a function forks, the child process ends when the function returns, with
// status 1 and a message on standard error.
package python

import "errors"

var (
	// ErrRaised reports that a function has raised an exception.
	ErrRaised = errors.New("exception in Python")
	// ErrNoCgo reports that the program was built without cgo.
	ErrNoCgo = errors.New("built without cgo")
)

// API holds the addresses of functions of the stable ABI of CPython.
type API struct {
	Ensure    uint64 `json:"PyGILState_Ensure"`
	Release   uint64 `json:"PyGILState_Release"`
	Call      uint64 `json:"PyObject_CallObject"`
	AsDouble  uint64 `json:"PyFloat_AsDouble"`
	Occurred  uint64 `json:"PyErr_Occurred"`
	Fetch     uint64 `json:"PyErr_Fetch"`
	Normalize uint64 `json:"PyErr_NormalizeException"`
	SetTrace  uint64 `json:"PyException_SetTraceback"`
	Append    uint64 `json:"PyList_Append"`
	Clear     uint64 `json:"PyErr_Clear"`
	DecRef    uint64 `json:"Py_DecRef"`
}

// Function is a Python callable that takes no arguments.
type Function struct {
	// Object is the address of the callable. Raised is the address of the list to which an
	// exception is appended. The caller keeps references to both.
	Object, Raised uint64
}
