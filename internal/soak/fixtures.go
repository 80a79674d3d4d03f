package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/scqm/scqm/internal/dataset"
)

// Names of the valid files that drills use.
const (
	tableCSV  = "rows.csv"
	largeNPY  = "large.npy"
	bulkNPY   = "bulk.npy"
	modelNPZ  = "model.npz"
	largeNPZ  = "large-model.npz"
	tauNPY    = "tau.npy"
	labelsTXT = "labels.txt"
)

const smallRows = 60

// bowl returns n rows near a paraboloid, in D columns; the third column is quadratic.
func bowl(n, D int) *dataset.Matrix {
	rng := rand.New(rand.NewPCG(7, 7))
	m := &dataset.Matrix{Rows: n, Cols: D}
	for range n {
		x, y := 2*rng.Float64()-1, 2*rng.Float64()-1
		row := []float64{x, y, x*x + y*y}
		for j := range D {
			m.Data = append(m.Data, row[j%3]+0.02*rng.NormFloat64())
		}
	}
	return m
}

func ones(n int) *dataset.Matrix {
	return &dataset.Matrix{Rows: n, Cols: 1, Data: slices.Repeat([]float64{1}, n)}
}

// makeFixtures writes valid files of every format, by the program if necessary.
func (b *bench) makeFixtures() error {
	small := bowl(smallRows, 3)
	named := &dataset.Matrix{Rows: small.Rows, Cols: 3, Data: small.Data, Names: []string{"east", "north", "up"}}
	for name, m := range map[string]*dataset.Matrix{
		tableCSV: named, "rows.tsv": named, "rows.npy": small, "rows.npz": small, "weights.csv": ones(smallRows),
		"precision.csv": {Rows: 3, Cols: 3, Data: []float64{2, 0, 0, 0, 1, 0, 0, 0, 3}},
		largeNPY:        bowl(1500, 4), bulkNPY: bowl(100000, 20),
	} {
		if err := dataset.Write(b.path(name), m, nil); err != nil {
			return err
		}
	}
	for _, name := range []string{"cloud.ply", "cloud.xyz", "cloud.ply.gz"} {
		if err := dataset.WritePointCloud(b.path(name), nil, small, nil); err != nil {
			return err
		}
	}
	if err := b.makeLabels(); err != nil {
		return err
	}
	for _, name := range []string{tableCSV, "rows.npy", "rows-ubyte"} {
		if err := b.zip(name); err != nil {
			return err
		}
	}
	return b.makeModels()
}

// makeLabels writes labels as text and as IDX, and a table of bytes as IDX.
func (b *bench) makeLabels() error {
	var text strings.Builder
	text.WriteString("label\n")
	labels, pixels := idxHeader(smallRows), idxHeader(smallRows, 2, 3)
	for i := range smallRows {
		fmt.Fprintf(&text, "%d\n", i%4)
		labels = append(labels, byte(i%4))
		for j := range 6 {
			pixels = append(pixels, byte((i*37+j*j*11)%251))
		}
	}
	for name, content := range map[string][]byte{labelsTXT: []byte(text.String()), "labels-ubyte": labels, "rows-ubyte": pixels} {
		if err := os.WriteFile(b.path(name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func idxHeader(shape ...int) []byte {
	h := []byte{0, 0, 8, byte(len(shape))}
	for _, n := range shape {
		h = binary.BigEndian.AppendUint32(h, uint32(n))
	}
	return h
}

func (b *bench) zip(name string) error {
	content, err := os.ReadFile(b.path(name))
	if err != nil {
		return err
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(content); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(b.path(name+".gz"), zipped.Bytes(), 0o644)
}

func (b *bench) makeModels() error {
	c := &trial{bench: b, dir: b.place}
	for _, args := range [][]string{
		{"fit", b.path(tableCSV), "-o", b.path(modelNPZ)},
		{"fit", b.path(largeNPY), "-o", b.path(largeNPZ), "--max-iter", "20"},
		{"transform", b.path(largeNPZ), b.path(largeNPY), "-o", b.path(tauNPY)},
	} {
		r, err := c.scqmRun(args...)
		if err == nil && r.code != 0 {
			err = fmt.Errorf("exit code %d: %s", r.code, r.stderr)
		}
		if err != nil {
			return fmt.Errorf("scqm %s: %w", strings.Join(args, " "), err)
		}
	}
	return nil
}
