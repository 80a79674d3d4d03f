package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/scqm"
)

// reading is a command that reads a file of some kind, written as %, and writes another.
type reading struct {
	files   []string
	command string
}

// readings are the commands that read files. M stands for a valid model, D for a table, T
// for coordinates.
var readings = []reading{
	{tables, "fit % -o out.npz --max-iter 20"},
	{tables, "fit % -o out.npz -d 1 --linear --loss huber"},
	{tables, "mean % -o out.npy --loss l1"},
	{tables, "mean % --json --influence out.csv"},
	{tables, "denoise % -o out.csv --neighbors 12 --method scqm"},
	{tables, "denoise D --queries % -o out.tsv --neighbors 12 --method lpca"},
	{tables, "suggest % --max-latent 1 --folds 2 -o out.csv"},
	{tables, "transform M % -o out.npy"},
	{tables, "project M % --report -o out.csv"},
	{tables, "influence M % -o out.csv"},
	{tables, "reconstruct M % --columns 1-2 -o out.npz"},
	{[]string{"weights.csv"}, "denoise D --weights % -o out.csv --neighbors 12 --method lpca"},
	{[]string{"precision.csv"}, "mean D --loss mahalanobis --precision % -o out.csv"},
	{[]string{"cloud.ply", "cloud.xyz", "cloud.ply.gz"}, "denoise % -o out.ply --neighbors 12 --method lpca"},
	{[]string{"cloud.ply", "cloud.xyz", "cloud.ply.gz"}, "denoise % -o out.xyz.gz --neighbors 12 --method lpca --report"},
	{[]string{labelsTXT, "labels-ubyte"}, "mean D --labels % --first 9 -o out.csv"},
	{[]string{modelNPZ}, "transform % D -o out.csv"},
	{[]string{modelNPZ}, "project % D -o out.npz"},
	{[]string{modelNPZ}, "influence % D -o out.csv"},
}

var tables = []string{tableCSV, "rows.tsv", "rows.npy", "rows.npz", "rows-ubyte", tableCSV + ".gz", "rows.npy.gz", "rows-ubyte.gz"}

// tryFile damages a valid file and runs a command that reads it. The command must succeed
// or end with an error message, and its output must be complete and finite.
func tryFile(c *trial) error {
	r := readings[c.IntN(len(readings))]
	name := r.files[c.IntN(len(r.files))]
	content, err := os.ReadFile(c.path(name))
	if err != nil {
		return err
	}
	other, err := os.ReadFile(c.path(tables[c.IntN(len(tables))]))
	if err != nil {
		return err
	}
	for range c.IntN(4) {
		content = damage(c.Rand, content, other)
	}
	hostile := "hostile-" + name
	if err := os.WriteFile(filepath.Join(c.dir, hostile), content, 0o644); err != nil {
		return err
	}
	var args []string
	out := ""
	for word := range strings.FieldsSeq(r.command) {
		switch {
		case word == "%":
			word = hostile
		case word == "M":
			word = c.path(modelNPZ)
		case word == "D":
			word = c.path("rows.npy")
		case strings.HasPrefix(word, "out."):
			out = word
		}
		args = append(args, word)
	}
	ended, err := c.scqmRun(args...)
	if err != nil {
		return err
	}
	if err := ended.check(0, 1, 2); err != nil {
		return err
	}
	c.happened(fmt.Sprintf("ended with %d", ended.code))
	if err := checkNames(c.dir, hostile, out); err != nil {
		return err
	}
	return c.checkOutput(out, ended.code == 0)
}

// checkOutput returns an error unless the file is complete with finite numbers, if wanted
// is set, or absent, if not.
func (c *trial) checkOutput(name string, wanted bool) error {
	path := filepath.Join(c.dir, name)
	if _, err := os.Stat(path); !wanted {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("the command failed, and %s is there", name)
	}
	return readable(path)
}

// readable returns an error if an output file cannot be read in its format.
func readable(path string) error {
	var err error
	switch {
	case dataset.IsPointCloud(path):
		_, err = dataset.ReadPointCloud(path, false)
	case strings.HasSuffix(path, ".npz"):
		if _, err = scqm.Load(path); err != nil { // it may be a table
			_, err = dataset.Read(path, dataset.ReadOptions{})
		}
	default:
		_, err = dataset.Read(path, dataset.ReadOptions{})
		if errors.Is(err, dataset.ErrHeader) {
			err = nil // what is asked for here was decided in the input
		}
	}
	if err != nil {
		return fmt.Errorf("what was written cannot be read: %w", err)
	}
	return nil
}

// extremes are numbers and words that may break readers.
var extremes = []string{
	"1e999", "-1e308", "1e308", "5e-324", "nan", "NaN", "inf", "-", "", "0x1p4", "1_0", "9999999999999999999999", "O.1", "1,5",
	"\"", "\x00", "\ufeff", "\r", "\n", ",", "\t", "#", strings.Repeat("9", 500), strings.Repeat("a,", 300), "-0", "1e-320", "\xff\xfe",
}

// damage makes one change to the bytes of a file.
func damage(r *rand.Rand, b, other []byte) []byte {
	b = slices.Clone(b)
	if len(b) == 0 {
		return []byte(extremes[r.IntN(len(extremes))])
	}
	at := r.IntN(len(b))
	n := min(1+r.IntN(64), len(b)-at)
	switch r.IntN(14) {
	case 0: // flip a bit
		b[at] ^= 1 << r.IntN(8)
	case 1: // cut short
		b = b[:at]
	case 2: // lose a piece
		b = slices.Delete(b, at, at+n)
	case 3: // say a piece twice
		b = slices.Insert(b, at, b[at:at+n]...)
	case 4: // noise
		for i := range n {
			b[at+i] = byte(r.Uint32())
		}
	case 5: // a huge or a negative size
		for i := range min(n, 8) {
			b[at+i] = []byte{0xff, 0x7f, 0x80}[r.IntN(3)]
		}
	case 6, 7: // a number or a word that is none
		b = slices.Insert(b, at, []byte(extremes[r.IntN(len(extremes))])...)
	case 8: // a digit
		if b[at] = "0123456789.-eE,"[r.IntN(15)]; r.IntN(2) == 0 {
			b = slices.Insert(b, at, '9', '9', '9', '9')
		}
	case 10, 11, 12, 13: // one digit for another, where there is one
		for range 100 {
			if b[at] >= '0' && b[at] <= '9' {
				b[at] = byte('0' + r.IntN(10))
				break
			}
			at = r.IntN(len(b))
		}
	case 9: // a piece of another file, or all of it
		from := r.IntN(len(other))
		b = append(b[:at], other[from:]...)
	}
	return b
}
