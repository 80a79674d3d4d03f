package plugins

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func needGuard(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("guards need Linux")
	}
}

// TestGuardOfTestBinaries wants a guard, not its weaker stand-in.
func TestGuardOfTestBinaries(t *testing.T) {
	needGuard(t)
	p := start(t, "builtin:l2", Options{})
	assert.True(t, p.process.HasGuard())
}

// TestGuardProgram runs the guard that libraries bring along, and with it what
// needs a guard most.
func TestGuardProgram(t *testing.T) {
	needGuard(t)
	path := filepath.Join(t.TempDir(), "guard")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", path, "./internal/guard/cmd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	out, err = exec.Command(path).CombinedOutput()
	assert.Error(t, err)
	assert.Equal(t, "scqm starts this program by itself, beside a plugin\n", string(out))

	SetGuard(path)
	defer SetGuard("")
	p := start(t, "builtin:l2", Options{})
	assert.True(t, p.process.HasGuard())
	before := census(t)
	for _, mode := range []string{"hidden grandchild", "forks", "kills its guard", "stops its guard", "exit 3 in call", "ignores the end"} {
		for _, m := range inCall {
			if m.mode == mode {
				m.try(t, Options{}, callDeadline)
			}
		}
	}
	before.sameAs(t)
}

// TestShellInPlaceOfAGuard tries what is left where no guard can run: nothing
// stays that is in the group of the plugin or has its environment.
func TestShellInPlaceOfAGuard(t *testing.T) {
	folder := t.TempDir()
	silent := filepath.Join(folder, "silent")
	require.NoError(t, os.WriteFile(silent, []byte("#!/bin/sh\nexit 0\n"), 0o700))
	defer SetGuard("")
	for _, program := range []string{filepath.Join(folder, "none"), silent, folder} {
		SetGuard(program)
		p := start(t, "builtin:l2", Options{})
		assert.False(t, p.process.HasGuard())
		require.NoError(t, p.Close())
		before := census(t)
		for _, mode := range []string{"grandchild", "grandchild of its own session", "exit 3 in call", "kills itself", "stop in call"} {
			for _, m := range inCall {
				if m.mode == mode {
					m.try(t, Options{}, callDeadline)
				}
			}
		}
		before.sameAs(t)
		p, err := Open(t.Context(), silent, Options{})
		assert.Nil(t, p)
		assert.ErrorContains(t, err, "it ended (exit status 0)")
	}
}

// TestInheritedFiles starts a host with an open pipe: neither guard nor plugin
// may hold it, or its reader would wait for them.
func TestInheritedFiles(t *testing.T) {
	needGuard(t)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	c := exec.Command(self(t))
	c.Env = append(os.Environ(), asPlugin+"=host:builtin:l2", hostMark+"="+mark(t))
	c.ExtraFiles = slices.Repeat([]*os.File{w}, 12) // one of them gets beyond those that a guard has
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	w.Close()
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	pipe, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", r.Fd()))
	require.NoError(t, err)
	var holders []string
	files, err := filepath.Glob("/proc/[0-9]*/fd/*")
	require.NoError(t, err)
	for _, file := range files {
		if link, err := os.Readlink(file); err == nil && link == pipe {
			holders = append(holders, strings.Split(file, "/")[2])
		}
	}
	slices.Sort(holders)
	want := []string{fmt.Sprint(os.Getpid()), fmt.Sprint(c.Process.Pid)}
	slices.Sort(want)
	assert.Equal(t, want, slices.Compact(holders))
	require.NoError(t, c.Process.Kill())
	assert.Error(t, c.Wait())
}

// TestPlaceOfAPlugin is about what a plugin sees: a folder of its own and lists
// without places that depend on it.
func TestPlaceOfAPlugin(t *testing.T) {
	needGuard(t)
	folder := t.TempDir()
	path := filepath.Join(folder, "scqm-loss-x")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho $0 $PWD PATH=$PATH LIB=$LD_LIBRARY_PATH PY=$PYTHONPATH  >&2; exit 3\n"), 0o700))
	t.Setenv("PATH", ".:/usr/bin:/bin::x")
	t.Setenv("LD_LIBRARY_PATH", "lib:")
	t.Setenv("PYTHONPATH", ":/opt:x:/srv:")
	t.Chdir(folder)
	_, err := Open(t.Context(), "./scqm-loss-x", Options{})
	assert.ErrorIs(t, err, ErrStart)
	assert.Regexp(t, `last words: "(/\S*/scqm-plugin-\d+-\d+)/scqm-loss-x /\S*/scqm-plugin-\d+-\d+ PATH=/usr/bin:/bin LIB= PY=/opt:/srv"`, err.Error())
	_, err = Open(t.Context(), path, Options{Args: []string{"a\x00b"}})
	assert.ErrorContains(t, err, "holds a NUL")
}

// TestImportsBesideAPlugin puts a module beside a plugin in Python, and into the
// working directory: neither is imported, also by versions before 3.11, which do
// not know PYTHONSAFEPATH.
func TestImportsBesideAPlugin(t *testing.T) {
	needGuard(t)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3")
	}
	folder, elsewhere := t.TempDir(), t.TempDir()
	path := filepath.Join(folder, "scqm-loss-x")
	script := "#!/usr/bin/env python3\nimport colorsys, sys\nprint(colorsys.__file__, sys.path[0], file=sys.stderr)\nsys.exit(3)\n"
	require.NoError(t, os.WriteFile(path, []byte(script), 0o700))
	for _, place := range []string{folder, elsewhere} {
		require.NoError(t, os.WriteFile(filepath.Join(place, "colorsys.py"), []byte("raise SystemExit(9)\n"), 0o600))
	}
	t.Chdir(elsewhere)
	t.Setenv("PYTHONPATH", ":.:")
	for _, env := range [][]string{nil, {"PYTHONSAFEPATH="}} {
		_, err := Open(t.Context(), path, Options{Env: env, StartTimeout: longest})
		assert.ErrorContains(t, err, "it ended (exit status 3)")
		_, words, _ := strings.Cut(err.Error(), "its last words: ")
		assert.Contains(t, words, "colorsys.py")
		assert.NotContains(t, words, folder)
		assert.NotContains(t, words, elsewhere)
	}
}
