package core

import (
	"context"
	"fmt"

	"github.com/scqm/scqm/models/rows"
)

// DefaultNeighbors is the number of neighbours of methods whose Neighbors setting is 0.
const DefaultNeighbors = 30

// SettleSize returns the number of neighbours of a method that needs at least least neighbours.
func SettleSize(m Method, d, D, neighbors, n, least int) (int, error) {
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
		return 0, Short("%s: %d rows are too few for latent dimension %d; want at least %d", m.Name(), n, d, least)
	}
	return min(k, n), nil
}

// PerWorker is a method that is completely defined by its workers.
type PerWorker func(context.Context) (Worker, error)

func (f PerWorker) Worker(ctx context.Context) (Worker, error) { return f(ctx) }

// chooser is a method that determines some of its settings from the rows.
type chooser interface {
	// Choose returns the method with these settings.
	Choose(ctx context.Context, c *Cloud, o Options) (Method, error)
}

// Settle returns a method whose settings no longer depend on the rows.
func Settle(ctx context.Context, m Method, c *Cloud, o Options) (Method, error) {
	if s, ok := m.(chooser); ok {
		return s.Choose(ctx, c, o)
	}
	return m, nil
}

// Sized is a method whose dimension and number of neighbours can be set.
type Sized interface {
	Method
	// Dimension returns the dimension of the surface.
	Dimension() int
	// Sized returns the method with the given values; 0 keeps the current value.
	Sized(latent, neighbors int) Method
}

// DenoiseSome denoises the listed rows of a cloud by all of its rows.
func DenoiseSome(ctx context.Context, m Method, c *Cloud, list []int, o Options) (*Result, error) {
	d, err := Prepare(ctx, m, c, o)
	if err != nil {
		return nil, err
	}
	rows := rows.Data{D: c.D, N: len(list)}
	for _, i := range list {
		rows.X = append(rows.X, c.Row(i)...)
	}
	return d.Denoise(ctx, rows, Options{Threads: o.Threads})
}

// LatentOf returns the dimension of the surface of a method, 0 if the method declares none.
func LatentOf(m Method) int {
	if m, ok := m.(interface{ Dimension() int }); ok {
		return m.Dimension()
	}
	return 0
}

// Exact is the noise, in units of the neighbourhood size, below which rows count as noise-free.
const Exact = 1e-7

// TukeyTail is the probability that normal noise exceeds the cut of Tukey's loss.
const TukeyTail = 2.8e-6
