package denoise

import (
	"fmt"

	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// ErrMemory is matched by errors about work that would take more memory than
// there is; the message has the figures. It is found before the work begins.
var ErrMemory = memory.ErrTooLarge

const (
	// indexWords is what an index takes for a row beside a copy of it: its
	// number, and its share of the nodes of a tree, whose slice doubles.
	indexWords = 6
	// mergeWords is what finding equal rows takes for a row: a map of hashes,
	// which is up to twice as large as what it holds, and two lists.
	mergeWords = 9
	// rowWords is the size of a Row, and what lists of jobs take for one.
	rowWords = 10
	// placeCopies is how many copies of the rows auto holds: of places with
	// their index, of feet, and of probes with places of their own.
	placeCopies = 10
	// leadWords is what a pilot takes for a row to find the one that it follows: three lists, and an index of those that lead. countWords is what a
	// choice takes for what the chart of a row sees and counts for, and an index of those with charts.
	leadWords, countWords = 6, 2 + indexWords
	// siteWords is what a worker keeps of a site in space: its chart and foot, its place, and what it counts for.
	siteWords = 26
	// vicinityRows is how many rows a vicinity has for each that is asked for, and vicinityWords what two of them take for one.
	vicinityRows, vicinityWords = 12, 14
)

// classWords is what indices of places by class take for a row, where there are classes.
func classWords(columns float64) float64 { return columns + indexWords + 3 }

// lineWords is what a row laid out for charts takes, of those in space.
func lineWords(columns float64) float64 {
	if columns == lookup.Space {
		return chart.LineWidth
	}
	return 0
}

// footprint counts numbers that denoising holds at once, in float64 so that no
// product of sizes overflows.
type footprint struct {
	n, D, d, k, threads float64
	fits                bool // a model to every neighbourhood
}

// workers counts the buffers of goroutines: neighbourhoods with their regression,
// and a model of them with its second derivatives, of which there are at most
// arrowOuter coordinates.
func (f footprint) workers() float64 {
	const arrowOuter = 500
	outer := min(arrowOuter, f.D*(2+f.D))
	p := min(f.D, 8)
	p = (p + 1) * (p + 2) / 2
	neighborhood := f.k * (3*f.D + p*(1+min(f.D, arrowOuter)) + 16)
	if f.D == lookup.Space {
		neighborhood += vicinityWords*min(f.n, vicinityRows*f.k) + sitesKept*siteWords*min(f.n, sitesBeyond*f.k/blendPart)
	}
	if f.fits {
		neighborhood += 8*outer*outer + 3*outer*f.k*min(f.D, 8) + 20*f.k*f.D
	}
	return f.threads * (neighborhood + 4*f.D*f.D)
}

func (f footprint) reserve(m Method, x rows.Data, numbers float64) (*memory.Reservation, error) {
	what := fmt.Sprintf("denoise with the method %s: %d rows of %d columns", m.Name(), x.N, x.D)
	r, err := memory.Reserve(what, 8*numbers, "take fewer rows or columns")
	if err != nil {
		return nil, fmt.Errorf("denoise: %w", err)
	}
	return r, nil
}
