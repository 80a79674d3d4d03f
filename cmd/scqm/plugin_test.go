package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/scqm"
)

var tukey = sync.OnceValues(func() (string, error) {
	folder, err := newBuiltFolder()
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "scqm-loss-tukey")
	c := exec.Command("go", "build", "-o", path, "../../plugins/examples/tukey")
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return "", err
	}
	return path, os.Chmod(path, 0o755)
})

// withTukey puts the example plugin where it is found, and nothing else.
func withTukey(t *testing.T) (path string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("plugins need a Unix system")
	}
	path, err := tukey()
	require.NoError(t, err)
	t.Setenv("SCQM_PLUGIN_PATH", filepath.Dir(path))
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	return path
}

func TestPluginFit(t *testing.T) {
	path := withTukey(t)
	p := newPlace(t)
	data := p.matrix("data.csv", bowl(60, 4))
	report := fitJSON(t, data, "--plugin", "tukey", "--loss-param", "c=0.5", "-o", p.path("m.npz"), "--max-iter", "30")
	assert.Equal(t, "tukey", report["loss"])
	assert.Equal(t, map[string]any{"c": 0.5}, report["loss_params"])
	recorded := report["plugin"].(map[string]any)
	assert.Equal(t, "1.0", recorded["version"])

	m, err := scqm.Load(p.path("m.npz"))
	require.NoError(t, err)
	assert.Equal(t, recorded["sha256"], m.Meta.Loss.Plugin.SHA256)

	sum := recorded["sha256"].(string)
	succeed(t, "project", p.path("m.npz"), data, "-o", p.path("a.npy"))
	succeed(t, "project", p.path("m.npz"), data, "--plugin", path, "--plugin-sha256", sum, "-o", p.path("b.npy"))
	assert.Equal(t, p.read("a.npy"), p.read("b.npy"))
	succeed(t, "transform", p.path("m.npz"), data, "-o", p.path("t.npy"))

	t.Setenv("SCQM_PLUGIN_PATH", "")
	succeed(t, "reconstruct", p.path("m.npz"), p.path("t.npy"), "-o", p.path("c.npy"))
	r := execute("project", p.path("m.npz"), data, "-o", p.path("d.npy"))
	assert.Equal(t, cli.ExitUsage, r.code)
	assert.Contains(t, r.stderr, "m.npz: its loss is computed by the plugin tukey 1.0 (sha256 ")
	assert.Contains(t, r.stderr, "--plugin: tukey: find: no file scqm-loss-tukey in ")
	assert.NoFileExists(t, p.path("d.npy"))
}

// TestPluginOfAnotherChecksum changes the plugin between fit and transform.
func TestPluginOfAnotherChecksum(t *testing.T) {
	path := withTukey(t)
	p := newPlace(t)
	data := p.matrix("data.csv", bowl(40, 4))
	fitJSON(t, data, "--plugin", "tukey", "-o", p.path("m.npz"), "--max-iter", "5")
	program, err := os.ReadFile(path)
	require.NoError(t, err)
	program = append(program, 0)
	other := p.path("scqm-loss-tukey")
	require.NoError(t, os.WriteFile(other, program, 0o700))
	present := fmt.Sprintf("%x", sha256.Sum256(program))
	t.Setenv("SCQM_PLUGIN_PATH", p.path("."))

	for _, command := range []string{"transform", "project", "influence"} {
		args := []string{command, p.path("m.npz"), data, "-o", p.path("out.npy")}
		r := execute(args...)
		assert.Equal(t, cli.ExitUsage, r.code, r.stderr)
		assert.Contains(t, r.stderr, "m.npz: it was learned with another file of the plugin tukey; if you trust the present one, add --plugin-sha256 with its checksum, or any: --plugin: ")
		assert.Contains(t, r.stderr, other+": check: its SHA-256 is "+present+", not ")
		assert.Equal(t, 1, strings.Count(r.stderr, "\n"))
		assert.NoFileExists(t, p.path("out.npy"))
		r = execute(append(args, "--plugin-sha256", strings.Repeat("0", 64))...)
		assert.Equal(t, cli.ExitUsage, r.code)
		assert.NotContains(t, r.stderr, "learned with another file")
	}
	for _, trusted := range []string{present, strings.ToUpper(present), "any"} {
		succeed(t, "transform", p.path("m.npz"), data, "-o", p.path("out.npy"), "--plugin-sha256", trusted)
	}
	succeed(t, "transform", p.path("m.npz"), data, "-o", p.path("out.npy"), "--plugin", path)
	succeed(t, "fit", data, "--plugin", "tukey", "--plugin-sha256", "any", "-o", p.path("n.npz"), "--max-iter", "2")
}

// TestStrangersModel brings a payload along with a model: beside it, in the
// working directory, and where the model says.
func TestStrangersModel(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.csv", bowl(30, 4))
	succeed(t, "fit", data, "-o", p.path("plain.npz"), "--max-iter", "2")
	m, err := scqm.Load(p.path("plain.npz"))
	require.NoError(t, err)
	script := "#!/bin/sh\ntouch " + p.path("ran") + "\n"
	require.NoError(t, os.Mkdir(p.path("sub"), 0o755))
	require.NoError(t, os.Mkdir(p.path("scqm"), 0o755))
	require.NoError(t, os.Mkdir(p.path("scqm/plugins"), 0o755))
	for _, name := range []string{"x", "scqm-loss-x", "sub/scqm-loss-x", "scqm/plugins/scqm-loss-x"} {
		p.file(name, script)
		require.NoError(t, os.Chmod(p.path(name), 0o755))
	}
	t.Chdir(p.path("sub"))
	t.Setenv("HOME", t.TempDir())
	for _, place := range []string{"", ".", ":", "./", "..", ".:..", "sub"} {
		t.Setenv("SCQM_PLUGIN_PATH", place)
		t.Setenv("XDG_DATA_HOME", place)
		for _, name := range []string{
			"x", "../x", "./x", p.path("x"), p.path("scqm-loss-x"), "/../x", "x\x00", "x\n", "scqm-loss-x", "..", "~/x", "sub/scqm-loss-x",
		} {
			m.Meta.Loss = scqm.LossMeta{Name: name, Plugin: &rowloss.Program{
				Name: name, Version: "1", Params: "{}", SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(script))),
			}}
			require.NoError(t, m.Save(p.path("m.npz")))
			for _, command := range []string{"transform", "project", "influence", "reconstruct"} {
				if command == "reconstruct" && name == "x" {
					continue // needs no loss
				}
				r := execute(command, p.path("m.npz"), data, "-o", p.path("out.npy"))
				assert.Equal(t, cli.ExitUsage, r.code, name)
				assert.True(t, strings.HasPrefix(r.stderr, "scqm: "+command+": "+p.path("m.npz")+": "), r.stderr)
				assert.Equal(t, 1, strings.Count(r.stderr, "\n"), r.stderr)
				want := "meta.json: the plugin of the loss is called "
				if name == "x" {
					want = "its loss is computed by the plugin x 1 (sha256 "
				}
				assert.Contains(t, r.stderr, want)
			}
			require.NoFileExists(t, p.path("ran"), name)
		}
	}
}

func TestPluginRefusals(t *testing.T) {
	path := withTukey(t)
	p := newPlace(t)
	data := p.matrix("data.csv", bowl(30, 4))
	succeed(t, "fit", data, "-o", p.path("plain.npz"), "--max-iter", "2")
	p.file("scqm-loss-open", "#!/bin/sh\n")
	require.NoError(t, os.Chmod(p.path("scqm-loss-open"), 0o777))
	for _, c := range []struct{ args, want string }{
		{"fit " + data + " --plugin tukey --loss l1", "scqm: fit: --loss does nothing beside --plugin; leave it out"},
		{"fit " + data + " --loss-param c=1", "scqm: fit: --loss-param does nothing without --plugin; leave it out"},
		{"fit " + data + " --plugin tukey --loss-param c", "scqm: fit: --loss-param c: want NAME=VALUE, and each name once"},
		{"fit " + data + " --plugin tukey --loss-param c=0", "scqm: fit: --plugin: tukey: configure: c = 0 is not above 0 (norm from which"},
		{"fit " + data + " --plugin tukey --loss-param d=1", `scqm: fit: --plugin: tukey: configure: there is no parameter "d"; there are c`},
		{"fit " + data + " --plugin biweight", "scqm: fit: --plugin: biweight: find: no file scqm-loss-biweight in "},
		{"fit " + data + " --plugin tukey --plugin-sha256 12", `scqm: fit: invalid argument "12" for "--plugin-sha256" flag: want the 64 digits`},
		{"fit " + data + " --plugin tukey --plugin-sha256 " + strings.Repeat("0", 64), "scqm: fit: --plugin: " + path + ": check: its SHA-256 is "},
		{"fit " + data + " --plugin " + p.path("scqm-loss-open"), "scqm: fit: --plugin: " + p.path("scqm-loss-open") + ": check: others can write it (mode 0777); run chmod go-w on it"},
		{"project " + p.path("plain.npz") + " " + data + " --plugin tukey", "scqm: project: " + p.path("plain.npz") + ": --plugin does nothing beside a model whose loss is built in; leave it out"},
		{"plugin check nothing", "scqm: plugin: check: nothing: find: no file scqm-loss-nothing in "},
		{"plugin new Big", `scqm: plugin: new: the name "Big" is not made of`},
		{"plugin new mine --lang perl", `scqm: plugin: new: invalid argument "perl" for "--lang" flag: want one of go, python`},
		{"plugin lst", `scqm: plugin: no command "lst"; did you mean list?; see scqm --help`},
	} {
		r := execute(strings.Fields(c.args)...)
		assert.Equal(t, cli.ExitUsage, r.code, c.args)
		assert.True(t, strings.HasPrefix(r.stderr, c.want), "%s\ngot  %swant %s", c.args, r.stderr, c.want)
		assert.Equal(t, 1, strings.Count(r.stderr, "\n"))
	}
}

func TestPluginListAndCheck(t *testing.T) {
	path := withTukey(t)
	var list []foundPlugin
	require.NoError(t, json.Unmarshal([]byte(succeed(t, "plugin", "list", "--json")), &list))
	assert.Equal(t, []foundPlugin{{"tukey", path, "ready"}}, list)
	assert.Contains(t, succeed(t, "plugin", "list"), "ready")

	var report checkedPlugin
	require.NoError(t, json.Unmarshal([]byte(succeed(t, "plugin", "check", "tukey", "--json", "--loss-param", "c=2")), &report))
	assert.True(t, report.OK)
	assert.Equal(t, "radial", report.Structure)
	assert.Len(t, report.Seconds, 3)
	assert.Contains(t, succeed(t, "plugin", "check", path), "gradient slope")

	t.Setenv("SCQM_PLUGIN_PATH", t.TempDir())
	assert.Contains(t, succeed(t, "plugin", "list"), "no plugins in ")
}

// TestNewGoPlugin builds the plugin of the template and checks it.
func TestNewGoPlugin(t *testing.T) {
	withTukey(t)
	p := newPlace(t)
	assert.Contains(t, succeed(t, "plugin", "new", "mine", "--lang", "go", "-o", p.path(".")), "next: cd ")
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	folder := p.path("scqm-loss-mine")
	sums, err := os.ReadFile("../../go.sum")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "go.sum"), sums, 0o600))
	for _, args := range [][]string{
		{"mod", "edit", "-require=github.com/scqm/scqm@v0.0.0", "-replace=github.com/scqm/scqm=" + root},
		{"build", "-mod=mod", "-o", "scqm-loss-mine"},
	} {
		c := exec.Command("go", args...)
		c.Dir = folder
		c.Env = append(os.Environ(), "GOWORK=off")
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	built := filepath.Join(folder, "scqm-loss-mine")
	require.NoError(t, os.Chmod(built, 0o755))
	assert.Contains(t, succeed(t, "plugin", "check", built), "majorizer")
	again := execute("plugin", "new", "mine", "-o", p.path("."))
	assert.Equal(t, cli.ExitUsage, again.code)
	assert.Contains(t, again.stderr, "file exists")
}
