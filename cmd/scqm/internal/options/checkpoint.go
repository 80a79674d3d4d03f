package options

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/quote"
	"github.com/scqm/scqm/models/scqm"
)

// Checkpoint holds the flags that say where a fit is stored while it runs.
type Checkpoint struct {
	path   string
	every  time.Duration
	resume bool
	file   *scqm.CheckpointFile // locked by Check; nil: none
}

// AddTo adds the flags.
func (f *Checkpoint) AddTo(cmd *cobra.Command) {
	f.every = framework.DefaultCheckpointEvery
	flags := cmd.Flags()
	flags.Var(cli.Name(&f.path, "FILE"), "checkpoint", "store the fit in FILE while it runs, to go on with it later; FILE.lock keeps other fits away from it")
	flags.Var(cli.Duration(&f.every), "checkpoint-every", "least time between two stores")
	flags.BoolVar(&f.resume, "resume", false, "go on with the fit stored by --checkpoint, if there is one")
}

// Check refuses places that cannot be written, ones that are taken, and flags that do
// nothing without a place. It locks the file.
func (f *Checkpoint) Check(cmd *cobra.Command) error {
	if f.path == "" {
		return cli.Refuse(cmd, "without --checkpoint", "resume", "checkpoint-every")
	}
	if err := dataset.CheckPlace(f.path); err != nil {
		return fmt.Errorf("--checkpoint: %w", err)
	}
	var err error
	if f.file, err = scqm.OpenCheckpoint(f.path); err != nil {
		return fmt.Errorf("--checkpoint: %w", err)
	}
	if !f.file.Locked() {
		fmt.Fprintf(cmd.ErrOrStderr(), "scqm: %s: --checkpoint: %s: there are no locks in this file system; see to it that no other fit uses the file\n", cmd.Name(), quote.Marks(f.path))
	}
	if f.file.Stored() && !f.resume {
		return cli.Usagef("--checkpoint: %s exists; add --resume to go on with it, or remove it", f.path)
	}
	return nil
}

// Output is the file that is written while a fit runs.
func (f *Checkpoint) Output() cli.Named { return cli.Named{Flag: "--checkpoint", Path: f.path} }

// Choose returns what the flags ask for, nil for nothing.
func (f *Checkpoint) Choose() *framework.Checkpoint {
	if f.file == nil {
		return nil
	}
	return f.file.Checkpoint(f.every)
}

// Close lets other fits have the file.
func (f *Checkpoint) Close() {
	if f.file != nil {
		f.file.Close()
	}
}
