package main

import (
	"fmt"
	"strings"
)

// tryMemory runs a task with little memory, some tasks with more rows. It must succeed, or
// end with the error that memory is too small.
func tryMemory(c *trial) error {
	k := tasks[c.IntN(len(tasks))]
	if c.IntN(2) == 0 {
		k = bulkTasks[c.IntN(len(bulkTasks))]
	}
	limit := 300 + c.IntN(2700) // MB, of address space or of data
	kind := "v"
	if c.IntN(2) == 0 {
		kind, limit = "d", limit/4
	}
	// Only what is released starts, and says so, where Go itself has too little.
	r, err := c.run(command{program: c.released, before: fmt.Sprintf("ulimit -%s %d", kind, limit<<10)}, c.line(k)...)
	if err != nil {
		return err
	}
	c.said = append(c.said, fmt.Sprintf("with ulimit -%s %d: exit code %d %s\n", kind, limit<<10, r.code, firstLine(r.stderr)))
	if err := r.check(0, 1); err != nil {
		return err
	}
	c.happened(fmt.Sprintf("ended with %d", r.code))
	return c.checkWhole(k, r)
}

// bulkTasks read 16 MB.
var bulkTasks = []task{
	{"fit B -o out.npz --max-iter 2", []string{"out.npz"}, true, ""},
	{"mean B -o out.csv", []string{"out.csv"}, false, ""},
	{"suggest B --max-latent 1 --max-rows 200 -o out.csv", []string{"out.csv"}, false, ""},
}

// checkWhole returns an error unless each output is readable or absent.
func (c *trial) checkWhole(k task, r run) error {
	names := append([]string{"results", k.checkpoint, k.checkpoint + ".lock"}, k.outputs...)
	if err := checkNames(c.dir, names...); err != nil {
		return err
	}
	for _, name := range k.outputs {
		if strings.HasPrefix(name, "results/") {
			continue
		}
		if err := c.checkOutput(name, r.code == 0); err != nil {
			return err
		}
	}
	return nil
}
