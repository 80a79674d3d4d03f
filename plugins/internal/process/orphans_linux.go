package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// maxPasses bounds the race with a process that keeps forking.
const maxPasses = 20

// killOrphans kills the processes that have the token in their environment:
// offspring of a plugin that left its process group.
func killOrphans(token string) {
	for range maxPasses {
		if !killHolders([]byte(token)) {
			return
		}
	}
}

// killHolders kills the processes that have the token, and reports whether
// there was one.
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
