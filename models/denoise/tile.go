package denoise

import (
	"fmt"
	"slices"

	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// Tile is a part of the rows of a cloud, with what is known of them so far. No two tiles
// have equal rows. It goes to other machines by MarshalBinary.
type Tile struct {
	columns int
	// number orders the rows among those of all tiles, ascending; all counts these.
	number []int
	all    int
	lost   []int     // numbers of the rows that NewTile left out
	x      []float64 // n x D
	weight []float64 // n; nil for weights of 1
	// places are those of the rows, and after them those of every probe; nil where
	// they are still the rows themselves.
	places [][]float64
	eps    float64 // by which probes differ from the rows
	// trust are the weights of these in the loss, and charts and about what [autoFit] has of
	// the rows.
	trust         [][]float64
	charts, about []float64
	// next is what comes in place of these, where done says so.
	next toCome
	done []bool
	// kept is what the rows were before they were turned, and before noise was added to them.
	kept []former
}

// former is what rows were, and what was known of them.
type former struct {
	Columns       int
	X             numbers
	Place, Trust  numbers
	Charts, About numbers
}

// keep keeps what the rows are, without probes, and forgets what is known of them.
func (t *Tile) keep() {
	f := former{Columns: t.columns, X: t.x, Charts: t.charts, About: t.about}
	if len(t.places) > 0 {
		f.Place, f.Trust = t.places[0], t.trust[0]
	}
	t.kept = append(t.kept, f)
	t.places, t.trust, t.charts, t.about, t.eps = nil, nil, nil, nil, 0
}

// takeBack takes what was kept last.
func (t *Tile) takeBack() {
	last := len(t.kept) - 1
	f := t.kept[last]
	t.columns, t.x, t.charts, t.about, t.eps, t.kept = f.Columns, f.X, f.Charts, f.About, 0, t.kept[:last]
	t.places, t.trust = [][]float64{f.Place}, [][]float64{f.Trust}
}

// toCome is what charts of the rows of a tile are to be kept as.
type toCome struct{ Feet, Charts, Trust, About numbers }

// NewTile makes a tile of rows with their numbers, ascending, in the whole table. Equal
// rows become one with the number of the first, and those of weight 0 are left out.
func NewTile(x rows.Data, number []int) (*Tile, error) {
	if err := checkNumbered(x, number); err != nil {
		return nil, err
	}
	t := &Tile{columns: x.D}
	merged := rows.Distinct(x)
	at := firstOf(x, merged)
	kept := make([]bool, x.N)
	for i := range merged.N {
		kept[at[i]] = merged.Weight(i) > 0
		if merged.Weight(i) > 0 {
			t.number = append(t.number, number[at[i]])
			t.x = append(t.x, merged.Row(i)...)
			if merged.Weights != nil {
				t.weight = append(t.weight, merged.Weights[i])
			}
		}
	}
	for i, k := range kept {
		if !k {
			t.lost = append(t.lost, number[i])
		}
	}
	return t, nil
}

// firstOf lists the rows of x that are the rows of merged: each the first of its kind.
func firstOf(x, merged rows.Data) []int {
	at := make([]int, merged.N)
	i := 0
	for k := range at {
		for !slices.Equal(x.Row(i), merged.Row(k)) {
			i++
		}
		at[k] = i
		i++
	}
	return at
}

func checkNumbered(x rows.Data, number []int) error {
	if len(x.X) != x.N*x.D || len(number) != x.N || x.D < 1 || x.Weights != nil && len(x.Weights) != x.N {
		return fmt.Errorf("denoise: %d numbers and %d weights for %d values that should be %d rows of %d: %w", len(number), len(x.Weights), len(x.X), x.N, x.D, ErrInput)
	}
	return nil
}

// Rows returns the number of different rows.
func (t *Tile) Rows() int { return len(t.number) }

// field is something that rows have a value of in every column, and are looked up by.
type field struct {
	// Probe is the number of one, or rowsThemselves.
	Probe int
	// Raw are rows as they came, or moved as a probe does; else their places.
	Raw bool
}

// values are those of a field, n x D.
func (t *Tile) values(f field) []float64 {
	switch {
	case f.Raw && f.Probe == rowsThemselves:
		return t.x
	case f.Raw:
		return t.probe(f.Probe).x
	}
	if k := 1 + f.Probe; k < len(t.places) && len(t.places[k]) == len(t.x) {
		return t.places[k]
	}
	return t.values(field{f.Probe, true})
}

// trusted are the weights of the values of a field in the loss; nil is 1.
func (t *Tile) trusted(f field) []float64 {
	if k := 1 + f.Probe; !f.Raw && k < len(t.trust) && len(t.trust[k]) == t.Rows() {
		return t.trust[k]
	}
	return nil
}

// probe makes the rows of a probe, as [cloudCharts.perturb] does.
func (t *Tile) probe(m int) probe {
	D := t.columns
	pr := probe{z: make([]float64, len(t.x)), x: slices.Clone(t.x)}
	for i, g := range t.number {
		rng := core.StreamFrom(core.SignStream, (uint64(m)*uint64(t.all)+uint64(g))*uint64(D))
		for j := i * D; j < (i+1)*D; j++ {
			pr.z[j] = core.RandomSign(rng.Uint64())
			pr.x[j] += t.eps * pr.z[j]
		}
	}
	return pr
}

// bounds is the box of the values of a field, of the rows for which only is true.
func (t *Tile) bounds(f field, only []bool) lookup.Box {
	b := lookup.NewBox(t.columns)
	v := t.values(f)
	for i := range t.Rows() {
		if only == nil || only[i] {
			b.Include(v[i*t.columns : (i+1)*t.columns])
		}
	}
	return b
}

// renumber numbers the rows among those of all tiles: what is dropped of [0, rows), ascending,
// are equal to others or have no weight.
func (t *Tile) renumber(dropped []int, all int) {
	for i, g := range t.number {
		before, _ := slices.BinarySearch(dropped, g)
		t.number[i] = g - before
	}
	t.all = all
}

// cut returns the rows whose value of some field is in the box wanted, with or without their
// charts.
func (t *Tile) cut(wants []want, charts bool) *Tile {
	keep := make([]bool, t.Rows())
	for _, w := range wants {
		v := t.values(w.Field)
		for i := range keep {
			keep[i] = keep[i] || w.Box.Contains(v[i*t.columns:(i+1)*t.columns])
		}
	}
	var list []int
	for i, k := range keep {
		if k {
			list = append(list, i)
		}
	}
	return t.take(list, charts)
}

// take returns the rows of a list, without what is to come, and with their charts if these
// are asked for.
func (t *Tile) take(list []int, charts bool) *Tile {
	part := &Tile{columns: t.columns, all: t.all, eps: t.eps, places: make([][]float64, len(t.places)), trust: make([][]float64, len(t.places))}
	pick := func(v []float64, width int) []float64 {
		if len(v) == 0 {
			return nil
		}
		to := make([]float64, 0, len(list)*width)
		for _, i := range list {
			to = append(to, v[i*width:(i+1)*width]...)
		}
		return to
	}
	for _, i := range list {
		part.number = append(part.number, t.number[i])
	}
	part.x, part.weight = pick(t.x, t.columns), pick(t.weight, 1)
	for k, v := range t.places {
		part.places[k], part.trust[k] = pick(v, t.columns), pick(t.trust[k], 1)
	}
	part.about = pick(t.about, aboutWidth)
	if charts && t.Rows() > 0 {
		part.charts = pick(t.charts, len(t.charts)/t.Rows())
	}
	return part
}

// union joins parts of several tiles, of all so many rows, in the order of the numbers.
func union(columns, rows int, parts []*Tile) *Tile {
	all := &Tile{columns: columns, all: rows}
	weighted := slices.ContainsFunc(parts, func(p *Tile) bool { return p.weight != nil })
	for _, p := range parts {
		all.eps = p.eps
		all.number = append(all.number, p.number...)
		all.x = append(all.x, p.x...)
		for i := 0; weighted && i < p.Rows(); i++ {
			w := 1.0
			if p.weight != nil {
				w = p.weight[i]
			}
			all.weight = append(all.weight, w)
		}
		for len(all.places) < len(p.places) {
			all.places, all.trust = append(all.places, nil), append(all.trust, nil)
		}
		for k, v := range p.places {
			all.places[k] = append(all.places[k], v...)
			all.trust[k] = append(all.trust[k], p.trust[k]...)
		}
		all.about, all.charts = append(all.about, p.about...), append(all.charts, p.charts...)
	}
	order := make([]int, all.Rows())
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return all.number[i] - all.number[j] })
	return all.take(order, true)
}
