//go:build !cgo

package python

// Use returns [ErrNoCgo].
func Use(API) error { return ErrNoCgo }

// Call returns [ErrNoCgo].
func (Function) Call() error { return ErrNoCgo }

// Number returns [ErrNoCgo].
func (Function) Number() (float64, error) { return 0, ErrNoCgo }
