package denoise

import (
	"math"

	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/rows"
)

const (
	// partCopies is how many copies of the rows that a task knows are held at once: parts
	// of tiles, their union, and the same in the order of numbers.
	partCopies = 3
	// tileCopies is how many of the rows of a tile are: rows, what becomes of them, the
	// bytes of both, and those of another tile that gives a part.
	tileCopies = 6
)

// KnownRows estimates how many of n rows a task on a tile of so many knows, with the rows in
// the halo around it: those of a cube on a surface of the latent dimension that is wider
// by a ball of K rows at every side. Rows that lie unevenly may need more.
func KnownRows(m Method, tile, n, columns int, o Options) float64 {
	f := tileFootprint(m, n, columns, o)
	side := 1 + 2*math.Pow(max(f.K, float64(o.Average))/float64(tile), 1/f.Latent)
	return min(float64(n), float64(tile)*math.Pow(side, f.Latent))
}

// TaskBytes counts the bytes of memory that a task takes on a tile of so many rows, of n in
// all, that knows so many.
func TaskBytes(m Method, tile int, known float64, n, columns int, o Options) float64 {
	f := tileFootprint(m, n, columns, o)
	row := f.D + 3 // with its number, its weight, and its trust
	ofKnown, ofTile, ofTask := partCopies*row+f.D+core.IndexWords, tileCopies*row+core.RowWords+core.MergeWords, f.Workers()
	if _, auto := m.(Auto); auto {
		probes := probesOf(float64(n))
		chart := f.D*(2+f.Latent+f.Latent*(f.Latent+3)/2) + 2
		ofKnown += partCopies*chart + f.D*placeCopies*(1+probes)/2 + (core.IndexWords+3)*(2+probes) + (classWords(f.D)+lineWords(f.D))*(1+probes) + f.D + countWords
		ofTile += tileCopies * chart
		ofTask += compareNumbers(float64(tile), f.D, probes)
		if comparesLinear(m, columns, o) { // rows as they came, and charts while those of rows held out are made
			ofTile += tileCopies * (2*row + chart)
		}
	}
	return 8 * (known*ofKnown + float64(tile)*ofTile + ofTask)
}

// tileFootprint is that of work on rows, with a latent dimension of at least 1.
func tileFootprint(m Method, n, columns int, o Options) core.Footprint {
	f := core.NewFootprint(m, rows.Data{N: n, D: columns}, o)
	f.K = min(f.K, float64(n))
	if f.Latent == 0 {
		f.Latent = min(2, f.D)
	}
	return f
}
