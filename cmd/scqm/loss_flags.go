package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

const (
	// huber is the loss whose parameter has a default that depends on the data.
	huber = "huber"
	// mahalanobis is the loss whose parameter comes from a file.
	mahalanobis = "mahalanobis"
)

// lossFlags choose a loss and its parameters.
type lossFlags struct {
	name      string
	p, delta  float64
	precision string

	params losses.Params
	plugin pluginFlags
}

func (f *lossFlags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.name, "loss", "l2", "loss of a residual, by `NAME`; scqm losses lists them")
	flags.Var(positive(&f.p), "p", "power of the loss lp, at least 1")
	flags.Var(positive(&f.delta), "delta", "norm at which the loss huber turns linear (default 1.345 times a robust scale of the residuals)")
	flags.Var(naming(&f.precision, "FILE"), "precision", "file with the D x D matrix of the loss mahalanobis")
	f.plugin.addTo(cmd, "loss that is computed by a plugin, by name or path; scqm plugin list lists those found")
	f.plugin.addParamsTo(cmd)
}

// check refuses an unknown loss and parameters that do not fit it. It reads the
// precision matrix and starts the plugin.
func (f *lossFlags) check(cmd *cobra.Command) error {
	if f.plugin.name != "" {
		if err := refuse(cmd, "beside --plugin", "loss", "p", "delta", "precision"); err != nil {
			return err
		}
		return f.plugin.open(cmd)
	}
	if err := refuse(cmd, "without --plugin", "loss-param", "plugin-sha256", "plugin-timeout"); err != nil {
		return err
	}
	if cmd.Flags().Changed("p") {
		f.params.P = &f.p
	}
	if cmd.Flags().Changed("delta") {
		f.params.Delta = &f.delta
	}
	if f.precision != "" {
		m, err := await(cmd.Context(), func() (*dataset.Matrix, error) {
			return dataset.Read(f.precision, dataset.ReadOptions{})
		})
		if err != nil {
			return fmt.Errorf("--precision: %w", err)
		}
		f.params.Precision = mat.NewDense(m.Rows, m.Cols, m.Data)
	}
	trial := f.params
	if f.name == huber {
		trial.Delta = cmp.Or(trial.Delta, new(1.0))
	}
	_, err := f.lossFor(trial)
	return err
}

// loss makes the loss for data that are to be fitted with d dimensions.
func (f *lossFlags) loss(ctx context.Context, x scqm.Data, d int) (framework.Loss, error) {
	if f.plugin.opened != nil {
		return f.plugin.opened.Loss(), nil
	}
	params := f.params
	if f.name == huber && params.Delta == nil {
		norms, err := await(ctx, func() ([]float64, error) { return scqm.ResidualNorms(x, d) })
		if err != nil {
			return nil, err
		}
		params.Delta = new(losses.DefaultHuberDelta(norms))
	}
	return f.lossFor(params)
}

// close ends the plugin.
func (f *lossFlags) close() { f.plugin.close() }

func (f *lossFlags) lossFor(params losses.Params) (framework.Loss, error) {
	loss, err := losses.ByName(f.name, params)
	switch {
	case err == nil:
		return loss, nil
	case f.name == mahalanobis && params.Precision != nil:
		return nil, fmt.Errorf("--precision: %s: %w", f.precision, err)
	default:
		return nil, fmt.Errorf("--loss: %w", err)
	}
}
