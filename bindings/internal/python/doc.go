// Package python calls functions of the Python interpreter that has loaded this
// library, on the thread that it was called from.
//
// The interpreter is not linked: it hands over the addresses of what is needed of
// its stable ABI, see [Use]. A call takes the global interpreter lock, which the
// exported function has released, and gives it back. An exception, KeyboardInterrupt
// included, stays an object: it is appended to a list of the caller's, who raises
// it when the exported function has returned. A child that a function has forked ends
// where the function returns, with status 1 and a line on standard error.
package python

import "errors"

var (
	// ErrRaised says that a function has raised an exception.
	ErrRaised = errors.New("exception in Python")
	// ErrNoCgo says that the program was built without calls into C.
	ErrNoCgo = errors.New("built without cgo")
)

// API has the addresses of functions of the stable ABI of CPython.
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

// Function is a callable without arguments.
type Function struct {
	// Object is the address of the callable, Raised that of the list that gets
	// the exception. The caller keeps references to both.
	Object, Raised uint64
}
