package plugins

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tree makes folders, files and links below a folder, in the order given.
type tree struct {
	t      *testing.T
	folder string
}

func (r tree) path(name string) string { return filepath.Join(r.folder, name) }

func (r tree) dir(name string, mode os.FileMode) string {
	r.t.Helper()
	require.NoError(r.t, os.MkdirAll(r.path(name), 0o755))
	require.NoError(r.t, os.Chmod(r.path(name), mode))
	return r.path(name)
}

func (r tree) plugin(name string) string {
	r.t.Helper()
	require.NoError(r.t, os.WriteFile(r.path(name), []byte("#!/bin/sh\n"), 0o755))
	return r.path(name)
}

func (r tree) link(name, target string) string {
	r.t.Helper()
	require.NoError(r.t, os.Symlink(target, r.path(name)))
	return r.path(name)
}

// TestFoldersOnTheWay refuses every place in which others could put another file
// under the name of the plugin.
func TestFoldersOnTheWay(t *testing.T) {
	r := tree{t, t.TempDir()}
	r.dir("good/sub", 0o755)
	good := r.plugin("good/sub/x")
	r.dir("group/sub", 0o755)
	r.plugin("group/sub/x")
	group := r.dir("group", 0o775)
	r.dir("all/sub", 0o755)
	r.plugin("all/sub/x")
	all := r.dir("all", 0o757)
	sticky := r.dir("sticky", 0o777|os.ModeSticky)
	r.dir("sticky/own", 0o755)
	r.plugin("sticky/own/x")
	r.plugin("sticky/x")
	r.plugin("good/two")
	require.NoError(t, os.Link(r.path("good/two"), r.path("sticky/two")))
	linkInSticky := r.link("sticky/link", r.path("good"))
	r.link("good/link", "../good/./sub/")
	r.link("good/absolute", r.path("good/sub"))
	r.link("good/togroup", "../group/sub")
	r.link("good/tolink", linkInSticky+"/sub")
	r.link("good/loop", "loop")
	r.link("good/up", "../../../../../../../../../../../..")
	fromRoot, err := filepath.Rel("/", good)
	require.NoError(t, err)

	for _, c := range []struct{ path, says string }{
		{good, ""},
		{r.path("good/link/x"), ""},
		{r.path("good/absolute/x"), ""},
		{r.path("good/absolute/../sub/x"), ""},
		{r.path("good/up") + "/" + fromRoot, ""},
		{r.path("sticky/own/x"), ""},
		{r.path("sticky/x"), ""},
		{r.path("good/two"), ""},
		{r.path("sticky/two"), "has 2 names, and others may have made this one in " + sticky + "; copy it to a folder of your own"},
		{r.path("group/sub/x"), "its group can replace files in the folder " + group + " (mode 0775); run chmod g-w " + group},
		{r.path("all/sub/x"), "everybody can replace files in the folder " + all + " (mode 0757); run chmod go-w " + all},
		{r.path("good/togroup/x"), "its group can replace files in the folder " + group},
		{linkInSticky + "/sub/x", linkInSticky + " is a symbolic link in " + sticky + ", where others can make links; give the path that it stands for"},
		{r.path("good/tolink/x"), linkInSticky + " is a symbolic link in " + sticky},
		{r.path("good/loop/x"), "there are more than 40 symbolic links on the way"},
		{r.path("good/none/x"), "there is no such file"},
		{r.path("good/sub/x/y"), "is not a folder"},
		{r.path("good/sub"), "is not a regular file"},
		{"/", "is not a regular file"},
	} {
		err := Trusted(c.path)
		if c.says == "" {
			assert.NoError(t, err)
			continue
		}
		assert.ErrorContains(t, err, "plugins: "+c.path+": check: ")
		assert.ErrorContains(t, err, c.says)
	}
}

// TestFoldersOfOthers needs root to make them, who is refused them like any
// other user.
func TestFoldersOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give folders away")
	}
	const other = 12345
	r := tree{t, t.TempDir()}
	r.dir("theirs/sub", 0o755)
	r.plugin("theirs/sub/x")
	theirs := r.path("theirs")
	require.NoError(t, os.Chown(theirs, other, 0))
	r.dir("sticky/sub", 0o755)
	r.plugin("sticky/sub/x")
	sticky := r.dir("sticky", 0o777|os.ModeSticky)
	require.NoError(t, os.Chown(sticky, other, 0))
	r.dir("good/sub", 0o755)
	r.plugin("good/sub/x")
	file := r.plugin("good/x")
	require.NoError(t, os.Chown(file, other, 0))
	link := r.link("good/link", "sub")
	require.NoError(t, os.Lchown(link, other, 0))
	r.link("good/through", theirs+"/sub")
	for path, says := range map[string]string{
		theirs + "/sub/x":        "the folder " + theirs + " belongs to user 12345, who can replace it; copy the plugin to a folder of your own",
		r.path("good/through/x"): "the folder " + theirs + " belongs to user 12345",
		sticky + "/sub/x":        "the folder " + sticky + " belongs to user 12345",
		link + "/x":              "the symbolic link " + link + " belongs to user 12345",
		file:                     "belongs to user 12345; it must belong to you or root",
	} {
		assert.ErrorContains(t, Trusted(path), says)
	}
	assert.NoError(t, Trusted(r.path("good/sub/x")))
}

// TestNamesAreNotPaths looks for plugins in the folders of the user only.
func TestNamesAreNotPaths(t *testing.T) {
	r := tree{t, t.TempDir()}
	r.plugin("scqm-loss-x")
	r.dir("sub", 0o755)
	r.plugin("sub/scqm-loss-x")
	t.Chdir(r.folder)
	t.Setenv("XDG_DATA_HOME", ".")
	t.Setenv("HOME", r.path("home"))
	t.Setenv(PathVariable, ".::sub:"+"./sub")
	assert.Equal(t, []string{r.path("home/.local/share/scqm/plugins")}, Folders())
	_, err := Find("x")
	assert.ErrorIs(t, err, ErrNotFound)
	for _, name := range []string{"", "..", "X", "scqm-loss-x", "x\n", "x\x00", "x y"} {
		_, err := Find(name)
		assert.ErrorIs(t, err, ErrNotFound, name)
		assert.ErrorContains(t, err, "a name is made of", name)
		assert.NotContains(t, err.Error(), "\n")
	}
	t.Setenv(PathVariable, r.path("sub"))
	path, err := Find("x")
	require.NoError(t, err)
	assert.Equal(t, r.path("sub/scqm-loss-x"), path)
}
