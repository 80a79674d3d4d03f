package denoise

import (
	"context"
	"fmt"
	"math"
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
		return &lpcaWorker{newFrame(c.D, m.Latent)}, nil
	}), nil
}

// perWorker is a method for which a worker is all.
type perWorker func(context.Context) (Worker, error)

func (f perWorker) Worker(ctx context.Context) (Worker, error) { return f(ctx) }

type lpcaWorker struct{ *frame }

func (w *lpcaWorker) Place(h *Neighborhood, about *Row) error {
	if !w.find(h.Rows, h.Weights) {
		return errLocal
	}
	about.Noise = w.noise(h.N())
	return nil
}

func (w *lpcaWorker) Project(dst, x []float64) error {
	w.flat(dst, x)
	return nil
}

// noise estimates the standard deviation away from the plane of n rows, in each
// of the D-d directions.
func (f *frame) noise(n int) float64 {
	left := f.total
	for _, v := range f.spread {
		left -= v
	}
	free := float64(n-f.k-1) / float64(n) * float64(f.D-f.k)
	if !(free > 0) {
		return 0
	}
	return math.Sqrt(max(left, 0) / free)
}
