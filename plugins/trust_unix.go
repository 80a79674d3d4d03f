//go:build unix

package plugins

import (
	"io/fs"
	"os"
	"syscall"
)

// judgeFile refuses a file that is not executable or that belongs to others.
func judgeFile(path string, info fs.FileInfo) error {
	mode := info.Mode().Perm()
	if mode&0o111 == 0 {
		return untrusted(path, "is not executable; run chmod +x on it")
	}
	if mode&0o022 != 0 {
		return untrusted(path, "others can write it (mode %04o); run chmod go-w on it", mode)
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	if owner != 0 && int(owner) != os.Geteuid() {
		return untrusted(path, "belongs to user %d; it must belong to you or root", owner)
	}
	return nil
}
