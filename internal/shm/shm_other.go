//go:build !linux

package shm

// Create is not supported here.
func Create(int) (*Segment, error) { return nil, ErrUnsupported }

// Open is not supported here.
func Open(string, int) (*Segment, error) { return nil, ErrUnsupported }

// Path is empty.
func (s *Segment) Path() string { return "" }

// Release does nothing.
func (s *Segment) Release() error { return nil }

// Close does nothing.
func (s *Segment) Close() error { return nil }
