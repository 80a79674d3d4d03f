package framework

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
)

// thisProgram identifies the running program by the version of Go that compiled it and the SHA-256 of its executable
// file. Its results depend on all of this: fused multiplications, order of sums, meaning of a solver's state. If the
// file cannot be read, only the version is known.
var thisProgram = sync.OnceValue(func() string {
	name := fmt.Sprintf("%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	file, err := openExecutable()
	if err != nil {
		return name
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return name
	}
	return fmt.Sprintf("%s, SHA-256 %x", name, h.Sum(nil))
})

// openExecutable opens the running executable. On Linux a newer file may have taken its name.
func openExecutable() (*os.File, error) {
	if file, err := os.Open("/proc/self/exe"); err == nil {
		return file, nil
	}
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}
