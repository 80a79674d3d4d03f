package denoise

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/models/denoise/internal/lookup"
)

// part is a tile, or queries, of which a pass has rows left.
type part struct {
	tile int
	box  []lookup.Box // of the values of these rows, by field
	halo float64      // around the box
}

// pass does a task on all tiles, or queries, until no row is missed: those that are go to
// a further round with twice the halo, or more where searches tell what they need. fields are what rows are looked up by, the
// K nearest at most where that does not depend on the rows; of fields without a K the halo does.
func (t *tiling) pass(template *Task, fields []field, K []int, take func(*Reply)) error {
	parts, err := t.parts(template.Queries, fields)
	if err != nil {
		return err
	}
	whole := make([]lookup.Box, len(fields))
	var width float64
	for l, f := range fields {
		whole[l] = t.whole(f)
		reach := lookup.NewBox(t.D)
		reach.Join(whole[l])
		for _, p := range parts {
			reach.Join(p.box[l])
		}
		width = max(width, reach.Width())
	}
	for l, k := range K {
		if err := t.halos(parts, fields[l], k); err != nil {
			return err
		}
	}
	t.report.Passes++
	for round := 0; len(parts) > 0; round++ {
		if round > maxRounds {
			return fmt.Errorf("denoise: in tiles: rows are left after %d rounds", maxRounds)
		}
		tasks := make([]*Task, len(parts))
		for k, p := range parts {
			tasks[k] = t.task(template, p, fields, whole, round)
		}
		replies, err := t.engine.Run(t.ctx, tasks)
		if err != nil {
			return err
		}
		t.report.Rounds++
		var left []part
		for k, r := range replies {
			take(r)
			t.report.Read += r.Known
			t.report.Again += r.Missed
			if r.Missed > 0 {
				p := parts[k]
				p.box = t.boxesOf(p.tile, template.Queries, fields, r.bounds)
				p.halo = max(2*p.halo, justAbove*r.reach, math.Ldexp(width, round-finestHalo))
				left = append(left, p)
			}
		}
		parts = left
	}
	t.advanceProgress()
	return nil
}

const (
	// justAbove makes faces further than what is at the distance found.
	justAbove = 1 + 1e-9
	// finestHalo is the number of times that the width of the cloud is halved for the least
	// halo of a second round, so that no halo begins too small to be doubled often
	// enough in maxRounds.
	finestHalo = 8
	maxRounds  = finestHalo + 4
)

func (t *tiling) advanceProgress() {
	if t.o.Progress != nil {
		t.o.Progress(float64(t.report.Passes) / float64(t.report.Passes+2))
	}
}

// task is that of a part in a round.
func (t *tiling) task(template *Task, p part, fields []field, whole []lookup.Box, round int) *Task {
	k := *template
	k.Tile, k.first, k.all = p.tile, round == 0, t.n
	k.Threads = t.o.Threads
	give := make([]bool, t.engine.Tiles())
	for l, f := range fields {
		known := p.box[l].Widen(p.halo)
		known.OpenTo(whole[l])
		k.wants = append(k.wants, want{f, known})
		for s, b := range t.boundsOf(f) {
			give[s] = give[s] || !b.Empty() && known.Meets(b)
		}
	}
	for s, g := range give {
		if g {
			k.Sources = append(k.Sources, s)
		}
	}
	return &k
}

// parts lists the tiles, or queries, with rows.
func (t *tiling) parts(queries bool, fields []field) ([]part, error) {
	var parts []part
	if !queries {
		for _, k := range t.each(func(tile int) *Task { return &Task{Tile: tile} }) {
			var bounds []lookup.Box
			for _, f := range fields {
				bounds = append(bounds, t.boundsOf(f)[k.Tile])
			}
			parts = append(parts, part{tile: k.Tile, box: bounds})
		}
		return parts, nil
	}
	tasks := make([]*Task, t.engine.Queries())
	for k := range tasks {
		tasks[k] = &Task{Tile: k, Queries: true, act: actSurvey, plane: t.plane, linear: t.linear}
	}
	replies, err := t.engine.Run(t.ctx, tasks)
	for k, r := range replies {
		if !r.bounds[0].Empty() {
			parts = append(parts, part{tile: k, box: t.boxesOf(k, true, fields, r.bounds)})
		}
	}
	return parts, err
}

// boxesOf are the boxes of a part by those that a reply has. Queries have one for each field, or else one, and are
// looked up by places about where those of the tile of their number are.
func (t *tiling) boxesOf(tile int, queries bool, fields []field, bounds []lookup.Box) []lookup.Box {
	if !queries || len(bounds) == len(fields) {
		return bounds
	}
	boxes := make([]lookup.Box, len(fields))
	for l, f := range fields {
		boxes[l] = lookup.NewBox(t.D)
		boxes[l].Join(bounds[0])
		if of := t.boundsOf(f); !f.Raw && tile < len(of) {
			boxes[l].Join(of[tile])
		}
	}
	return boxes
}

// halos widens the first halo of every part for K neighbours by a field.
func (t *tiling) halos(parts []part, f field, K int) error {
	if t.halo >= 0 {
		for k := range parts {
			parts[k].halo = t.halo
		}
		return nil
	}
	tasks := t.each(func(k int) *Task { return &Task{Tile: k, act: actReach, field: f, neighbors: K} })
	replies, err := t.engine.Run(t.ctx, tasks)
	if err != nil {
		return err
	}
	reach := make([]float64, t.engine.Tiles())
	var most float64
	for k, r := range replies {
		reach[tasks[k].Tile] = r.reach
		most = max(most, r.reach)
	}
	for k := range parts {
		halo := most
		if at := parts[k].tile; at < len(reach) && reach[at] > 0 {
			halo = reach[at]
		}
		parts[k].halo = max(parts[k].halo, halo)
	}
	return nil
}
