package plugins

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// maxSweeps bounds the race with a process that keeps forking.
const maxSweeps = 20

// killStragglers kills the processes that have the token in their environment:
// offspring of a plugin that left its process group.
func killStragglers(token string) {
	for range maxSweeps {
		if !sweep([]byte(token)) {
			return
		}
	}
}

// sweep reports whether there was anything to kill.
func sweep(token []byte) bool {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return false
	}
	found := false
	for _, file := range files {
		if !holds(file, token) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		// The handle keeps the number from being used again between the
		// second look and the kill.
		process, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		if holds(file, token) {
			found = process.Kill() == nil || found
		}
		process.Release()
	}
	return found
}

func holds(file string, token []byte) bool {
	environment, err := os.ReadFile(file)
	return err == nil && bytes.Contains(environment, token)
}
