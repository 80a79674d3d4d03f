package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
)

// checkpointFlags say where a fit is stored while it runs.
type checkpointFlags struct {
	path   string
	every  time.Duration
	resume bool
}

func (f *checkpointFlags) addTo(cmd *cobra.Command) {
	f.every = framework.DefaultCheckpointEvery
	flags := cmd.Flags()
	flags.Var(naming(&f.path, "FILE"), "checkpoint", "store the fit in FILE while it runs, to go on with it later")
	flags.Var(lasting(&f.every), "checkpoint-every", "least time between two stores")
	flags.BoolVar(&f.resume, "resume", false, "go on with the fit stored by --checkpoint, if there is one")
}

func (f *checkpointFlags) check(cmd *cobra.Command) error {
	if f.path == "" {
		return refuse(cmd, "without --checkpoint", "resume", "checkpoint-every")
	}
	if err := dataset.CheckPlace(f.path); err != nil {
		return fmt.Errorf("--checkpoint: %w", err)
	}
	if _, err := os.Stat(f.path); err == nil && !f.resume {
		return usagef("--checkpoint: %s exists; add --resume to go on with it, or remove it", f.path)
	}
	return nil
}

// checkpoint returns what the flags ask for, nil for nothing.
func (f *checkpointFlags) checkpoint() (*framework.Checkpoint, error) {
	if f.path == "" {
		return nil, nil
	}
	c := &framework.Checkpoint{Every: f.every, Store: func(write func(io.Writer) error) error {
		return dataset.WriteFileAtomic(f.path, write)
	}}
	if !f.resume {
		return c, nil
	}
	b, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, usagef("--checkpoint: %w", err)
	}
	c.Stored = bytes.NewReader(b)
	return c, nil
}
