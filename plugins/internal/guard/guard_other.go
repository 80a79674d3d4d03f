//go:build !linux

package guard

import "os"

// Guard is not available on this system.
type Guard struct{}

// Run does nothing.
func Run() {}

// Start returns [ErrUnavailable].
func Start(Program) (*Guard, error) { return nil, ErrUnavailable }

// Seal returns [ErrUnavailable].
func Seal(string, []byte) (*os.File, error) { return nil, ErrUnavailable }

// Pid returns 0.
func (*Guard) Pid() int { return 0 }

// End does nothing.
func (*Guard) End() {}

// Wait returns at once.
func (*Guard) Wait() Ending { return Ending{Unknown: true} }
