package dataset

import (
	"errors"
	"fmt"
	"os"
	"slices"
)

// Blobs keeps parts of a work in a temporary file: lists of bytes by number, each of which
// can be replaced. The file has no name where the system can do that, so that nothing is
// left however the process ends. It is for one goroutine.
type Blobs struct {
	what string // for messages
	file *os.File
	path string // where the file has a name still
	at   []extent
	end  int64
}

// extent is a place in the file, with room for more than it holds.
type extent struct{ at, length, room int64 }

// NewBlobs makes room for so many lists, all of them empty, in the folder for temporary files.
func NewBlobs(what string, count int) (*Blobs, error) {
	b := &Blobs{what: what, at: make([]extent, count)}
	f, err := os.CreateTemp("", ".scqm-*.parts")
	if err != nil {
		return nil, b.failed(err)
	}
	b.file, b.path = f, f.Name()
	if os.Remove(b.path) == nil {
		b.path = ""
	}
	return b, nil
}

func (b *Blobs) failed(err error) error {
	return fmt.Errorf("%s: the temporary file in %s failed: %w; free some room, or set TMPDIR to a folder that has more", b.what, os.TempDir(), bare(err))
}

// Get returns list k, in dst where there is room for it.
func (b *Blobs) Get(dst []byte, k int) ([]byte, error) {
	list := slices.Grow(dst[:0], int(b.at[k].length))[:b.at[k].length]
	if _, err := b.file.ReadAt(list, b.at[k].at); err != nil {
		return nil, b.failed(err)
	}
	return list, nil
}

// Put replaces list k.
func (b *Blobs) Put(k int, list []byte) error {
	e := b.at[k]
	if int64(len(list)) > e.room {
		// With room to grow, as parts that are worked on do.
		e = extent{at: b.end, room: int64(len(list)) + int64(len(list))/8}
		b.end += e.room
	}
	e.length = int64(len(list))
	if _, err := b.file.WriteAt(list, e.at); err != nil {
		return b.failed(err)
	}
	b.at[k] = e
	return nil
}

// Append adds to the end of list k.
func (b *Blobs) Append(k int, more []byte) error {
	e := b.at[k]
	if e.length+int64(len(more)) <= e.room {
		if _, err := b.file.WriteAt(more, e.at+e.length); err != nil {
			return b.failed(err)
		}
		b.at[k].length += int64(len(more))
		return nil
	}
	list, err := b.Get(nil, k)
	if err != nil {
		return err
	}
	list = append(list, more...)
	grown := extent{at: b.end, length: int64(len(list)), room: 2 * int64(len(list))}
	b.end += grown.room
	if _, err := b.file.WriteAt(list, grown.at); err != nil {
		return b.failed(err)
	}
	b.at[k] = grown
	return nil
}

// Close removes the file.
func (b *Blobs) Close() error {
	err := b.file.Close()
	if b.path != "" {
		err = errors.Join(err, os.Remove(b.path))
	}
	return err
}
