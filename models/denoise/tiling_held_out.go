package denoise

import (
	"context"

	"github.com/scqm/scqm/models/denoise/internal/lookup"
)

// heldTiles are tiles with noise added to their rows.
type heldTiles struct {
	*tiling
	noise  heldNoise
	before autoSettings
	bounds map[field][]lookup.Box // before
}

// holdOut implements charts.
func (t *tiling) holdOut(s autoSettings, noise heldNoise) (heldRows, error) {
	t.forgetProbes()
	h := &heldTiles{tiling: t, noise: noise, before: t.auto, bounds: t.bounds}
	tasks := t.each(func(k int) *Task { return &Task{Tile: k, act: actHoldOut, noise: noise} })
	replies, err := t.engine.Run(t.ctx, tasks)
	if err != nil {
		return nil, err
	}
	t.auto, t.bounds = s, map[field][]lookup.Box{rowField: t.boxes(tasks, replies)}
	return h, nil
}

// judge implements heldRows.
func (h *heldTiles) judge(s setting, gain []float64) ([]float64, error) {
	h.auto.setting = s
	difference := make([]float64, min(h.n, selectionRows))
	k := &Task{act: actJudge, auto: h.auto, some: selectionRows, noise: h.noise, gain: gain}
	return difference, h.pass(k, []field{placeField}, []int{s.blended() + 1}, func(r *Reply) { r.scatter([][]float64{difference}) })
}

// takeBack implements heldRows.
func (h *heldTiles) takeBack() error {
	h.forgetProbes()
	_, err := h.engine.Run(h.ctx, h.each(func(k int) *Task { return &Task{Tile: k, act: actTakeBack} }))
	h.tiling.auto, h.tiling.bounds = h.before, h.bounds
	return err
}

// holdOut adds noise to the rows of a tile.
func (k *Task) holdOut(t *Tile) *Reply {
	D, x := t.columns, make([]float64, len(t.x))
	for i, g := range t.number {
		k.noise.seen(x[i*D:(i+1)*D], t.x[i*D:(i+1)*D], g)
	}
	t.keep()
	t.x = x
	return &Reply{bounds: []lookup.Box{t.bounds(rowField, nil)}}
}

// judge judges charts of some rows of a tile.
func (k *Task) judge(ctx context.Context, t *Tile, parts []*Tile) (*Reply, error) {
	list, place := k.targets(t)
	if len(list) == 0 {
		return &Reply{}, nil
	}
	D, came := t.columns, t.kept[len(t.kept)-1].X
	by := make([]float64, len(list)*D)
	for l, i := range list {
		k.noise.judge(by[l*D:(l+1)*D], came[i*D:(i+1)*D], t.number[i])
	}
	all := union(D, k.all, parts)
	p := k.charts(ctx, all)
	difference, missed, err := p.judgeSome(within(t, all, list), by, k.gain)
	if err != nil {
		return nil, err
	}
	return k.reply(t, all, p, list, missed, func(r *Reply, l, _ int) {
		r.place, r.values = append(r.place, place[l]), append(r.values, difference[l])
	}), nil
}
