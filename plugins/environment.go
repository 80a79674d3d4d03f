package plugins

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// passed names the environment variables that a plugin gets from this process:
// where to find interpreters and temporary folders, and the language.
var passed = []string{"HOME", "LANG", "LC_ALL", "OMP_NUM_THREADS", "TMPDIR", "TZ", "VIRTUAL_ENV"}

// passedLists names those that are lists of folders. Entries that depend on the
// working directory are left out.
var passedLists = []string{"LD_LIBRARY_PATH", "PATH", "PYTHONPATH"}

// safePath keeps Python from importing what lies beside a script.
const safePath = "PYTHONSAFEPATH=1"

// environment is what a plugin gets of that of this process.
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

// absoluteEntries returns the entries of a list of folders such as $PATH that
// name a place by themselves.
func absoluteEntries(list string) string {
	kept := slices.DeleteFunc(filepath.SplitList(list), func(entry string) bool { return !filepath.IsAbs(entry) })
	return strings.Join(kept, string(filepath.ListSeparator))
}
