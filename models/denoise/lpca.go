package denoise

import (
	"context"
	"fmt"

	"github.com/scqm/scqm/models/denoise/internal/chart"
)

// DefaultNeighbors is the number of neighbours that 0 stands for in the settings
// of methods.
const DefaultNeighbors = 30

// LPCA is local principal component analysis: the projection on the plane
// through the mean of the neighbours along their principal directions.
type LPCA struct {
	// Latent is d, the dimension of the surface, 1 <= d <= D.
	Latent int
	// Neighbors is K, at least d+1; 0 stands for 30.
	Neighbors int
}

// Name returns "lpca".
func (LPCA) Name() string { return "lpca" }

// Size returns the number of neighbours.
func (m LPCA) Size(n, D int) (int, error) { return size(m, m.Latent, D, m.Neighbors, n, m.Latent+1) }

// size settles the number of neighbours, of which a method needs so many.
func size(m Method, d, D, neighbors, n, least int) (int, error) {
	k := neighbors
	if k == 0 {
		k = max(DefaultNeighbors, least)
	}
	switch {
	case d < 1 || d > D:
		return 0, fmt.Errorf("denoise: %s: latent dimension %d does not fit rows of length %d; want 1 to %d: %w", m.Name(), d, D, D, ErrInput)
	case k < least:
		return 0, fmt.Errorf("denoise: %s: %d neighbours are too few for latent dimension %d; want at least %d: %w", m.Name(), k, d, least, ErrInput)
	case n < least:
		return 0, fmt.Errorf("denoise: %s: %d rows are too few for latent dimension %d; want at least %d, or a smaller dimension: %w", m.Name(), n, d, least, ErrInput)
	}
	return min(k, n), nil
}

// Prepare has nothing to do.
func (m LPCA) Prepare(_ context.Context, c *Cloud, _ Options) (Fitted, error) {
	return perWorker(func(context.Context) (Worker, error) {
		return &lpcaWorker{chart.NewFrame(c.D, m.Latent)}, nil
	}), nil
}

// perWorker is a method for which a worker is all.
type perWorker func(context.Context) (Worker, error)

func (f perWorker) Worker(ctx context.Context) (Worker, error) { return f(ctx) }

type lpcaWorker struct{ *chart.Frame }

func (w *lpcaWorker) Place(h *Neighborhood, about *Row) error {
	if !w.Find(h.Rows, h.Weights) {
		return errLocal
	}
	about.Noise = w.Noise(h.N())
	return nil
}

func (w *lpcaWorker) Project(dst, x []float64) error {
	w.Flat(dst, x)
	return nil
}
