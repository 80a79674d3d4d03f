package plugins

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/scqm/scqm/internal/quote"
)

const (
	// Prefix is how the file names of plugins begin; the name of the loss
	// follows.
	Prefix = "scqm-loss-"
	// PathVariable names the environment variable with the folders, separated
	// as in PATH, that are searched first.
	PathVariable = "SCQM_PLUGIN_PATH"
)

// Folders lists the folders in which plugins are looked for: those of
// $SCQM_PLUGIN_PATH, then scqm/plugins in the user's data directory. Only
// absolute paths count: what is found must not depend on the working directory,
// where a file of the same name may have come with a stranger's model.
func Folders() []string {
	var folders []string
	for _, folder := range filepath.SplitList(os.Getenv(PathVariable)) {
		if filepath.IsAbs(folder) {
			folders = append(folders, folder)
		}
	}
	if data := dataFolder(); filepath.IsAbs(data) {
		folders = append(folders, filepath.Join(data, "scqm", "plugins"))
	}
	return folders
}

// dataFolder is where programs of the user keep their data, or nothing where
// the user has no home.
func dataFolder() string {
	home, err := os.UserHomeDir()
	switch {
	case runtime.GOOS == "windows":
		return os.Getenv("LocalAppData")
	case filepath.IsAbs(os.Getenv("XDG_DATA_HOME")):
		return os.Getenv("XDG_DATA_HOME")
	case err != nil:
		return ""
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support")
	default:
		return filepath.Join(home, ".local", "share")
	}
}

// Found is a plugin file.
type Found struct {
	// Name is what follows [Prefix] in the name of the file.
	Name string
	// Path is the file.
	Path string
	// Err says why the file would be refused; nil where it would not.
	Err error
	// Hidden says that a plugin of this name in an earlier folder comes first.
	Hidden bool
}

// List lists the plugins in all folders, in the order in which they are
// searched. Nothing is started.
func List() []Found {
	var list []Found
	seen := map[string]bool{}
	for _, folder := range Folders() {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue // a folder that is not there holds no plugins
		}
		for _, entry := range entries {
			name, ok := nameOf(entry.Name())
			if !ok || entry.IsDir() {
				continue
			}
			path := filepath.Join(folder, entry.Name())
			found := Found{Name: name, Path: path, Err: Trusted(path), Hidden: seen[name]}
			seen[name] = true
			list = append(list, found)
		}
	}
	return list
}

// nameOf returns the name of the loss that a file is to hold.
func nameOf(file string) (string, bool) {
	name, ok := strings.CutPrefix(file, Prefix)
	if runtime.GOOS == "windows" {
		name = strings.TrimSuffix(name, ".exe")
	}
	return name, ok && name != ""
}

// Find returns the file of a plugin: nameOrPath itself where it has a path
// separator, else the first file scqm-loss-NAME in [Folders]. What comes from a
// file or another person must be checked with [IsName] before.
func Find(nameOrPath string) (string, error) {
	if strings.ContainsRune(nameOrPath, filepath.Separator) {
		if _, err := os.Lstat(nameOrPath); err != nil {
			return "", &Error{quote.Name(nameOrPath), "find", ErrNotFound, "there is no such file", ""}
		}
		return nameOrPath, nil
	}
	if !IsName(nameOrPath) {
		return "", &Error{quote.Name(nameOrPath), "find", ErrNotFound,
			"a name is made of a lower case letter and up to 63 lower case letters, digits and _; a path has a /, as in ./scqm-loss-mine", ""}
	}
	var names []string
	for _, found := range List() {
		if found.Name == nameOrPath {
			return found.Path, nil
		}
		names = append(names, found.Name)
	}
	detail := fmt.Sprintf("no file %s%s in %s", Prefix, nameOrPath, cmp.Or(strings.Join(Folders(), " or "), "any folder"))
	if names != nil {
		detail += "; there are " + strings.Join(names, ", ")
	}
	return "", &Error{nameOrPath, "find", ErrNotFound,
		detail + "; give its path, or name its folder in $" + PathVariable, ""}
}
