package main

import (
	"fmt"
	"image"
	"image/png"
	"io"

	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/quote"
)

// writePicture writes a PNG file and prints its path.
func writePicture(stdout io.Writer, path string, img image.Image) error {
	return writeNamed(stdout, path, func(w io.Writer) error { return png.Encode(w, img) })
}

// writeNamed writes a file atomically and prints its path.
func writeNamed(stdout io.Writer, path string, write func(io.Writer) error) error {
	err := dataset.WriteFileAtomic(path, write)
	if err == nil {
		_, err = fmt.Fprintln(stdout, "wrote", quote.Marks(path))
	}
	return err
}
