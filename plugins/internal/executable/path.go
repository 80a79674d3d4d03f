package executable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is the maximum number of symbolic links in a path, as in the kernel.
const maxLinks = 40

// resolve follows a path from the root. It checks each folder before it looks up the
// next part, so that no other user can replace that part later. It returns the path
// without symbolic links. The last part may be of any type or missing.
func resolve(path string) (string, error) {
	place, err := filepath.Abs(path)
	if err != nil {
		return "", untrusted(path, "%v", err)
	}
	parts := strings.Split(place, string(filepath.Separator))
	folder := parts[0] + string(filepath.Separator)
	parts = parts[1:]
	for links := 0; ; {
		if err := judgeFolder(path, folder); err != nil {
			return "", err
		}
		part := parts[0]
		parts = parts[1:]
		next := filepath.Join(folder, part) // a .. in a link target leads to a checked folder
		if len(parts) == 0 {
			return next, nil
		}
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", notFound(path)
		case err != nil:
			return "", untrusted(path, "%v", err)
		case info.Mode().Type() != fs.ModeSymlink:
			folder = next
			continue
		}
		if links++; links > maxLinks {
			return "", untrusted(path, "there are more than %d symbolic links on the way", maxLinks)
		}
		target, err := followLink(path, folder, next, info)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			folder = filepath.VolumeName(target) + string(filepath.Separator)
			target = target[len(folder):]
		}
		parts = append(strings.Split(target, string(filepath.Separator)), parts...)
	}
}

// followLink returns the target path of a symbolic link in a folder.
func followLink(path, folder, link string, info fs.FileInfo) (string, error) {
	in, err := os.Stat(folder)
	if err == nil && writable(in) {
		return "", untrusted(path, "%s is a symbolic link in %s, where others can make links; give the path that it stands for", link, folder)
	}
	if err == nil {
		err = judgeOwner(path, fmt.Sprintf("the symbolic link %s", link), info)
	}
	if err != nil {
		return "", err
	}
	target, err := os.Readlink(link)
	if err != nil {
		return "", untrusted(path, "%v", err)
	}
	return target, nil
}

// writable reports whether the group or other users can create files in a folder.
func writable(folder fs.FileInfo) bool { return folder.Mode().Perm()&0o022 != 0 }

// judgeFolder returns an error if other users can replace files in a folder. Access
// control lists that let others write show in the group bits.
func judgeFolder(path, folder string) error {
	info, err := os.Stat(folder)
	if err != nil {
		return untrusted(path, "%v", err)
	}
	if !info.IsDir() {
		return untrusted(path, "%s is not a folder", folder)
	}
	if err := judgeOwner(path, "the folder "+folder, info); err != nil {
		return err
	}
	mode := info.Mode()
	switch {
	case mode&fs.ModeSticky != 0:
		return nil
	case mode.Perm()&0o002 != 0:
		return untrusted(path, "everybody can replace files in the folder %s (mode %04o); run chmod go-w %s", folder, mode.Perm(), folder)
	case mode.Perm()&0o020 != 0:
		return untrusted(path, "its group can replace files in the folder %s (mode %04o); run chmod g-w %s", folder, mode.Perm(), folder)
	}
	return nil
}

// judgeName returns an error for a file with several hard links in a folder with the
// sticky bit: another user may have made this link.
func judgeName(path, folder string, file fs.FileInfo) error {
	info, err := os.Stat(folder)
	if err != nil {
		return untrusted(path, "%v", err)
	}
	if writable(info) && names(file) > 1 {
		return untrusted(path, "has %d names, and others may have made this one in %s; copy it to a folder of your own", names(file), folder)
	}
	return nil
}
