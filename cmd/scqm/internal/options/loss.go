package options

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

const (
	// huberEntries is the name of the Huber loss whose delta bounds single entries, not norms of rows.
	huberEntries = "huber_entries"
	// mahalanobis is the name of the loss whose parameter, a matrix, is read from a file.
	mahalanobis = "mahalanobis"
)

// Loss holds the flags that choose a loss and its parameters.
type Loss struct {
	// Name is the name of the requested loss. It may be a name that only the calling command knows.
	Name string

	p, delta  float64
	precision string
	params    losses.Params
	made      framework.Loss // nil if a parameter depends on the data
	plugin    Plugin
}

// AddTo adds the flags to cmd.
func (f *Loss) AddTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Name, "loss", "l2", usage("loss")+", by `NAME`; scqm losses lists them")
	flags.Var(cli.Positive(&f.p), "p", usage("p"))
	flags.Var(cli.Positive(&f.delta), "delta", usage("delta"))
	flags.Var(cli.Name(&f.precision, "FILE"), "precision", "file with the D x D "+usage("precision"))
	f.plugin.AddTo(cmd, "loss that is computed by a plugin, by name or path; scqm plugin list lists those found")
	f.plugin.AddParamsTo(cmd)
}

// Check returns an error for an unknown loss or for invalid parameters. It also reads
// the precision matrix and starts the plugin.
func (f *Loss) Check(cmd *cobra.Command) error {
	if f.plugin.Name != "" {
		if err := cli.Refuse(cmd, "beside --plugin", "loss", "p", "delta", "precision"); err != nil {
			return err
		}
		return f.plugin.Open(cmd)
	}
	if err := cli.Refuse(cmd, "without --plugin", "loss-param", "plugin-sha256", "plugin-timeout"); err != nil {
		return err
	}
	if cmd.Flags().Changed("p") {
		f.params.P = &f.p
	}
	if cmd.Flags().Changed("delta") {
		f.params.Delta = &f.delta
	}
	if f.precision != "" {
		m, err := cli.Await(cmd.Context(), func() (*dataset.Matrix, error) {
			return dataset.Read(f.precision, dataset.ReadOptions{})
		})
		if err != nil {
			return fmt.Errorf("--precision: %w", err)
		}
		f.params.Precision = dense.Owned{Dense: mat.NewDense(m.Rows, m.Cols, m.Data)}
	}
	trial := f.params
	if losses.HasDelta(f.Name) {
		trial.Delta = cmp.Or(trial.Delta, new(1.0))
	}
	loss, err := f.lossFor(trial)
	if !f.asksData() {
		f.made = loss // kept, because checking a matrix takes as long as a small fit
	}
	return err
}

// Make returns the loss. All its parameters must be given.
func (f *Loss) Make() (framework.Loss, error) {
	if f.plugin.opened != nil {
		return f.plugin.opened.Loss(), nil
	}
	if f.made != nil {
		return f.made, nil
	}
	return f.lossFor(f.params)
}

// MakeFor returns the loss for a fit of rows in memory.
func (f *Loss) MakeFor(ctx context.Context, x scqm.Data, c scqm.Config) (framework.Loss, error) {
	return f.makeBy(ctx, func() (float64, error) { return scqm.DefaultDelta(ctx, x, c, f.Name) })
}

// MakeFrom returns the loss for a fit of rows that an engine reads.
func (f *Loss) MakeFrom(ctx context.Context, e scqm.Engine, c scqm.Config) (framework.Loss, error) {
	return f.makeBy(ctx, func() (float64, error) { return scqm.DefaultDeltaFrom(ctx, e, c, f.Name) })
}

// makeBy returns the loss. It calls choose for the delta if delta depends on the data.
func (f *Loss) makeBy(ctx context.Context, choose func() (float64, error)) (framework.Loss, error) {
	if !f.asksData() {
		return f.Make()
	}
	delta, err := cli.Await(ctx, choose)
	if err != nil {
		return nil, err
	}
	return f.WithDelta(delta)
}

// BuiltIn reports whether the loss is computed by this program rather than by a plugin.
func (f *Loss) BuiltIn() bool { return f.plugin.Name == "" }

// asksData reports whether a parameter of the loss is to be chosen from the data.
func (f *Loss) asksData() bool {
	return losses.HasDelta(f.Name) && f.params.Delta == nil && f.BuiltIn()
}

// NeedsDelta reports whether delta is to be chosen from the data and applies to norms of rows.
func (f *Loss) NeedsDelta() bool { return f.asksData() && f.Name != huberEntries }

// WithDelta returns the loss with the given delta, which was chosen from the data.
func (f *Loss) WithDelta(delta float64) (framework.Loss, error) {
	params := f.params
	params.Delta = &delta
	return f.lossFor(params)
}

// Inputs returns the paths of the files that the flags name. A path is "" if its flag was not given.
func (f *Loss) Inputs() []string { return []string{f.precision} }

// Close ends the plugin process, if there is one.
func (f *Loss) Close() { f.plugin.Close() }

func (f *Loss) lossFor(params losses.Params) (framework.Loss, error) {
	loss, err := losses.ByName(f.Name, params)
	switch {
	case err == nil:
		return loss, nil
	case f.Name == mahalanobis && params.Precision != nil:
		return nil, fmt.Errorf("--precision: %s: %w", f.precision, err)
	default:
		return nil, fmt.Errorf("--loss: %w", err)
	}
}
