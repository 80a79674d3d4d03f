package options

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/experiments"
)

const (
	digitImages = "testdata/mnist/images-idx3-ubyte.gz"
	digitLabels = "testdata/mnist/labels-idx1-ubyte.gz"
)

// Digits holds the flags for the files with images of digits and their labels. The
// default files are in the source tree.
type Digits struct{ Images, Labels string }

// NewDigits returns the flags; their defaults are the files in the source tree.
func NewDigits() Digits { return Digits{Images: digitImages, Labels: digitLabels} }

// AddTo adds the flags to cmd.
func (f *Digits) AddTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(cli.Name(&f.Images, "FILE"), "images", "file with images of digits")
	flags.Var(cli.Name(&f.Labels, "FILE"), "labels", "file with their labels")
}

// Check returns an error if the default files are to be used and do not exist.
func (f *Digits) Check(cmd *cobra.Command) error {
	for _, name := range []string{"images", "labels"} {
		flag := cmd.Flag(name)
		if _, err := os.Stat(flag.DefValue); err != nil && !flag.Changed {
			return cli.Usagef("%s is not here; run this in the directory of the sources, or name files with --images and --labels", flag.DefValue)
		}
	}
	return nil
}

// Read reads all images, with a label for each.
func (f *Digits) Read(cmd *cobra.Command) (experiments.Digits, error) {
	var labels []string
	m, err := cli.Await(cmd.Context(), func() (*dataset.Matrix, error) {
		var err error
		if labels, err = dataset.ReadLabels(f.Labels); err != nil {
			return nil, err
		}
		return dataset.Read(f.Images, dataset.ReadOptions{Scale: true})
	})
	if err != nil {
		return experiments.Digits{}, err
	}
	digits, err := experiments.NewDigits(cli.RowsOf(m), labels)
	if err != nil {
		return digits, fmt.Errorf("%s: %w", f.Images, err)
	}
	return digits, nil
}
