// Package licences lists the licence of every module that is linked into a program of this
// repository, and embeds the licence texts.
//
// The texts are copies of files of the modules. Folder extension holds those of modules
// linked into the Python module; folder program holds those of modules that only the
// command line program links. modules.json lists modules with versions and SPDX
// expressions. `make licences` writes these files, and tests compare them with what the go
// command links.
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

// Self and Std are the names in the list of this module and of the Go standard library
// with its runtime.
const (
	Self = "github.com/scqm/scqm"
	Std  = "std"
)

// ErrUnknown says that a linked module has no recorded licence.
var ErrUnknown = errors.New("no licence is recorded")

//go:embed modules.json extension program
var files embed.FS

// Module is a Go module that is linked into a program.
type Module struct {
	// Path is the module path, or Self or Std.
	Path string `json:"path"`
	// Version is the version in go.mod. For Std it is that of Go, for Self that of scqm.
	Version string `json:"version,omitempty"`
	// SPDX is the SPDX licence expression.
	SPDX string `json:"spdx"`
	// Extension reports whether the Python module links it too.
	Extension bool `json:"extension"`
}

// Text is a licence, notice or patent grant, with its origin.
type Text struct {
	// File is the name of the file within the module.
	File string
	Body string
}

// Recorded returns all recorded modules, ordered by path.
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

// Linked returns the modules linked into a program, with the versions of its build
// information and the recorded licences. Self, with the given version, and Std come first.
// If modules have no record, it returns the others, and an error that wraps [ErrUnknown]
// and names these.
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

// Texts returns the licence texts of a module, ordered by name.
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

// folder returns the directory of a module's texts. extension says whether the Python module links the module.
func folder(extension bool) string {
	if extension {
		return "extension"
	}
	return "program"
}
