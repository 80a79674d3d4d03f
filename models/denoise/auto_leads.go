package denoise

import (
	"math/bits"

	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// Charts of rows near each other are made of nearly the same rows, and are nearly the same. Of many rows of a surface in space some lead, by chance,
// and have charts of their own. The others follow the one that is nearest to them: the pilot takes their feet on its chart for their places, unless they are
// far from that, or it sees more noise than there is, as across an edge. The charts of the choice, of which a foot is
// the mean of many, need not be those of all rows either; where the pilot saw more noise, as near edges, they are those of more.

const (
	// pilotLeads is the number of rows for one that leads in the pilot.
	pilotLeads = 4
	// opinions is the number of charts in the mean of a foot where not all rows have one, doubtedOpinions where the pilot saw more noise than there is,
	// and worthLeading how many rows there have to be for one that leads.
	opinions, doubtedOpinions = 35.0, 60.0
	worthLeading              = 1.3
	// followsWithin is the distance of a row from the chart that it follows, in units of the noise, and doubtfulLead the noise of that, beyond which
	// it has its own.
	followsWithin, doubtfulLead = 2.5, 1.3
)

// oneIn is how many rows there are for one that leads, of charts that are kept.
func (p *autoPrepare) oneIn(s *setting) float64 {
	switch {
	case !p.knowsBeyond() || !s.noisy || s.Sides > 0 || p.every(s, p.n) > 1:
		return 1
	case s.pilot:
		return pilotLeads
	}
	if few := float64(s.blended()) / opinions; few > worthLeading {
		return few
	}
	return 1
}

// leads tells which rows of the cloud lead, where among rows like row i there is to be one in oneIn(i).
func (p *cloudCharts) leads(oneIn func(row int) float64) []bool {
	c, lead := p.cloud, make([]bool, p.cloud.N)
	for k, i := range c.Used {
		if c.Number != nil {
			k = c.Number[i]
		}
		chance := float64(bits.Reverse64(scattered(uint64(k))) >> 11) // by the last bits first, exactly: where there is to be one in 1 all lead
		lead[i] = chance*oneIn(i) < 1<<53
	}
	return lead
}

// chartLed makes the charts of an order, of those rows of list that lead where not all are to have some.
func (p *cloudCharts) chartLed(list []int, o order) (*made, error) {
	switch {
	case !o.keep || o.setting.oneIn <= 1:
		return p.chartSome(list, o)
	case o.setting.pilot:
		return p.chartPilot(list, o)
	}
	D, W := p.cloud.D, p.chartWidth()
	lead := p.leads(func(i int) float64 { return o.setting.standsFor(p.about, i) })
	m := p.newMade(len(list), o)
	var some, at []int
	for k, i := range list {
		if lead[i] {
			some, at = append(some, i), append(at, k)
			continue
		}
		copy(m.feet[k*D:(k+1)*D], p.places.y[i*D:(i+1)*D])
		m.trust[k], m.charts[(k+1)*W-1] = p.places.trust[i], standIn
	}
	return m, p.chartInto(m, some, at, o)
}

// thinPart tells whether a row is in a thin part, by what the pilot knows about it.
func thinPart(about []float64) bool { return about[2] > 0 || about[3] > 0 }

// doubted tells, by what the pilot knows about a row, whether it saw more noise there than so many times what there is, or a thin part.
func doubted(about []float64, most float64) bool { return thinPart(about) || !(about[4] <= most) }

// standsFor is how many rows there are for one with a chart, about a row: in a mean of feet that counts for so many, else the mean would be that of the charts of places
// where more rows have one.
func (s *setting) standsFor(about []float64, row int) float64 {
	if s.oneIn <= 1 {
		return 1
	}
	switch about = about[aboutWidth*row : aboutWidth*(row+1)]; {
	case thinPart(about):
		return 1
	case doubted(about, doubtful):
		return max(float64(s.blended())/doubtedOpinions, 1)
	}
	return s.oneIn
}

// chartPilot makes the charts of a pilot for the rows of list that lead, for those that are followed, and for those that can follow none.
func (p *cloudCharts) chartPilot(list []int, o order) (*made, error) {
	n, lead := len(list), p.leads(func(int) float64 { return o.setting.oneIn })
	follow, err := p.followed(list, lead)
	if err != nil {
		return nil, err
	}
	place := make([]int, p.cloud.N) // of the charts of rows, from 1 on
	var some, at []int
	for k, i := range list {
		if lead[i] {
			some, at = append(some, i), append(at, k)
			place[i] = k + 1
		}
	}
	many := n
	for _, i := range follow {
		if i >= 0 && place[i] == 0 { // which is not of the list
			some, at = append(some, i), append(at, many)
			many++
			place[i] = many
		}
	}
	m := p.newMade(many, o)
	if err := p.chartInto(m, some, at, o); err != nil {
		return nil, err
	}
	alone := make([]bool, n)
	err = p.each(list, func(w *autoWorker, k, i int) {
		switch to := follow[k]; {
		case lead[i]:
		case to == missedLead || to >= 0 && m.missed[place[to]-1]:
			m.missed[k] = true
		default:
			alone[k] = to < 0 || !w.follows(m, k, place[to]-1, i, &o.setting)
		}
	})
	if err != nil {
		return nil, err
	}
	some, at = some[:0], at[:0]
	for k, i := range list {
		if alone[k] {
			some, at = append(some, i), append(at, k)
		}
	}
	err = p.chartInto(m, some, at, o)
	for k := range m.bend {
		m.bend[k] = m.about[aboutWidth*k+5]
	}
	return m, err
}

// missedLead stands for a row that may be beyond those that are known, noLead for none.
const missedLead, noLead = -2, -1

// followed lists the row that leads that is the nearest to each of a list that does not.
func (p *cloudCharts) followed(list []int, lead []bool) ([]int, error) {
	c, follow := p.cloud, make([]int, len(list))
	var leading []int
	for _, i := range c.Used {
		if lead[i] {
			leading = append(leading, i)
		}
	}
	index := lookup.NewIndex(p.places.y, c.D, leading)
	if known, part := p.places.index.(lookup.KnownIndex); part {
		index = lookup.KnownIndex{Index: index, Known: known.Known}
	}
	return follow, p.each(list, func(w *autoWorker, k, i int) {
		if follow[k] = noLead; lead[i] {
			return
		}
		w.rows.Search.Missed = false
		found := w.rows.Search.Find(index, p.places.y[i*c.D:(i+1)*c.D], 1)
		switch {
		case w.rows.Search.Missed:
			follow[k] = missedLead
		case len(found) > 0:
			follow[k] = found[0].Row
		}
	})
}

// follows takes the foot of row i on the chart in place from for its own, and what is known about that, in place k. It is false where the chart is not good enough.
func (w *autoWorker) follows(m *made, k, from, i int, s *setting) bool {
	stored := m.charts[from*w.width : (from+1)*w.width]
	about := m.about[aboutWidth*from : aboutWidth*(from+1)]
	if doubted(about, doubtfulLead) || !w.chart.Load(stored[:w.width-2]) {
		return false
	}
	D, x, own := w.cloud.D, w.cloud.Row(i), *s
	w.setScale(&own, about[0]*s.Scale, true)
	foot := m.feet[k*D : (k+1)*D]
	if !w.chart.Foot(foot, x) {
		return false
	}
	far := rows.Distance(foot, x)
	if far > followsWithin*own.Scale {
		return false
	}
	m.trust[k] = own.trust(far, stored[w.width-2])
	copy(m.about[aboutWidth*k:], about)
	m.charts[(k+1)*w.width-1] = standIn
	return true
}
