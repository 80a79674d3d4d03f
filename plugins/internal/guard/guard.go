package guard

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
)

// ErrUnavailable means that no guard can run on this system. No process was started.
var ErrUnavailable = errors.New("no guard can run here")

// Trap, if set, is called instead of starting a program for a plugin. The start fails
// with the error of Trap. Tests set it to check that nothing is started.
var Trap atomic.Pointer[func(path string) error]

// Trapped calls Trap and returns its error. It returns nil if Trap is not set.
func Trapped(path string) error {
	if trap := Trap.Load(); trap != nil {
		return (*trap)(path)
	}
	return nil
}

// Program describes the program that a guard starts.
type Program struct {
	// Path is the path of the executable. Args are its arguments; the first is the program
	// name that it sees. Env is its environment.
	Path      string
	Args, Env []string
	// Dir is the working directory. The guard removes it and its content at the end.
	Dir string
	// File becomes file descriptor 3 of the program. Stdout and Stderr receive its output.
	File, Stdout, Stderr *os.File
}

// Ending describes how a program ended.
type Ending struct {
	// Status is the exit status as wait(2) returns it.
	Status syscall.WaitStatus
	// Unknown is true if the guard was killed before it could report the status. The
	// program was then killed too.
	Unknown bool
	// Ordered is true if the host called End before it learned that the program had ended.
	Ordered bool
}

// executable is the path set by SetExecutable.
var executable atomic.Pointer[string]

// serves is true if the main function of this program calls Run.
var serves atomic.Bool

// SetExecutable sets the path of the program that runs guards. "" means the executable
// of this process.
func SetExecutable(path string) { executable.Store(&path) }
