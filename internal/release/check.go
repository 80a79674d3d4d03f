package main

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/scqm/scqm/internal/licences"
	"github.com/scqm/scqm/models/scqm"
)

var errProgram = errors.New("not a program to be released")

// processors maps the machine types of ELF and Mach-O to the names of the go command.
var (
	elfProcessors   = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}
	machoProcessors = map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}
)

// folderName matches paths of source files in build folders. Released programs must not
// contain such paths.
var folderName = regexp.MustCompile(`/(home|root|tmp|work|Users|build)/[\w.-]+/[\w./-]*\.(go|s|c|h)\b`)

// check returns a line that describes a program, or the reason why it must not be
// released. A program must be for the system that its build information names, static, and
// without symbols or build folder names. The licence of each of its modules must be
// recorded.
func check(file string) (string, error) {
	build, err := buildinfo.ReadFile(file)
	if err != nil {
		return "", err
	}
	settings := map[string]string{}
	for _, s := range build.Settings {
		settings[s.Key] = s.Value
	}
	wanted := settings["GOOS"] + "/" + settings["GOARCH"]
	var found string
	if settings["GOOS"] == "darwin" {
		found, err = readMachO(file)
	} else {
		found, err = readELF(file)
	}
	if err == nil && found != wanted {
		err = fmt.Errorf("a program for %s, want one for %s: %w", found, wanted, errProgram)
	}
	if err == nil {
		err = checkContents(file, build)
	}
	if err != nil {
		return "", err
	}
	revision := settings["vcs.revision"]
	if settings["vcs.modified"] == "true" {
		revision += ", modified"
	}
	return strings.TrimSpace(fmt.Sprintf("%s: scqm %s, %s, %s, %d modules %s",
		file, scqm.Version, found, build.GoVersion, len(build.Deps), revision)), nil
}

// readELF returns the system of an ELF program, which must be static and without symbols.
func readELF(file string) (string, error) {
	f, err := elf.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if err != nil || len(libraries) > 0 {
		return "", fmt.Errorf("it needs %v, want a static program: %w", libraries, errors.Join(err, errProgram))
	}
	if f.Section(".symtab") != nil || f.Section(".debug_info") != nil {
		return "", fmt.Errorf("it has symbols; build it with -ldflags=-s: %w", errProgram)
	}
	return "linux/" + elfProcessors[f.Machine], nil
}

// readMachO returns the system of a Mach-O program, which must have no debugging sections.
// Programs of macOS are never static.
func readMachO(file string) (string, error) {
	f, err := macho.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if f.Segment("__DWARF") != nil {
		return "", fmt.Errorf("it has debugging sections; build it with -ldflags=-s: %w", errProgram)
	}
	return "darwin/" + machoProcessors[f.Cpu], nil
}

// checkContents returns an error if a program contains build folder names or unknown modules.
func checkContents(file string, build *debug.BuildInfo) error {
	if _, err := licences.Linked(build, scqm.Version); err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if name := folderName.Find(text); name != nil {
		return fmt.Errorf("it names %s; build it with -trimpath: %w", bytes.TrimSpace(name), errProgram)
	}
	return nil
}
