package memory

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMachineFree(t *testing.T) {
	free, ok := machineFree([]byte("MemTotal:  100 kB\nMemFree: 1 kB\nMemAvailable:   50 kB\nSwapFree: 7 kB\n"))
	assert.True(t, ok)
	assert.Equal(t, int64(57<<10), free)
	_, ok = machineFree(nil)
	assert.False(t, ok)
	_, ok = machineFree([]byte("MemAvailable: many kB\n"))
	assert.False(t, ok)
}

// groups makes a hierarchy of files.
func groups(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

// All groups on the way up count, and caches of files do not.
func TestControlGroupsOfVersion2(t *testing.T) {
	dir := groups(t, map[string]string{
		"a/memory.max": "1073741824\n", "a/memory.current": "524288000\n", "a/memory.stat": "anon 5\ninactive_file 104857600\nactive_file 104857600\n",
		"a/b/memory.max": "max\n", "a/b/memory.current": "1\n",
		"a/b/c/memory.max": "2147483648\n", "a/b/c/memory.current": "0\n",
	})
	mounts := "30 23 0:26 / " + dir + " rw,nosuid shared:9 - cgroup2 cgroup2 rw\n"
	list := controlGroups(usage{idle: 7}, []byte("0::/a/b/c\n"), []byte(mounts))
	require.Len(t, list, 2)
	assert.Equal(t, "the limit of the control group "+filepath.Join(dir, "a/b/c"), list[0].Name)
	assert.Equal(t, int64(2147483648-reserveMachine+7), list[0].Free)
	assert.Equal(t, int64(1073741824-(524288000-209715200)-reserveMachine+7), list[1].Free)
}

func TestControlGroupsOfVersion1(t *testing.T) {
	dir := groups(t, map[string]string{
		"memory.limit_in_bytes": "9223372036854771712\n", "memory.usage_in_bytes": "0\n",
		"x/memory.limit_in_bytes": "104857600\n", "x/memory.usage_in_bytes": "52428800\n", "x/memory.stat": "inactive_file 1\ntotal_inactive_file 10485760\n",
	})
	mounts := "40 32 0:36 / " + dir + " rw - cgroup cgroup rw,memory\n41 32 0:37 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
	list := controlGroups(usage{}, []byte("5:cpu:/y\n4:cpuacct,memory:/x\n0::/\n"), []byte(mounts))
	require.Len(t, list, 1)
	assert.Equal(t, int64(104857600-41943040-reserveMachine), list[0].Free)

	// In a container the path is that of the host, and the mount begins at the group.
	mounts = "40 32 0:36 /docker/id " + filepath.Join(dir, "x") + " rw - cgroup cgroup rw,memory\n"
	for _, path := range []string{"/docker/id", "/elsewhere"} {
		assert.Len(t, controlGroups(usage{}, []byte("4:memory:"+path+"\n"), []byte(mounts)), 1, path)
	}
}

func TestLinesThatAreNotMounts(t *testing.T) {
	assert.Empty(t, controlGroups(usage{}, []byte("0::/\nnonsense\n"), []byte("\n1 2 3\n1 2 3 4 5 - cgroup2\n- - -\n")))
}
