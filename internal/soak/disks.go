package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// tryDisk runs a task on a disk of random size that is partly full. The result must be
// complete; or the error must say that the disk is full, and the earlier files must be
// unchanged.
func tryDisk(c *trial) error {
	k := tasks[c.IntN(len(tasks))]
	want, err := c.finish(k)
	if err != nil {
		return err
	}
	size := 8192 << c.IntN(8) // 8 KiB to 1 MiB
	umount, err := mountSmall(c.dir, size)
	if err != nil {
		return err
	}
	defer umount()
	old := map[string][]byte{}
	if c.IntN(2) == 0 {
		if old, err = c.putOld(k); err != nil {
			return skipf("no room for what is there before") // on the smallest disks
		}
	}
	taken := c.IntN(2) * c.IntN(size)
	// What does not fit is cut short, and the disk full to the last byte.
	_ = os.WriteFile(filepath.Join(c.dir, "taken"), make([]byte, taken), 0o644)
	r, err := c.scqmRun(c.line(k)...)
	if err != nil {
		return err
	}
	c.said = append(c.said, fmt.Sprintf("on %d bytes, %d of them taken: exit code %d %s\n", size, taken, r.code, firstLine(r.stderr)))
	if err := r.check(0, 1, 2); err != nil {
		return err
	}
	if r.code != 0 && !strings.Contains(r.stderr, "no space left") {
		return fmt.Errorf("fails, but not for want of space: %s", r.stderr)
	}
	c.happened(fmt.Sprintf("ended with %d", r.code))
	if k.keeps && r.code != 0 && k.checkpoint != "" {
		// A fit that cannot store its checkpoint saves the best so far.
		return checkNames(c.dir, append([]string{"taken", k.checkpoint, k.checkpoint + ".lock"}, k.outputs...)...)
	}
	if err := c.judge(k, r, old, want); err != nil {
		return err
	}
	names := append([]string{"taken", "results", k.checkpoint, k.checkpoint + ".lock"}, k.outputs...)
	return checkNames(c.dir, names...)
}

// mountSmall mounts a small disk at a directory, if that is permitted.
func mountSmall(dir string, size int) (umount func(), err error) {
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d", size), "soak", dir).CombinedOutput()
	if err != nil {
		return nil, skipf("a small disk cannot be mounted (%s); run as root where mounting is allowed", strings.TrimSpace(string(out)))
	}
	return func() { _ = exec.Command("umount", dir).Run() }, nil
}

// outlets are commands that print, and kinds of standard output that fail.
var (
	printing = []string{
		"version", "--help", "help fit", "losses --json", "solvers", "methods", "fit L --max-iter 2", "fit L --max-iter 2 --json",
		"transform M L", "project M L", "reconstruct M T", "mean L", "denoise L --method lpca", "plugin list", "completion bash",
	}
	outlets = []string{"exec >&-", "exec >/dev/full", "exec >&- 2>&-", "exec <&- >&-"}
)

// tryOutlet runs a command whose standard output is closed or full.
func tryOutlet(c *trial) error {
	k := task{command: printing[c.IntN(len(printing))]}
	outlet := outlets[c.IntN(len(outlets))]
	r, err := c.run(command{before: outlet}, c.line(k)...)
	if err != nil {
		return err
	}
	if r.code == 0 {
		return fmt.Errorf("%s: exit code 0, and what was printed is lost", outlet)
	}
	if strings.Contains(outlet, "2>&-") {
		if r.code != 1 {
			return fmt.Errorf("%s: exit code %d, want 1", outlet, r.code)
		}
		return checkNames(c.dir)
	}
	if err := r.check(1); err != nil {
		return fmt.Errorf("%s: %w", outlet, err)
	}
	return checkNames(c.dir)
}
