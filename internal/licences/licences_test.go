package licences

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the texts and modules.json anew")

// The modules that the go command links, and the texts that they have, are those
// on record.
func TestRecordIsThatOfWhatIsLinked(t *testing.T) {
	found := collect(t)
	if *update {
		write(t, found)
		t.Skip("written; the next run compares")
	}
	recorded, err := Recorded()
	require.NoError(t, err)
	var names []string
	for _, m := range recorded {
		names = append(names, m.Path)
	}
	require.Equal(t, slices.Sorted(maps.Keys(found)), names, "modules that are linked; `make licences` writes them anew")
	for _, m := range recorded {
		want := found[m.Path]
		if m.Path == Std {
			want.Version = runtime.Version()
		}
		if m.Path == Std && m.Version != runtime.Version() {
			t.Logf("not compared: the standard library on record is that of %s, this is %s", m.Version, runtime.Version())
			continue
		}
		assert.Equal(t, want.Module, m, "%s; `make licences` writes it anew", m.Path)
		texts, err := Texts(m)
		require.NoError(t, err)
		got := map[string]string{}
		for _, text := range texts {
			got[text.File] = text.Body
		}
		assert.Equal(t, want.texts, got, "%s; `make licences` writes its texts anew", m.Path)
	}
}

// write replaces what is on record.
func write(t *testing.T, found map[string]*collected) {
	require.NoError(t, os.RemoveAll("extension"))
	require.NoError(t, os.RemoveAll("program"))
	var modules []Module
	for _, name := range slices.Sorted(maps.Keys(found)) {
		m := found[name]
		if name == Std {
			m.Version = runtime.Version()
		}
		modules = append(modules, m.Module)
		dir := filepath.Join(folder(m.Extension), filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(dir, 0o755))
		for file, text := range m.texts {
			require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
		}
	}
	text, err := json.MarshalIndent(modules, "", "  ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("modules.json", append(text, '\n'), 0o644))
}

// A program lists itself, the standard library and its modules, with versions of
// its build; what has no record is named.
func TestLinked(t *testing.T) {
	build := &debug.BuildInfo{GoVersion: "go1.99", Deps: []*debug.Module{
		{Path: "github.com/hashicorp/go-plugin", Version: "v9.9.9"},
		{Path: "example.org/old", Replace: &debug.Module{Path: "example.org/stranger", Version: "v1.0.0"}},
	}}
	modules, err := Linked(build, "0.0.1")
	require.ErrorIs(t, err, ErrUnknown)
	assert.ErrorContains(t, err, "example.org/stranger")
	assert.Equal(t, []Module{
		{Path: Self, Version: "0.0.1", SPDX: "BSD-3-Clause"},
		{Path: Std, Version: "go1.99", SPDX: "BSD-3-Clause", Extension: true},
		{Path: "github.com/hashicorp/go-plugin", Version: "v9.9.9", SPDX: "MPL-2.0", Extension: true},
	}, modules)

	var out strings.Builder
	require.NoError(t, Print(&out, modules))
	assert.Contains(t, out.String(), "v9.9.9")
	assert.Contains(t, out.String(), "Mozilla Public License, version 2.0")
	assert.Contains(t, out.String(), "The SCQM authors")
	assert.Contains(t, out.String(), "Lucent Technologies", "the notice of runtime/memmove")
}

// Modules with equal texts share one.
func TestPrintSharesTexts(t *testing.T) {
	var out strings.Builder
	require.NoError(t, Print(&out, []Module{
		{Path: "golang.org/x/net", Extension: true}, {Path: "golang.org/x/text", Extension: true},
	}))
	assert.Equal(t, 1, strings.Count(out.String(), "Additional IP Rights Grant"))
	assert.Contains(t, out.String(), "# golang.org/x/net : PATENTS\n# golang.org/x/text : PATENTS\n")
}

// Licences that ask more than a notice are refused, and so is what is unknown.
func TestRecognise(t *testing.T) {
	mit, err := Texts(Module{Path: "github.com/mattn/go-isatty", Extension: true})
	require.NoError(t, err)
	id, err := Recognise(mit[0].Body)
	require.NoError(t, err)
	assert.Equal(t, "MIT", id)
	for _, text := range []string{
		"", "All rights reserved.", "GNU GENERAL PUBLIC LICENSE Version 2, June 1991",
		mit[0].Body + "\nLicensed under the Business Source  License 1.1",
		strings.Replace(mit[0].Body, "free of charge", "for a fee", 1),
	} {
		_, err := Recognise(text)
		assert.ErrorIs(t, err, ErrUnknown, text)
	}
}

// The wheel's metadata name the licences of all that it contains, and its files
// have the texts.
func TestWheelNamesItsLicences(t *testing.T) {
	recorded, err := Recorded()
	require.NoError(t, err)
	own := []Module{{Path: Self, SPDX: "BSD-3-Clause"}, {Path: "the digits", SPDX: "MIT"}}
	for _, m := range recorded {
		if m.Extension {
			own = append(own, m)
		}
	}
	project, err := os.ReadFile("../../pyproject.toml")
	require.NoError(t, err)
	match := regexp.MustCompile(`(?m)^license = "(.*)"$`).FindSubmatch(project)
	require.NotNil(t, match)
	assert.Equal(t, Expression(own), string(match[1]))
	assert.Contains(t, string(project), `"internal/licences/extension/**/*"`)
	assert.Contains(t, string(project), `"NOTICE"`)
}

// The Mozilla licence asks to say where the source is: NOTICE does, of every
// module under it, and of the others that ask to be named.
func TestNotice(t *testing.T) {
	text, err := os.ReadFile("../../NOTICE")
	require.NoError(t, err)
	recorded, err := Recorded()
	require.NoError(t, err)
	for _, m := range recorded {
		if slices.Contains([]string{"MPL-2.0", "CC-BY-4.0", "FTL"}, m.SPDX) || strings.Contains(m.SPDX, "OFL") {
			assert.Contains(t, string(text), m.Path+" "+m.Version)
		}
	}
}
