// Package licences knows the licence of every module that a program of this
// repository is linked from, and carries the texts.
//
// The texts are copies of the files of the modules, in two folders: extension
// has those of what is linked into the Python module, program those of what only
// the command line adds. modules.json lists modules with versions and SPDX
// expressions. `make licences` writes all of it; the tests compare it with what
// the go command links.
package licences

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime/debug"
	"slices"
	"strings"
)

// Self and Std are the names under which this module and the standard library
// of Go, with its runtime, are listed.
const (
	Self = "github.com/scqm/scqm"
	Std  = "std"
)

// ErrUnknown says that a program is linked from a module without a record.
var ErrUnknown = errors.New("no licence is recorded")

//go:embed modules.json extension program
var files embed.FS

// Module is a module that is linked into a program.
type Module struct {
	// Path is the path of the module, or Std.
	Path string `json:"path"`
	// Version is that of go.mod; of Std the version of Go, of Self that of scqm.
	Version string `json:"version,omitempty"`
	// SPDX is the licence expression.
	SPDX string `json:"spdx"`
	// Extension says that the Python module is linked from it too.
	Extension bool `json:"extension"`
}

// Text is a licence, a notice or a grant, and where it comes from.
type Text struct {
	// File is its name within the module.
	File string
	Body string
}

// Recorded returns all modules on record, in the order of their paths.
func Recorded() ([]Module, error) {
	text, err := files.ReadFile("modules.json")
	if err != nil {
		return nil, fmt.Errorf("licences: %w", err)
	}
	var modules []Module
	if err := json.Unmarshal(text, &modules); err != nil {
		return nil, fmt.Errorf("licences: modules.json: %w", err)
	}
	return modules, nil
}

// Linked returns the modules that a program was linked from, with the versions
// that its build information names and the licences on record. Self, whose
// version is given, and Std come first. An error that wraps [ErrUnknown] names
// the modules that have no record; those that have one are returned all the same.
func Linked(build *debug.BuildInfo, version string) ([]Module, error) {
	recorded, err := Recorded()
	if err != nil {
		return nil, err
	}
	linked := []Module{{Path: Self, Version: version}, {Path: Std, Version: build.GoVersion}}
	for _, d := range build.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		linked = append(linked, Module{Path: d.Path, Version: d.Version})
	}
	var known []Module
	var unknown []string
	for _, m := range linked {
		k := slices.IndexFunc(recorded, func(r Module) bool { return r.Path == m.Path })
		if k < 0 {
			unknown = append(unknown, m.Path)
			continue
		}
		m.SPDX, m.Extension = recorded[k].SPDX, recorded[k].Extension
		known = append(known, m)
	}
	if unknown != nil {
		err = fmt.Errorf("licences: %s: %w", strings.Join(unknown, ", "), ErrUnknown)
	}
	return known, err
}

// Texts returns the texts that go with a module, in the order of their names.
func Texts(m Module) ([]Text, error) {
	root := path.Join(folder(m.Extension), m.Path)
	entries, err := fs.ReadDir(files, root)
	if err != nil {
		return nil, fmt.Errorf("licences: %s: %w", m.Path, err)
	}
	var texts []Text
	for _, e := range entries {
		if e.IsDir() { // another module, whose path goes on from this one's
			continue
		}
		body, err := files.ReadFile(path.Join(root, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("licences: %s: %w", m.Path, err)
		}
		texts = append(texts, Text{File: e.Name(), Body: string(body)})
	}
	return texts, nil
}

// folder names the directory of the texts of a module; extension says whether the Python module is linked from it.
func folder(extension bool) string {
	if extension {
		return "extension"
	}
	return "program"
}
