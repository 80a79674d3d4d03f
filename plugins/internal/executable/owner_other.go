//go:build !unix

package executable

import (
	"errors"
	"io/fs"
)

var errSystem = errors.New("plugins need a Unix system")

func judgeFile(path string, _ fs.FileInfo) error     { return untrusted(path, "%v", errSystem) }
func judgeOwner(path, _ string, _ fs.FileInfo) error { return untrusted(path, "%v", errSystem) }
func names(fs.FileInfo) int                          { return 1 }
