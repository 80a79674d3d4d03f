package guard

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Seal returns an executable file with the given content. The file is in no folder, and
// nobody can change it.
func Seal(name string, content []byte) (*os.File, error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate(name, flags|unix.MFD_EXEC)
	if err == unix.EINVAL { // before Linux 6.3 every memfd is executable
		fd, err = unix.MemfdCreate(name, flags)
	}
	if err != nil {
		return nil, fmt.Errorf("seal a copy: %w", err)
	}
	writable := os.NewFile(uintptr(fd), name)
	defer writable.Close()
	if _, err := writable.Write(content); err != nil {
		return nil, fmt.Errorf("seal a copy: %w", err)
	}
	const seals = unix.F_SEAL_WRITE | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		return nil, fmt.Errorf("seal a copy: %w", err)
	}
	// A file that is open for writing cannot be executed, so it is opened again for reading.
	return os.Open(fmt.Sprintf("/proc/self/fd/%d", fd))
}
