package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/scqm"
)

// checkpointFlags say where a fit is stored while it runs.
type checkpointFlags struct {
	path   string
	every  time.Duration
	resume bool
	file   *scqm.CheckpointFile // locked by check; nil: none
}

func (f *checkpointFlags) addTo(cmd *cobra.Command) {
	f.every = framework.DefaultCheckpointEvery
	flags := cmd.Flags()
	flags.Var(naming(&f.path, "FILE"), "checkpoint", "store the fit in FILE while it runs, to go on with it later; FILE.lock keeps other fits away from it")
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
	var err error
	if f.file, err = scqm.OpenCheckpoint(f.path); err != nil {
		return fmt.Errorf("--checkpoint: %w", err)
	}
	if !f.file.Locked() {
		fmt.Fprintf(cmd.ErrOrStderr(), "scqm: %s: --checkpoint: %s: there are no locks in this file system; see to it that no other fit uses the file\n", cmd.Name(), f.path)
	}
	if f.file.Stored() && !f.resume {
		return usagef("--checkpoint: %s exists; add --resume to go on with it, or remove it", f.path)
	}
	return nil
}

// checkpoint returns what the flags ask for, nil for nothing.
func (f *checkpointFlags) checkpoint() *framework.Checkpoint {
	if f.file == nil {
		return nil
	}
	return f.file.Checkpoint(f.every)
}

// close lets other fits have the file.
func (f *checkpointFlags) close() {
	if f.file != nil {
		f.file.Close()
	}
}
