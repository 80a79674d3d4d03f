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

// Checkpoint holds the flags that say in which file the state of a running fit is stored.
type Checkpoint struct {
	path   string
	every  time.Duration
	resume bool
	file   *scqm.CheckpointFile // locked by Check; nil: none
}

// AddTo adds the checkpoint flags to cmd.
func (f *Checkpoint) AddTo(cmd *cobra.Command) {
	f.every = framework.DefaultCheckpointEvery
	flags := cmd.Flags()
	flags.Var(cli.Name(&f.path, "FILE"), "checkpoint", "store the fit in FILE while it runs, to go on with it later; FILE.lock keeps other fits away from it")
	flags.Var(cli.Duration(&f.every), "checkpoint-every", "least time between two stores")
	flags.BoolVar(&f.resume, "resume", false, "go on with the fit stored by --checkpoint, if there is one")
}

// Check returns an error if the file cannot be written, if another fit uses it, or if
// other checkpoint flags are given without a file. It locks the file.
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

// Output returns the path of the checkpoint file and its flag.
func (f *Checkpoint) Output() cli.Named { return cli.Named{Flag: "--checkpoint", Path: f.path} }

// Choose returns the checkpoint settings from the flags, or nil if no checkpoint is wanted.
func (f *Checkpoint) Choose() *framework.Checkpoint {
	if f.file == nil {
		return nil
	}
	return f.file.Checkpoint(f.every)
}

// Close unlocks the file so that other fits can use it.
func (f *Checkpoint) Close() {
	if f.file != nil {
		f.file.Close()
	}
}
