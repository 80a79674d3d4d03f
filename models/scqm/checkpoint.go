package scqm

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
)

// ErrLocked is matched by the error for a checkpoint that another process uses.
// It matches ErrInput.
var ErrLocked = dataset.ErrLocked

// CheckpointFile is a file in which a running fit stores its state, so that it can be resumed after any
// interruption. No other process can open it as a checkpoint meanwhile.
type CheckpointFile struct {
	path   string
	lock   *dataset.Lock
	stored *os.File // nil: there is none
}

// OpenCheckpoint locks the checkpoint at path until Close, or until the process ends in whatever way. The lock
// is an advisory one of the file path + ".lock". A file that exists at path is resumed from.
//
// The error matches [ErrLocked] where another process has the lock.
func OpenCheckpoint(path string) (*CheckpointFile, error) {
	lock, err := dataset.LockFile(path)
	if errors.Is(err, dataset.ErrInput) {
		err = fmt.Errorf("%w: %w", err, ErrInput)
	}
	if err != nil {
		return nil, err
	}
	f := &CheckpointFile{path: path, lock: lock}
	f.stored, err = os.Open(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		lock.Close()
		return nil, fmt.Errorf("%s: %w: %w", path, errors.Unwrap(err), ErrInput)
	}
	return f, nil
}

// Stored reports whether the file holds a fit to resume.
func (f *CheckpointFile) Stored() bool { return f.stored != nil }

// Locked reports whether the file is locked against other fits. It is false where the file system has no locks:
// there two fits with the same file overwrite each other's.
func (f *CheckpointFile) Locked() bool { return f.lock.Held() }

// Checkpoint returns the framework.Options field for one run. The least time between two stores is that of
// framework.Checkpoint. The file is replaced atomically.
func (f *CheckpointFile) Checkpoint(every time.Duration) *framework.Checkpoint {
	c := &framework.Checkpoint{Every: every, Store: f.store}
	if f.stored != nil {
		c.Stored = f.stored
	}
	return c
}

func (f *CheckpointFile) store(write func(io.Writer) error) error {
	f.forget() // an open file cannot be replaced everywhere
	return dataset.WriteFileAtomic(f.path, write)
}

// forget closes the stored fit, which has been read.
func (f *CheckpointFile) forget() {
	if f.stored != nil {
		f.stored.Close()
		f.stored = nil
	}
}

// Close releases the lock. The file stays.
func (f *CheckpointFile) Close() error {
	f.forget()
	return f.lock.Close()
}
