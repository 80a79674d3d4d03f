package plugins

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// passed lists the environment variables that a plugin inherits. They say where
// interpreters and temporary folders are, and set the language.
var passed = []string{"HOME", "LANG", "LC_ALL", "OMP_NUM_THREADS", "TMPDIR", "TZ", "VIRTUAL_ENV"}

// passedLists lists the inherited variables whose values are lists of folders. Entries
// that depend on the working directory are omitted.
var passedLists = []string{"LD_LIBRARY_PATH", "PATH", "PYTHONPATH"}

// safePath keeps Python from importing modules from the folder of a script.
const safePath = "PYTHONSAFEPATH=1"

// environment returns safePath and the environment variables of this process that a plugin inherits.
func environment() []string {
	env := []string{safePath}
	for _, name := range passed {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range passedLists {
		if list := absoluteEntries(os.Getenv(name)); list != "" {
			env = append(env, name+"="+list)
		}
	}
	return env
}

// absoluteEntries returns the absolute paths in a list of folders such as $PATH.
func absoluteEntries(list string) string {
	kept := slices.DeleteFunc(filepath.SplitList(list), func(entry string) bool { return !filepath.IsAbs(entry) })
	return strings.Join(kept, string(filepath.ListSeparator))
}
