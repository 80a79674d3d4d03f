package shm

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Create creates a segment. It has no name in any directory, so the system frees it when
// its processes end. Its memory is reserved. Its size is sealed, because a process that
// shrinks a segment kills the others that access the missing part.
func Create(bytes int) (*Segment, error) {
	if bytes < 1 {
		return nil, fmt.Errorf("shm: a segment of %d bytes", bytes)
	}
	fd, err := unix.MemfdCreate("scqm", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("shm: %w: %w", ErrUnsupported, err)
	}
	data, err := reserve(fd, bytes)
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("shm: %d bytes: %w", bytes, err)
	}
	return &Segment{data: data, fd: fd}, nil
}

func reserve(fd, bytes int) ([]byte, error) {
	if err := unix.Fallocate(fd, 0, 0, int64(bytes)); err != nil {
		return nil, err
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		return nil, err
	}
	return unix.Mmap(fd, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// Path returns a path by which other processes of this user can open the segment, until Release.
func (s *Segment) Path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), s.fd) }

// Release closes the file descriptor, after which no process can open the segment.
// Processes that have mapped it keep it.
func (s *Segment) Release() error {
	if s.fd < 0 {
		return nil
	}
	fd := s.fd
	s.fd = -1
	return unix.Close(fd)
}

// Open maps a segment of bytes bytes that another process created.
func Open(path string, bytes int) (*Segment, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("shm: open %s: %w", path, err)
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return nil, fmt.Errorf("shm: %s: %w", path, err)
	}
	if bytes < 1 || stat.Size != int64(bytes) {
		return nil, fmt.Errorf("shm: %s has %d bytes, want %d", path, stat.Size, bytes)
	}
	data, err := unix.Mmap(fd, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("shm: map %s: %w", path, err)
	}
	return &Segment{data: data, fd: -1}, nil
}

// Close unmaps the segment. Its slices must not be used afterwards.
func (s *Segment) Close() error {
	err := s.Release()
	data := s.data
	s.data = nil
	if unmapped := unix.Munmap(data); err == nil {
		err = unmapped
	}
	return err
}
