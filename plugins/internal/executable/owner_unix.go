//go:build unix

package executable

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
	if owner := ownerOf(info); !trustedOwner(owner) {
		return untrusted(path, "belongs to user %d; it must belong to you or root", owner)
	}
	return nil
}

// judgeOwner refuses something on the way to a file that belongs to others.
func judgeOwner(path, what string, info fs.FileInfo) error {
	if owner := ownerOf(info); !trustedOwner(owner) {
		return untrusted(path, "%s belongs to user %d, who can replace it; copy the plugin to a folder of your own", what, owner)
	}
	return nil
}

func ownerOf(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

// trustedOwner reports whether a user is this one or root.
func trustedOwner(user int) bool { return user == 0 || user == os.Geteuid() }

// names is the number of names of a file.
func names(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Nlink) }
