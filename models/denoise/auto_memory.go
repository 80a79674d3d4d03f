package denoise

import (
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
)

const (
	// placeCopies is how many copies of the rows auto holds: of places with
	// their index, of feet, and of probes with places of their own.
	placeCopies = 10
	// leadWords is what a pilot takes for a row to find the one that it follows: three lists, and an index of those that lead. countWords is what a
	// choice takes for what the chart of a row sees and counts for, and an index of those with charts.
	leadWords, countWords = 6, 2 + core.IndexWords
	// siteWords is what a worker keeps of a site in space: its chart and foot, its place, and what it counts for.
	siteWords = 26
	// vicinityRows is how many rows a vicinity has for each that is asked for, and vicinityWords what two of them take for one.
	vicinityRows, vicinityWords = 12, 14
)

// classWords is what indices of places by class take for a row, where there are classes.
func classWords(columns float64) float64 { return columns + core.IndexWords + 3 }

// lineWords is what a row laid out for charts takes, of those in space.
func lineWords(columns float64) float64 {
	if columns == lookup.Space {
		return chart.LineWidth
	}
	return 0
}

// probesOf is the number of probes of so many rows.
func probesOf(n float64) float64 {
	if n <= fewRows {
		return maxProbes
	}
	return 1
}

// Keeps implements keeper.
func (m Auto) Keeps(f *core.Footprint) {
	f.Latent, f.K = float64(m.Latent), max(f.K, min(f.N, maxNeighbors))
	if f.D == lookup.Space {
		f.Own = vicinityWords*min(f.N, vicinityRows*f.K) + sitesKept*siteWords*min(f.N, sitesBeyond*f.K/blendPart)
	}
	probes := probesOf(f.N)
	f.Kept = f.N*f.D*placeCopies*(1+probes)/2 + f.N*(core.IndexWords+3)*(2+probes)
	f.Kept += (classWords(f.D)+lineWords(f.D))*f.N*(1+probes) + compareNumbers(f.N, f.D, probes)
	f.Kept += (lookup.OrderWords + leadWords + countWords + f.D) * f.N
	f.Kept += selectionRows * 2 * min(f.N, f.K+1)
	f.Kept += 2 * f.N * (f.D*(2+f.Latent+f.Latent*(f.Latent+3)/2) + 2) // charts as they are made, and kept
}

// Keeps implements keeper.
func (m Select) Keeps(f *core.Footprint) { f.Fits, f.Kept = true, f.N*f.D }

// Travels implements traveller.
func (*autoFit) Travels() {}

// Dimension is Latent.
func (m Auto) Dimension() int { return m.Latent }
