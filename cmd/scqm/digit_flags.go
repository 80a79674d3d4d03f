package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/demo"
	"github.com/scqm/scqm/internal/experiments"
)

const (
	demoImages = "testdata/mnist/images-idx3-ubyte.gz"
	demoLabels = "testdata/mnist/labels-idx1-ubyte.gz"
)

// digitFlags say where images of digits are; by default among the sources.
type digitFlags struct{ images, labels string }

func newDigitFlags() digitFlags { return digitFlags{images: demoImages, labels: demoLabels} }

func (f *digitFlags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(naming(&f.images, "FILE"), "images", "file with images of digits")
	flags.Var(naming(&f.labels, "FILE"), "labels", "file with their labels")
}

func (f *digitFlags) check(cmd *cobra.Command) error {
	for _, name := range []string{"images", "labels"} {
		flag := cmd.Flag(name)
		if _, err := os.Stat(flag.DefValue); err != nil && !flag.Changed {
			return usagef("%s is not here; run this in the directory of the sources, or name files with --images and --labels", flag.DefValue)
		}
	}
	return nil
}

// read reads all images, with a label for each.
func (f *digitFlags) read(cmd *cobra.Command) (experiments.Digits, error) {
	var labels []string
	m, err := await(cmd.Context(), func() (*dataset.Matrix, error) {
		var err error
		if labels, err = dataset.ReadLabels(f.labels); err != nil {
			return nil, err
		}
		return dataset.Read(f.images, dataset.ReadOptions{Scale: true})
	})
	if err != nil {
		return experiments.Digits{}, err
	}
	digits, err := experiments.NewDigits(rowsOf(m), labels)
	if err != nil {
		return digits, fmt.Errorf("%s: %w", f.images, err)
	}
	return digits, nil
}

// split reads the digits of the demo.
func (f *digitFlags) split(cmd *cobra.Command) (*demo.Digits, error) {
	all, err := f.read(cmd)
	if err != nil {
		return nil, err
	}
	digits, err := demo.Split(all)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.images, err)
	}
	return digits, nil
}
