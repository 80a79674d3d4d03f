package auto

import (
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
)

const (
	// placeCopies is how many copies of the rows are held: of places with their index, and of feet.
	placeCopies = 5
	// rowWords is what is held for a row beside these: what its chart counts for, an index of those with charts, and what is known about it.
	rowWords = 7 + core.IndexWords
	// placeWords is what charts of all sizes tell about a place, with the places near it.
	placeWords = nearPlaces + 60
	// siteWords is what a worker keeps of a site in space: its chart and foot, its place, and what it counts for.
	siteWords = 26
	// vicinityRows is how many rows a vicinity has for each that is asked for, and vicinityWords what two of them take for one.
	vicinityRows, vicinityWords = 12, 14
)

// Keeps counts the numbers that the method holds.
func (m Auto) Keeps(f *core.Footprint) {
	f.Latent, f.K = float64(m.Latent), max(f.K, min(f.N, max(maxNeighbors, min(f.N/mostOf, mostNeighbors))))
	line := 0.0
	if f.D == lookup.Space {
		line = chart.LineWidth
		f.Own = vicinityWords*min(f.N, vicinityRows*f.K) + sitesKept*siteWords*min(f.N, sitesBeyond*f.K/blendPart)
	}
	f.Kept = f.N*(f.D*placeCopies+rowWords+line+lookup.OrderWords) + MostPlaces*placeWords
	f.Kept += f.N * (f.D*(2+f.Latent+f.Latent*(f.Latent+3)/2) + chartNotes) // charts
}
