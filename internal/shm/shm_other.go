//go:build !linux

package shm

// Create returns ErrUnsupported.
func Create(int) (*Segment, error) { return nil, ErrUnsupported }

// Open returns ErrUnsupported.
func Open(string, int) (*Segment, error) { return nil, ErrUnsupported }

// Path returns "".
func (s *Segment) Path() string { return "" }

// Release does nothing.
func (s *Segment) Release() error { return nil }

// Close does nothing.
func (s *Segment) Close() error { return nil }
