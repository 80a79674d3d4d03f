package core

import (
	"fmt"

	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// ErrMemory is matched by the error of a computation that would exceed the available memory. The message has the
// figures. The error is returned before the computation begins.
var ErrMemory = memory.ErrTooLarge

// IndexWords is the memory of an index per row in addition to a copy of the row: its number, and its share of the
// nodes of a tree, whose slice doubles.
const IndexWords = 6

// Footprint counts the numbers that denoising holds at once, in float64 so that no product of sizes overflows.
type Footprint struct {
	N, D, Latent, K, Threads float64
	Fits                     bool // whether a model is fitted to every neighbourhood
	// Kept is the memory that a method stores for all rows, Own that of one goroutine beyond its neighbourhood.
	Kept, Own float64
}

// keeper is a method that stores more than the neighbourhoods of rows.
type keeper interface{ Keeps(f *Footprint) }

func NewFootprint(m Method, x rows.Data, o Options) Footprint {
	k, err := m.Size(x.N, x.D)
	if err != nil {
		k = x.N // settled later
	}
	f := Footprint{N: float64(x.N), D: float64(x.D), K: float64(k), Threads: float64(par.Threads(o.Threads))}
	if m, ok := m.(keeper); ok {
		m.Keeps(&f)
	}
	return f
}

// Workers counts the buffers of goroutines: neighbourhoods with their regression, and a model of them with its second
// derivatives, of at most arrowOuter coordinates.
func (f Footprint) Workers() float64 {
	arrowOuter := 500.0
	outer := min(arrowOuter, f.D*(2+f.D))
	p := min(f.D, 8)
	p = (p + 1) * (p + 2) / 2
	neighborhood := f.K*(3*f.D+p*(1+min(f.D, arrowOuter))+16) + f.Own
	if f.Fits {
		neighborhood += 8*outer*outer + 3*outer*f.K*min(f.D, 8) + 20*f.K*f.D
	}
	return f.Threads * (neighborhood + 4*f.D*f.D)
}

func (f Footprint) Reserve(m Method, x rows.Data, numbers float64) (*memory.Reservation, error) {
	what := fmt.Sprintf("denoise with the method %s: %d rows of %d columns", m.Name(), x.N, x.D)
	r, err := memory.Reserve(what, 8*numbers, "take fewer rows or columns")
	if err != nil {
		return nil, fmt.Errorf("denoise: %w", err)
	}
	return r, nil
}

// ReserveFit reserves the memory to prepare a method: merged equal rows, an index, and what the method keeps of every
// row.
func ReserveFit(m Method, x rows.Data, o Options) (*memory.Reservation, error) {
	f := NewFootprint(m, x, o)
	// Finding equal rows takes nine numbers for a row: a map of hashes, which is up to twice as large as what it holds, and two lists.
	return f.Reserve(m, x, 2*f.N*f.D+f.N*(9+IndexWords+3)+f.Workers()+f.Kept)
}

// ReserveResult reserves the memory of the denoised rows and their reports.
func ReserveResult(m Method, x rows.Data) (*memory.Reservation, error) {
	const row = 5 // words of a Row
	return Footprint{}.Reserve(m, x, float64(x.N)*(float64(x.D)+row))
}

// Reserve reserves the memory for denoising rows: the results and the report on each row.
func (d *Prepared) Reserve(x rows.Data, o Options) (*memory.Reservation, error) {
	f := NewFootprint(d.Method, d.Cloud.Data, o)
	f.Threads = float64(d.goroutines(o.Threads))
	// Ten are the size of a Row, and what lists of jobs take for one.
	numbers := float64(x.N)*(float64(x.D)+10+lookup.OrderWords) + f.Workers()
	if o.Share > 0 {
		numbers += f.N + 4*float64(x.N)
	}
	return f.Reserve(d.Method, x, numbers)
}
