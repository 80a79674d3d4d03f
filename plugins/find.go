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
	// Prefix is the start of the file name of every plugin. The name of the loss follows
	// it.
	Prefix = "scqm-loss-"
	// PathVariable is the environment variable that lists the folders to search first,
	// separated as in PATH.
	PathVariable = "SCQM_PLUGIN_PATH"
)

// Folders returns the folders that are searched for plugins: those of
// $SCQM_PLUGIN_PATH, then scqm/plugins in the user's data directory. Relative paths are
// ignored, so that the result does not depend on the working directory. A file there
// may come from a stranger, together with a model.
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

// dataFolder returns the folder for data of the user's programs, or "" if the user has
// no home directory.
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
	// Name is the part of the file name after [Prefix].
	Name string
	// Path is the path of the file.
	Path string
	// Err is the reason why the file would be rejected, or nil.
	Err error
	// Hidden is true if an earlier folder has a plugin of the same name, which is used instead.
	Hidden bool
}

// List returns the plugins in all folders, in search order. It starts none of them.
func List() []Found {
	var list []Found
	seen := map[string]bool{}
	for _, folder := range Folders() {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue // a missing folder has no plugins
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

// nameOf returns the name of the loss in the name of a plugin file.
func nameOf(file string) (string, bool) {
	name, ok := strings.CutPrefix(file, Prefix)
	if runtime.GOOS == "windows" {
		name = strings.TrimSuffix(name, ".exe")
	}
	return name, ok && name != ""
}

// Find returns the path of a plugin. If nameOrPath has a path separator, it is the
// path; else Find takes the first file scqm-loss-NAME in [Folders]. Check names from
// files or other people with [IsName] first.
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
