package main

import (
	"context"
	"fmt"
	"image"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/cmd/scqm/internal/options"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/demo"
	"github.com/scqm/scqm/internal/figures"
	"github.com/scqm/scqm/models/scqm"
)

const demoLong = `Learn a linear and a quadratic model of 100 handwritten digits, 50 fours and 50
nines, and compare them with principal components: on these digits, and on the
fours and nines that were not learned from. Pictures go to the directory DIR.

The digits are 28 x 28 images in IDX files, as those of MNIST are. By default
they come from the sources of this program.`

// demoFlags are the flags of scqm demo.
type demoFlags struct {
	digits options.Digits
	output string
}

func demoCommand() *cobra.Command {
	f := demoFlags{digits: options.NewDigits()}
	cmd := &cobra.Command{
		Use:   "demo -o DIR",
		Short: "Learn handwritten digits and draw what was learned",
		Long:  demoLong,
		Args:  cli.Arguments(),
		RunE:  func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.VarP(cli.Name(&f.output, "DIR"), "output", "o", "directory for the pictures, made if need be (required)")
	f.digits.AddTo(cmd)
	return cmd
}

// picture is a file of the demo.
type picture struct {
	name string
	draw func(*demo.Study) image.Image
}

var pictures = []picture{
	{"reconstructions.png", figures.Reconstructions},
	{"latent.png", figures.LatentPlane},
	{"convergence.png", figures.Convergence},
}

func (f *demoFlags) run(cmd *cobra.Command) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	digits, err := f.digits.Split(cmd)
	if err != nil {
		return err
	}
	var bar options.Progress
	study, err := demo.NewStudy(cmd.Context(), digits, func(_ context.Context, x scqm.Data, c scqm.Config) (*scqm.Fit, error) {
		return bar.Learn(cmd, x, c)
	})
	if err != nil {
		return err
	}
	if err := cli.PrintTable(cmd.OutOrStdout(), demoRows(study)); err != nil {
		return err
	}
	for _, p := range pictures {
		if err := writePicture(cmd.OutOrStdout(), filepath.Join(f.output, p.name), p.draw(study)); err != nil {
			return err
		}
	}
	return nil
}

// demoRows are the table of the demo.
func demoRows(s *demo.Study) [][]string {
	rows := [][]string{{"MODEL", "LOSS", "MEAN RESIDUAL", "HELD OUT", "ITERATIONS", "SECONDS"}}
	for _, m := range s.Models() {
		rows = append(rows, []string{
			m.Name, m.Fit.Model.Meta.Loss.Name,
			fmt.Sprintf("%.4f", m.Learned), fmt.Sprintf("%.4f", m.HeldOut),
			fmt.Sprint(m.Fit.Run.Iterations), fmt.Sprintf("%.2f", m.Fit.Run.Elapsed.Seconds()),
		})
	}
	return rows
}

func (f *demoFlags) check(cmd *cobra.Command) error {
	if f.output == "" {
		return cli.Usagef("no place for the pictures; name a directory with -o")
	}
	if err := f.digits.Check(cmd); err != nil {
		return err
	}
	if err := os.MkdirAll(f.output, 0o777); err != nil {
		return cli.Usagef("-o: %w", err)
	}
	for _, p := range pictures {
		if err := dataset.CheckOutput(filepath.Join(f.output, p.name), ".png"); err != nil {
			return fmt.Errorf("-o: %w", err)
		}
	}
	return nil
}
