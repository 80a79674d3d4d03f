package denoise

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/denoise/internal/principal"
	"github.com/scqm/scqm/models/rows"
)

// act is what a task does with a tile.
type act uint8

const (
	actSurvey   act = iota // says what rows there are
	actNumber              // numbers the rows among those of all tiles
	actDraw                // gives some rows
	actTurn                // takes the coordinates of rows on a plane for the rows
	actShrink              // takes shrunk coordinates for the places
	actHoldOut             // adds noise to the rows, and keeps what they were
	actJudge               // judges charts of such rows
	actTakeBack            // takes what was kept
	actForget              // forgets probes and what was kept
	actReach               // estimates how far away neighbours are
	actPerturb             // makes probes
	actMeasure             // measures charts for thin parts
	actChart               // makes charts, and feet to come
	actCommit              // takes what is to come for what is known
	actFollow              // takes the feet of probes on the charts for their places
	actCompare             // compares candidates of auto
	actTrial               // measures distances of some rows from fits with the loss l2
	actDenoise             // denoises queries
)

// want is a box of which a task knows all rows whose value of a field is in it.
type want struct {
	Field field
	Box   lookup.Box
}

// Task is work on a tile, or on queries, for which it takes parts of other tiles. It goes
// to other machines by MarshalBinary; all of them must run one version of this package.
type Task struct {
	// Tile is the number of the tile, or of the queries, that it works on and changes,
	// Queries tells which. Sources are the tiles that give it parts by [Task.Cut], as
	// they are before any task that is run together with this one.
	Tile    int
	Queries bool
	Sources []int
	// Threads bounds the goroutines of the task; below 1 stands for all processors. The
	// result does not depend on it.
	Threads int

	act     act
	first   bool // of the rounds of a pass: nothing is done yet
	all     int  // rows of positive weight
	dropped []int
	wants   []want

	field     field // of actReach, for so many neighbours
	neighbors int
	some      int // bounds the rows that the task is for; 0 is for all

	plane      *principal.Plane // of actTurn, and of queries that are turned before all else
	linear     *principal.PCA   // in place of the method, without its plane
	unchanged  bool             // rows are left as they are
	keep       bool             // what actTurn turns
	noise      heldNoise        // of actHoldOut and actJudge
	gain       []float64        // of the linear model that actJudge compares with
	auto       autoSettings     // what auto has found so far
	order      order
	candidates []candidate
	probes     int
	eps        float64

	distances []float64 // of rows from fits with l2, for the loss
	options   Options
}

// Reply is what a task says.
type Reply struct {
	// Missed counts the rows of the task that are not done, since neighbours may be
	// beyond what it knew, of which there were Known rows.
	Missed, Known int

	rows    int
	dropped []int
	bounds  []lookup.Box // of the fields asked for; of rows that are missed where some are
	// reach is what actReach asks, and otherwise how far rows would have to be known for
	// those that are missed, as far as searches can tell.
	reach float64
	// place is the place of a row in the list that a pass is for, with a row of
	// values each.
	place  []int
	values []float64
}

// Changes reports whether the tile, or the queries, are others after the task. What only tells of rows
// leaves them.
func (k *Task) Changes() bool { return k.act != actSurvey && k.act != actDraw && k.act != actReach }

// Cut returns the rows of a tile that the task takes.
func (k *Task) Cut(t *Tile) *Tile { return t.cut(k.wants, k.takesCharts()) }

func (k *Task) takesCharts() bool {
	return k.act == actDenoise || k.act == actJudge || k.order.setting.drawn
}

// Do does the task on a tile, with the parts that its sources gave.
func (k *Task) Do(ctx context.Context, m Method, t *Tile, parts []*Tile) (*Reply, error) {
	if (k.act == actJudge || k.act == actTakeBack) && len(t.kept) == 0 {
		return nil, fmt.Errorf("denoise: a tile has not kept the rows that act %d asks for: %w", k.act, ErrInput)
	}
	switch k.act {
	case actSurvey:
		return &Reply{rows: t.Rows(), bounds: []lookup.Box{t.bounds(field{rowsThemselves, true}, nil)}, dropped: t.lost}, nil
	case actNumber:
		t.renumber(k.dropped, k.all)
		t.lost = nil
	case actDraw:
		return k.draw(t), nil
	case actTurn:
		return k.turn(t)
	case actShrink:
		return k.shrink(t)
	case actHoldOut:
		return k.holdOut(t), nil
	case actJudge:
		return k.judge(ctx, t, parts)
	case actTakeBack:
		t.takeBack()
	case actForget:
		t.perturb(0, 0)
		t.kept = nil
	case actReach:
		return &Reply{reach: t.reach(k)}, nil
	case actPerturb:
		t.perturb(k.probes, k.eps)
	case actCommit:
		t.commit()
		return &Reply{bounds: []lookup.Box{t.bounds(placeField, nil)}}, nil
	case actFollow:
		return k.follow(ctx, t)
	case actMeasure:
		return k.measure(ctx, t, parts)
	case actChart:
		return k.chart(ctx, t, parts)
	case actCompare:
		return k.compare(ctx, t, parts)
	case actTrial:
		return k.trial(ctx, m, t, parts)
	default:
		return nil, fmt.Errorf("denoise: act %d is not done on tiles: %w", k.act, ErrInput)
	}
	return &Reply{}, nil
}

// perturb makes probes, or forgets those there are, with all places but those of the rows.
func (t *Tile) perturb(probes int, eps float64) {
	places, trust := make([][]float64, 1+probes), make([][]float64, 1+probes)
	if len(t.places) > 0 {
		places[0], trust[0] = t.places[0], t.trust[0]
	}
	t.eps, t.places, t.trust = eps, places, trust
}

// commit takes what is to come.
func (t *Tile) commit() {
	if t.next.Feet != nil {
		t.places[0], t.trust[0], t.charts = t.next.Feet, t.next.Trust, t.next.Charts
	}
	if t.next.About != nil {
		t.about = t.next.About
	}
	t.next, t.done = toCome{}, nil
}

// follow takes the feet of probes on the charts of a tile for their places.
func (k *Task) follow(ctx context.Context, t *Tile) (*Reply, error) {
	p := k.charts(ctx, t)
	if err := p.follow(k.order.setting); err != nil {
		return nil, err
	}
	r := &Reply{}
	for m, pr := range p.probes {
		t.places[1+m], t.trust[1+m] = pr.places.y, pr.places.trust
		r.bounds = append(r.bounds, t.bounds(field{m, false}, nil))
	}
	return r, nil
}

// targets lists the rows of a tile that a task is for and that are not done, with
// their places among all that it is for.
func (k *Task) targets(t *Tile) (list, place []int) {
	if k.first {
		t.done = make([]bool, t.Rows())
	}
	for i, g := range t.number {
		at := g
		if k.some > 0 {
			at = core.PlaceAmongSome(g, t.all, k.some)
		}
		if at >= 0 && k.order.of.place(at) >= 0 && !t.done[i] {
			list, place = append(list, i), append(place, at)
		}
	}
	return list, place
}

// within finds the rows of a list of a tile in the union of parts.
func within(t, all *Tile, list []int) []int {
	at := make([]int, len(list))
	i := 0
	for k, own := range list {
		for i < all.Rows() && all.number[i] < t.number[own] {
			i++
		}
		at[k] = i
	}
	return at
}

// cloud is the cloud of the rows that a task knows.
func (k *Task) cloud(all *Tile) *Cloud {
	c := &Cloud{Data: rows.Data{N: all.Rows(), D: all.columns, X: all.x, Weights: all.weight}, Number: all.number, Others: all.all - all.Rows()}
	c.Used = make([]int, all.Rows())
	for i := range c.Used {
		c.Used[i] = i
	}
	c.Index = k.index(all, field{rowsThemselves, true})
	return c
}

// index is that of the rows that are known by a field; nil where it is not wanted.
func (k *Task) index(all *Tile, f field) lookup.Index {
	for _, w := range k.wants {
		if w.Field != f {
			continue
		}
		var list []int
		v := all.values(f)
		for i := range all.Rows() {
			if w.Box.Contains(v[i*all.columns : (i+1)*all.columns]) {
				list = append(list, i)
			}
		}
		return lookup.KnownIndex{Index: lookup.NewIndex(v, all.columns, list), Known: w.Box}
	}
	return nil
}

// charts makes what charts the rows that a task knows.
func (k *Task) charts(ctx context.Context, all *Tile) *cloudCharts {
	p := &cloudCharts{ctx: ctx, o: k.settings(), eps: all.eps, autoFit: &autoFit{autoSettings: k.auto, cloud: k.cloud(all), about: all.about, charts: all.charts}}
	at := func(probe int) places {
		f := field{probe, false}
		return places{y: all.values(f), index: k.index(all, f), trust: all.trusted(f)}
	}
	p.places = at(rowsThemselves)
	for m := range len(all.places) - 1 {
		pr := all.probe(m)
		pr.places = at(m)
		p.probes = append(p.probes, pr)
	}
	return p
}

// measure finds what charts about some rows tell of thin parts, for what is to be known about these.
func (k *Task) measure(ctx context.Context, t *Tile, parts []*Tile) (*Reply, error) {
	list, _ := k.targets(t)
	if k.first {
		t.next = toCome{About: make([]float64, aboutWidth*t.Rows())}
	}
	if len(list) == 0 {
		return &Reply{}, nil
	}
	all := union(t.columns, k.all, parts)
	p := k.charts(ctx, all)
	about, missed, err := p.measureSome(within(t, all, list), k.order.setting)
	if err != nil {
		return nil, err
	}
	return k.reply(t, all, p, list, missed, func(_ *Reply, l, i int) {
		copy(t.next.About[aboutWidth*i:], about[aboutWidth*l:aboutWidth*(l+1)])
	}), nil
}

// chart makes the charts of an order.
func (k *Task) chart(ctx context.Context, t *Tile, parts []*Tile) (*Reply, error) {
	list, place := k.targets(t)
	if k.first && k.order.keep {
		t.next = toCome{Feet: make([]float64, len(t.x))}
	}
	if len(list) == 0 {
		return &Reply{}, nil
	}
	all := union(t.columns, k.all, parts)
	p := k.charts(ctx, all)
	m, err := p.chartLed(within(t, all, list), k.order)
	if err != nil {
		return nil, err
	}
	return k.reply(t, all, p, list, m.missed, func(r *Reply, l, i int) {
		r.place = append(r.place, k.order.of.place(place[l]))
		for _, c := range m.columns() {
			r.values = append(r.values, c[l])
		}
		if k.order.keep {
			t.expect(i, l, m, k.order.setting.pilot)
		}
	}), nil
}

// expect takes what was made of row i, the l-th, for what is to come.
func (t *Tile) expect(i, l int, m *made, pilot bool) {
	part := func(to *numbers, from []float64, width int) {
		if *to == nil {
			*to = make([]float64, t.Rows()*width)
		}
		copy((*to)[i*width:(i+1)*width], from[l*width:(l+1)*width])
	}
	part(&t.next.Feet, m.feet, t.columns)
	part(&t.next.Trust, m.trust, 1)
	part(&t.next.Charts, m.charts, len(m.charts)/len(m.missed))
	if pilot {
		part(&t.next.About, m.about, aboutWidth)
	}
}

// reply takes what was found of the rows of a list, the l-th of which is row i, and counts those that lacked
// neighbours.
func (k *Task) reply(t, all *Tile, p *cloudCharts, list []int, missed []bool, take func(r *Reply, l, i int)) *Reply {
	r := &Reply{Known: all.Rows(), reach: p.need()}
	for l, i := range list {
		if missed[l] {
			r.Missed++
			continue
		}
		t.done[i] = true
		take(r, l, i)
	}
	k.boundMissed(r, t, list, missed)
	return r
}

// boundMissed says where the rows are that are missed, by every field wanted.
func (k *Task) boundMissed(r *Reply, t *Tile, list []int, missed []bool) {
	left := make([]bool, t.Rows())
	for l, i := range list {
		left[i] = missed[l]
	}
	for _, w := range k.wants {
		r.bounds = append(r.bounds, t.bounds(w.Field, left))
	}
}

// compare compares candidates.
func (k *Task) compare(ctx context.Context, t *Tile, parts []*Tile) (*Reply, error) {
	list, place := k.targets(t)
	if len(list) == 0 {
		return &Reply{}, nil
	}
	all := union(t.columns, k.all, parts)
	p := k.charts(ctx, all)
	out, missed, err := p.compareSome(within(t, all, list), place, k.order.setting, k.candidates)
	if err != nil {
		return nil, err
	}
	return k.reply(t, all, p, list, missed, func(r *Reply, l, _ int) {
		r.place = append(r.place, k.order.of.place(place[l]))
		for _, c := range out {
			for _, v := range c.columns() {
				r.values = append(r.values, v[l])
			}
		}
	}), nil
}

// trial measures the distances of some rows from fits with the loss l2; -1 is for rows
// left as they are.
func (k *Task) trial(ctx context.Context, m Method, t *Tile, parts []*Tile) (*Reply, error) {
	list, place := k.targets(t)
	if len(list) == 0 {
		return &Reply{}, nil
	}
	all := union(t.columns, k.all, parts)
	x := t.take(list, false)
	local, ok := m.(classic.SCQM)
	if !ok {
		return nil, fmt.Errorf("denoise: %s has no loss to make: %w", m.Name(), ErrInput)
	}
	d, err := k.denoiser(ctx, local.Trial(), all)
	if err != nil {
		return nil, err
	}
	d.Number = x.number
	result, err := d.Each(ctx, rows.Data{N: x.Rows(), D: x.columns, X: x.x}, k.settings())
	if err != nil {
		return nil, err
	}
	r := &Reply{Known: all.Rows(), reach: result.Need}
	missed := make([]bool, len(list))
	for l, row := range result.Rows {
		if missed[l] = !row.Done; missed[l] {
			r.Missed++
			continue
		}
		t.done[list[l]] = true
		r.place = append(r.place, place[l])
		if row.Unchanged {
			row.Residual = -1
		}
		r.values = append(r.values, row.Residual)
	}
	k.boundMissed(r, t, list, missed)
	return r, nil
}

// settings are the options of the task.
func (k *Task) settings() Options {
	o := k.options
	o.Threads = k.Threads
	return o
}

// denoiser is a method made ready for the rows that a task knows.
func (k *Task) denoiser(ctx context.Context, m Method, all *Tile) (*core.Prepared, error) {
	c := k.cloud(all)
	if auto, ok := m.(Auto); ok {
		size, err := auto.Size(c.Count(), c.D)
		a := &autoFit{autoSettings: k.auto, cloud: c, about: all.about, charts: all.charts}
		f := field{rowsThemselves, false}
		a.places = places{y: all.values(f), index: k.index(all, f), trust: all.trusted(f)}
		a.places.divide(c, a.every(&a.setting, c.Count()))
		a.countCharts()
		return &core.Prepared{Method: auto, Cloud: c, Fitted: a, Size: size}, err
	}
	if l, ok := m.(principal.PCA); ok && l.Neighbors > 0 {
		size, err := l.Size(c.Count(), c.D)
		l.Plane = k.plane
		return &core.Prepared{Method: l, Cloud: c, Fitted: l.NearRows(c, k.index(all, placeField)), Size: size}, err
	}
	if s, ok := m.(classic.SCQM); ok && s.LossFor != nil {
		var err error
		if s.Loss, err = s.LossFor(k.distances); err != nil {
			return nil, err
		}
		s.LossFor = nil
		m = s
	}
	return core.Prepare(ctx, onPlane(m, k.plane), c, k.settings())
}

// reach estimates the distance of the neighbours of most rows, from above: by the
// distances among rows of the tile.
func (t *Tile) reach(k *Task) float64 {
	const looks = 32
	v := t.values(k.field)
	D := t.columns
	all := make([]int, t.Rows())
	for i := range all {
		all[i] = i
	}
	var s lookup.Search
	near := lookup.NewScan(v, D, all)
	far := make([]float64, 0, looks)
	for l := range min(looks, t.Rows()) {
		i := core.SomeRow(l, t.Rows(), min(looks, t.Rows()))
		found := s.Find(near, v[i*D:(i+1)*D], k.neighbors)
		far = append(far, math.Sqrt(found[len(found)-1].Distance))
	}
	if len(far) == 0 {
		return 0
	}
	slices.Sort(far)
	return far[len(far)*9/10]
}
