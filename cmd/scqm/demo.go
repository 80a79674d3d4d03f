package main

import (
	"fmt"
	"image"
	"image/png"
	"io"
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

const (
	demoImages = "testdata/mnist/images-idx3-ubyte.gz"
	demoLabels = "testdata/mnist/labels-idx1-ubyte.gz"
)

// demoFlags are the flags of scqm demo.
type demoFlags struct {
	images, labels, output string
}

func demoCommand() *cobra.Command {
	f := demoFlags{images: demoImages, labels: demoLabels}
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
	flags.Var(naming(&f.images, "FILE"), "images", "file with images")
	flags.Var(naming(&f.labels, "FILE"), "labels", "file with their labels")
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
	digits, err := f.read(cmd)
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
		if err := f.write(cmd.OutOrStdout(), p, study); err != nil {
			return err
		}
	}
	return nil
}

func (f *demoFlags) check(cmd *cobra.Command) error {
	if f.output == "" {
		return usagef("no place for the pictures; name a directory with -o")
	}
	for _, name := range []string{"images", "labels"} {
		flag := cmd.Flag(name)
		if _, err := os.Stat(flag.DefValue); err != nil && !flag.Changed {
			return usagef("%s is not here; run this in the directory of the sources, or name files with --images and --labels", flag.DefValue)
		}
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

func (f *demoFlags) read(cmd *cobra.Command) (*demoDigits, error) {
	return await(cmd.Context(), func() (*demoDigits, error) {
		labels, err := dataset.ReadLabels(f.labels)
		if err != nil {
			return nil, err
		}
		m, err := dataset.Read(f.images, dataset.ReadOptions{Scale: true})
		if err != nil {
			return nil, err
		}
		digits, err := newDemoDigits(m, labels)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.images, err)
		}
		return digits, nil
	})
}

func (f *demoFlags) write(stdout io.Writer, p picture, study *demoStudy) error {
	path := filepath.Join(f.output, p.name)
	err := dataset.WriteFileAtomic(path, func(w io.Writer) error { return png.Encode(w, p.draw(study)) })
	if err == nil {
		_, err = fmt.Fprintln(stdout, "wrote", path)
	}
	return err
}
