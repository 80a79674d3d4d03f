//go:build unix

package executable

import (
	"io/fs"
	"os"
	"syscall"
)

// judgeFile returns an error if a file is not executable or if another user owns it or can write it.
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

// judgeOwner returns an error if another user owns path, a part of the way to a file.
func judgeOwner(path, what string, info fs.FileInfo) error {
	if owner := ownerOf(info); !trustedOwner(owner) {
		return untrusted(path, "%s belongs to user %d, who can replace it; copy the plugin to a folder of your own", what, owner)
	}
	return nil
}

func ownerOf(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

// trustedOwner reports whether the user with that ID is the current user or root.
func trustedOwner(user int) bool { return user == 0 || user == os.Geteuid() }

// names returns the number of hard links to a file.
func names(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Nlink) }
