package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// maxPasses is the maximum number of passes over all processes, in case a process keeps forking.
const maxPasses = 20

// killOrphans kills all processes with the token in their environment. These are
// descendants of a plugin that left its process group.
func killOrphans(token string) {
	for range maxPasses {
		if !killHolders([]byte(token)) {
			return
		}
	}
}

// killHolders kills the processes that have the token in their environment, and reports
// whether it found any.
func killHolders(token []byte) bool {
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
		// The handle prevents reuse of the process ID between the second check and the kill.
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
