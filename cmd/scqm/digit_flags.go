package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/internal/dataset"
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

func (f *digitFlags) read(cmd *cobra.Command) (*demoDigits, error) {
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
