package licences

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is linked into the program, and into what the wheel has: gopyh is imported
// by the code that gopy writes, and the guard lies beside the module.
var (
	programPackages   = []string{Self + "/cmd/scqm"}
	extensionPackages = []string{Self + "/bindings", Self + "/plugins/internal/guard/cmd", "github.com/go-python/gopy/gopyh"}
)

// builds are the settings with which programs and modules are built.
var builds = [][]string{
	{"GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=1"},
	{"GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=1"},
	{"GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0"},
	{"GOOS=darwin", "GOARCH=arm64", "CGO_ENABLED=1"},
	{"GOOS=darwin", "GOARCH=amd64", "CGO_ENABLED=1"},
}

// listed is what go list says about a package.
type listed struct {
	Dir      string
	Root     string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Replace            *struct{ Path, Version string }
	}
	GoFiles, CgoFiles, CFiles, HFiles, SFiles []string
}

// collected is what is found of a module.
type collected struct {
	Module
	root  string
	dirs  map[string]bool   // of packages that are linked
	files map[string]bool   // source files that are linked
	texts map[string]string // by name
}

// collect finds the modules and their texts.
func collect(t *testing.T) map[string]*collected {
	found := map[string]*collected{}
	extension := map[string]bool{}
	for _, environment := range builds {
		for _, p := range list(t, programPackages, environment) {
			add(found, p)
		}
		for _, p := range list(t, extensionPackages, environment) {
			add(found, p)
			extension[name(p)] = true
		}
	}
	for path, m := range found {
		// The licence of this repository is a file of the wheel already.
		m.Extension = extension[path] && path != Self
		require.NoError(t, m.read(), path)
	}
	return found
}

func list(t *testing.T, packages, environment []string) []listed {
	command := exec.Command("go", append([]string{"list", "-deps", "-json=Dir,Root,Standard,Module,GoFiles,CgoFiles,CFiles,HFiles,SFiles"}, packages...)...)
	command.Env = append(os.Environ(), environment...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	require.NoError(t, err, "go list")
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else {
			require.NoError(t, err)
		}
		all = append(all, p)
	}
}

func name(p listed) string {
	if p.Standard {
		return Std
	}
	return p.Module.Path
}

func add(found map[string]*collected, p listed) {
	m := found[name(p)]
	if m == nil {
		m = &collected{Module: Module{Path: name(p)}, root: p.Root, dirs: map[string]bool{}, files: map[string]bool{}, texts: map[string]string{}}
		if p.Module != nil {
			m.Version, m.root = p.Module.Version, p.Module.Dir
		}
		found[m.Path] = m
	}
	m.dirs[p.Dir] = true
	for _, f := range slices.Concat(p.GoFiles, p.CgoFiles, p.CFiles, p.HFiles, p.SFiles) {
		if !filepath.IsAbs(f) {
			f = filepath.Join(p.Dir, f)
		}
		m.files[f] = true
	}
}

var (
	// licenceName matches files that say the licence; each must be recognised.
	licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying)([.-].*)?$`)
	// companionName matches what goes along with one.
	companionName = regexp.MustCompile(`(?i)^(notice|patents)([.-].*)?$`)
)

// companions are files that are called licences and are none by themselves, or
// that stand where no licence is looked for.
var companions = map[string][]string{
	"github.com/ajstarks/svgo":   {"LICENSE-link.txt"}, // points to LICENSE
	"github.com/golang/freetype": {"LICENSE"},          // lets choose: see chosen
	"gonum.org/v1/gonum":         {"THIRD_PARTY_LICENSES/*"},
}

// chosen are licences that stand elsewhere, among others to choose from.
var chosen = map[string]string{"github.com/golang/freetype": "licenses/ftl.txt"}

// read finds the texts of a module, and its licence.
func (m *collected) read() error {
	var spdx []string
	for _, pattern := range companions[m.Path] {
		paths, err := filepath.Glob(filepath.Join(m.root, pattern))
		if err != nil || len(paths) == 0 {
			return fmt.Errorf("%s: %d files: %w", pattern, len(paths), err)
		}
		for _, p := range paths {
			if err := m.take(p); err != nil {
				return err
			}
		}
	}
	licences := m.licenceFiles()
	if c := chosen[m.Path]; c != "" {
		licences = append(licences, filepath.Join(m.root, c))
	}
	for _, p := range licences {
		if err := m.take(p); err != nil {
			return err
		}
		if companionName.MatchString(filepath.Base(p)) {
			continue
		}
		id, err := Recognise(m.texts[m.nameOf(p)])
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		spdx = append(spdx, id)
	}
	if spdx == nil {
		return fmt.Errorf("%s has no licence: %w", m.root, ErrUnknown)
	}
	slices.Sort(spdx)
	m.SPDX = strings.Join(slices.Compact(spdx), " AND ")
	notices, err := m.notices()
	if notices != "" {
		m.texts["NOTICES-IN-SOURCES"] = notices
	}
	return err
}

// licenceFiles lists the licences and what goes along with them, in the folders
// of linked packages and in those above.
func (m *collected) licenceFiles() []string {
	folders := map[string]bool{}
	for dir := range m.dirs {
		for ; strings.HasPrefix(dir, m.root); dir = filepath.Dir(dir) {
			folders[dir] = true
		}
	}
	if m.Path == Std { // the modules that the standard library vendors are of the same authors
		folders = map[string]bool{m.root: true}
	}
	var paths []string
	for dir := range folders {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			p := filepath.Join(dir, e.Name())
			_, taken := m.texts[m.nameOf(p)]
			if !taken && e.Type().IsRegular() && (licenceName.MatchString(e.Name()) || companionName.MatchString(e.Name())) {
				paths = append(paths, p)
			}
		}
	}
	slices.Sort(paths)
	return paths
}

// nameOf is the name under which a file of the module is kept.
func (m *collected) nameOf(file string) string {
	rel, _ := filepath.Rel(m.root, file)
	return strings.ReplaceAll(filepath.ToSlash(rel), "/", "-")
}

func (m *collected) take(file string) error {
	text, err := os.ReadFile(file)
	m.texts[m.nameOf(file)] = tidy(string(text))
	return err
}

// tidy ends lines as the files of this repository do.
func tidy(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		b.WriteString(strings.TrimRight(line, " \t\n\f") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
