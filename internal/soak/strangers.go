package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/scqm"
)

// checkAlone returns an error if a process started in the directory of the case still runs
// after a short wait.
func (c *trial) checkAlone() error {
	var left string
	for range 100 {
		if left = processesIn(c.dir); left == "" {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("left behind: %s", left)
}

// processesIn lists the processes whose working directory is dir or whose command line names it.
func processesIn(dir string) string {
	var found []string
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		line, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		cwd, _ := os.Readlink(filepath.Join(filepath.Dir(path), "cwd"))
		if cwd == dir || bytes.Contains(line, []byte(dir+"/")) {
			found = append(found, fmt.Sprintf("%s (%s)", filepath.Base(filepath.Dir(path)), strings.ReplaceAll(string(line), "\x00", " ")))
		}
	}
	return strings.Join(found, ", ")
}

// strangers are names of losses in models from untrusted sources.
var strangers = []string{
	"payload", "./payload", "../payload", "scqm-loss-payload", "./scqm-loss-payload", "$(./scqm-loss-payload)", ";./scqm-loss-payload",
	"l2", "", "payload\x00", "PAYLOAD", "tukey", "-payload", "a/../payload", "payload --version", "\n./scqm-loss-payload",
}

// tryStranger uses a model that names a plugin as its loss, with a program of that name in
// the same directory. That program must not be run.
func tryStranger(c *trial) error {
	m, err := scqm.Load(c.path(modelNPZ))
	if err != nil {
		return err
	}
	name := strangers[c.IntN(len(strangers))]
	m.Meta.Loss = scqm.LossMeta{Name: name, Plugin: &rowloss.Program{
		Name: strangers[c.IntN(len(strangers))], Version: "1", SHA256: strings.Repeat("0", 64), Params: "{}",
	}}
	if c.IntN(2) == 0 {
		m.Meta.Loss.Plugin.Name = name
	}
	if err := dataset.WriteFileAtomic(filepath.Join(c.dir, "model.npz"), m.Write); err != nil {
		return err
	}
	// Beside the model, named as a loss and as it is called in the model.
	payload := []byte("#!/bin/sh\ntouch " + filepath.Join(c.dir, "ran") + "\n")
	for _, file := range []string{"payload", "scqm-loss-payload", "scqm-loss-tukey", "scqm-loss-l2", "python3", "sh", "scqm.py"} {
		if err := os.WriteFile(filepath.Join(c.dir, file), payload, 0o755); err != nil {
			return err
		}
	}
	line := []string{"transform model.npz D", "project model.npz D -o out.csv", "reconstruct model.npz T", "influence model.npz D"}[c.IntN(4)]
	line = strings.ReplaceAll(strings.ReplaceAll(line, "D", c.path("rows.npy")), "T", c.path(tauNPY))
	var how command
	if c.IntN(2) == 0 {
		how.env = []string{"SCQM_PLUGIN_PATH=" + []string{".", "", ":", c.place + ":."}[c.IntN(4)]}
	}
	r, err := c.run(how, strings.Fields(line)...)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(c.dir, "ran")); err == nil {
		return fmt.Errorf("the payload ran for a model with the loss %q and the plugin %q", name, m.Meta.Loss.Plugin.Name)
	}
	c.happened(fmt.Sprintf("ended with %d", r.code))
	if err := r.check(0, 1, 2); err != nil {
		return fmt.Errorf("loss %q, plugin %q: %w", name, m.Meta.Loss.Plugin.Name, err)
	}
	return c.checkAlone()
}
