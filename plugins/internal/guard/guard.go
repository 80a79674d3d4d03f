package guard

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
)

// ErrUnavailable says that no guard can run here. Nothing was started.
var ErrUnavailable = errors.New("no guard can run here")

// Trap, if set, is called in place of starting any program for a plugin, and
// its error is returned: tests of what must start nothing set it.
var Trap atomic.Pointer[func(path string) error]

// Trapped returns the error of the trap, nil where there is none.
func Trapped(path string) error {
	if trap := Trap.Load(); trap != nil {
		return (*trap)(path)
	}
	return nil
}

// Program says what a guard starts.
type Program struct {
	// Path is executed with Args, the first of which is the name that the
	// program sees, and Env.
	Path      string
	Args, Env []string
	// Dir is the working directory. It is removed at the end, with what is in
	// it.
	Dir string
	// File is descriptor 3 of the program; Stdout and Stderr are its output.
	File, Stdout, Stderr *os.File
}

// Ending is how a program ended.
type Ending struct {
	// Status is that of wait(2).
	Status syscall.WaitStatus
	// Unknown says that the guard was killed before it could tell. The program
	// was killed with it.
	Unknown bool
	// Ordered says that the host had asked for the end before it heard of it.
	Ordered bool
}

// executable is the program that SetExecutable names.
var executable atomic.Pointer[string]

// serves says that the main function of this program calls Run.
var serves atomic.Bool

// SetExecutable sets the path of the program that runs guards; "" stands for
// the executable of this process.
func SetExecutable(path string) { executable.Store(&path) }
