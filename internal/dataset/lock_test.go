//go:build unix

package dataset

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// actor in the environment makes the test binary a process that does something
// with the file of its argument, says so, and waits for its end.
const actor = "SCQM_TEST_DATASET_ACTOR"

func TestMain(m *testing.M) {
	act, path := os.Getenv(actor), os.Args[len(os.Args)-1]
	say := func(err error) {
		fmt.Println(err)
		select {}
	}
	switch act {
	case "":
		os.Exit(m.Run())
	case "lock":
		l, err := LockFile(path)
		say(err)
		_ = l.Close()
	case "write":
		say(WriteFileAtomic(path, func(w io.Writer) error {
			_, err := w.Write(make([]byte, 1<<20))
			say(err)
			return err
		}))
	}
}

// act starts a process that does something with a file, and returns it when it
// has done so.
func act(t *testing.T, what, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), actor+"="+what)
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { kill(cmd) })
	line, err := bufio.NewReader(pipe).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "<nil>\n", line)
	return cmd
}

func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func TestLockKeepsOthersOut(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.ckpt")
	l, err := LockFile(path)
	require.NoError(t, err)
	assert.True(t, l.Held())
	host, err := os.Hostname()
	require.NoError(t, err)
	_, err = LockFile(path)
	refused(t, err, ErrLocked, path+": is in use by", fmt.Sprintf("process %d on %s;", os.Getpid(), host))

	require.NoError(t, os.Symlink("run.ckpt", filepath.Join(dir, "link")))
	_, err = LockFile(filepath.Join(dir, "link"))
	refused(t, err, ErrLocked, "link: is in use by")
	require.NoError(t, WriteFileAtomic(path, put("stored")), "a locked file can be replaced")
	_, err = LockFile(filepath.Join(dir, "link"))
	refused(t, err, ErrLocked)
	require.NoError(t, os.Link(path, filepath.Join(dir, "other")))
	other, err := LockFile(filepath.Join(dir, "other"))
	require.NoError(t, err, "replacing it leaves the first as it is")
	require.NoError(t, other.Close())

	require.NoError(t, l.Close())
	assert.Equal(t, []string{"link", "other", "run.ckpt"}, names(t, dir))
	again, err := LockFile(path)
	require.NoError(t, err)
	require.NoError(t, again.Close())
}

func TestLockEndsWithItsProcess(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.ckpt")
	owner := act(t, "lock", path)
	_, err := LockFile(path)
	refused(t, err, ErrLocked, fmt.Sprintf("process %d on ", owner.Process.Pid))
	kill(owner)
	assert.Equal(t, []string{"run.ckpt.lock"}, names(t, dir))
	l, err := LockFile(path)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	assert.Empty(t, names(t, dir))
}

func TestLockTakesWhatLooksLikeItsOwn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, text := range []string{"", "pro", "\x00\x00\x00", "process 17 on a machine with a longer name\nand more\n"} {
		require.NoError(t, os.WriteFile(path+".lock", []byte(text), 0o400))
		l, err := LockFile(path)
		if text == "pro" {
			refused(t, err, ErrInput, "f.lock for its lock; another file has it")
			continue
		}
		require.NoError(t, err, text)
		require.NoError(t, l.Close())
		require.Empty(t, names(t, dir))
	}
	for _, make := range []func(string) error{
		func(p string) error { return os.Symlink("elsewhere", p) },
		func(p string) error { return syscall.Mkfifo(p, 0o600) },
		func(p string) error { return os.Mkdir(p, 0o700) },
	} {
		require.NoError(t, os.RemoveAll(path+".lock"))
		require.NoError(t, make(path+".lock"))
		_, err := LockFile(path)
		refused(t, err, ErrInput, "f: cannot be locked by "+path+".lock (", "move that away")
	}
	_, err := LockFile(os.DevNull)
	refused(t, err, ErrInput, "is a device or a pipe")
	_, err = LockFile(filepath.Join(dir, "no", "f"))
	refused(t, err, ErrInput, "f.lock (no such file or directory)")
}

// However many take and leave the lock at a time, one has it.
func TestLockIsHadByOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var inside, taken atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 500 {
				l, err := LockFile(path)
				if err != nil {
					assert.ErrorIs(t, err, ErrLocked)
					continue
				}
				assert.Equal(t, int32(1), inside.Add(1))
				taken.Add(1)
				inside.Add(-1)
				assert.NoError(t, l.Close())
			}
		})
	}
	group.Wait()
	assert.Positive(t, taken.Load())
	assert.Empty(t, names(t, filepath.Dir(path)))
}

func TestTemporariesOfDeadProcessesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	mine := ".scqm-0123456789abcdef.tmp"
	others := []string{".scqm-0123456789abcdef.tmp.txt", ".scqm-0123456789ABCDEF.tmp", "x.scqm-0123456789abcdef.tmp"}
	for _, name := range append(others, mine) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o400))
	}
	fifo := ".scqm-00000000000000ff.tmp"
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, fifo), 0o600))

	dead, alive := act(t, "write", filepath.Join(dir, "a")), act(t, "write", filepath.Join(dir, "b"))
	require.Len(t, names(t, dir), len(others)+3, "that without owner is gone")
	require.NoError(t, alive.Process.Signal(syscall.SIGSTOP))
	kill(dead)
	require.NoError(t, WriteFileAtomic(filepath.Join(dir, "c"), put("c")))
	assert.Len(t, names(t, dir), len(others)+3, "that of the killed process is gone, that of the stopped one is not")
	kill(alive)
	require.NoError(t, CheckPlace(filepath.Join(dir, "c")))
	assert.ElementsMatch(t, append(others, fifo, "c"), names(t, dir))
}

// Writers and those that clear do not get in each other's way.
func TestClearingSparesTheLiving(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	for i := range 8 {
		path := filepath.Join(dir, fmt.Sprint(i))
		group.Go(func() {
			for range 100 {
				assert.NoError(t, WriteFileAtomic(path, put(path)))
			}
		})
	}
	group.Wait()
	assert.Len(t, names(t, dir), 8)
}
