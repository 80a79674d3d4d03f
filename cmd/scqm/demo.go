package main

import (
	"fmt"
	"image"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/internal/dataset"
)

const demoLong = `Learn a linear and a quadratic model of 100 handwritten digits, 50 fours and 50
nines, and compare them with principal components: on these digits, and on the
fours and nines that were not learned from. Pictures go to the directory DIR.

The digits are 28 x 28 images in IDX files, as those of MNIST are. By default
they come from the sources of this program.`

// demoFlags are the flags of scqm demo.
type demoFlags struct {
	digits digitFlags
	output string
}

func demoCommand() *cobra.Command {
	f := demoFlags{digits: newDigitFlags()}
	cmd := &cobra.Command{
		Use:   "demo -o DIR",
		Short: "Learn handwritten digits and draw what was learned",
		Long:  demoLong,
		Args:  arguments(),
		RunE:  func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.VarP(naming(&f.output, "DIR"), "output", "o", "directory for the pictures, made if need be (required)")
	f.digits.addTo(cmd)
	return cmd
}

// picture is a file of the demo.
type picture struct {
	name string
	draw func(*demoStudy) image.Image
}

var pictures = []picture{
	{"reconstructions.png", drawReconstructions},
	{"latent.png", drawLatent},
	{"convergence.png", drawConvergence},
}

func (f *demoFlags) run(cmd *cobra.Command) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	digits, err := f.digits.read(cmd)
	if err != nil {
		return err
	}
	study, err := newDemoStudy(cmd, digits)
	if err != nil {
		return err
	}
	if err := printTable(cmd.OutOrStdout(), study.rows()); err != nil {
		return err
	}
	for _, p := range pictures {
		if err := writePicture(cmd.OutOrStdout(), filepath.Join(f.output, p.name), p.draw(study)); err != nil {
			return err
		}
	}
	return nil
}

func (f *demoFlags) check(cmd *cobra.Command) error {
	if f.output == "" {
		return usagef("no place for the pictures; name a directory with -o")
	}
	if err := f.digits.check(cmd); err != nil {
		return err
	}
	if err := os.MkdirAll(f.output, 0o777); err != nil {
		return usagef("-o: %w", err)
	}
	for _, p := range pictures {
		if err := dataset.CheckOutput(filepath.Join(f.output, p.name), ".png"); err != nil {
			return fmt.Errorf("-o: %w", err)
		}
	}
	return nil
}
