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

// ErrLocked reports that another process uses the checkpoint. It matches ErrInput.
var ErrLocked = dataset.ErrLocked

// CheckpointFile is a file in which a running fit stores its state, so that it can be resumed after an interruption.
// While it is open, no other process can open it as a checkpoint.
type CheckpointFile struct {
	path   string
	lock   *dataset.Lock
	stored *os.File // nil if no fit is stored
}

// OpenCheckpoint locks the checkpoint at path until Close or the end of the process. The lock is an advisory lock of
// the file path + ".lock". If a file exists at path, the fit resumes from it.
//
// The error matches [ErrLocked] if another process holds the lock.
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

// Locked reports whether the file is locked against other fits. It is false on a file system without locks, on which
// two fits with the same file overwrite each other's state.
func (f *CheckpointFile) Locked() bool { return f.lock.Held() }

// Checkpoint returns the framework.Options field for one run. framework.Checkpoint sets the least time between two
// stores. The file is replaced atomically.
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

// forget closes the file of the stored fit.
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
