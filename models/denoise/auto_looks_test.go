package denoise

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLooks wants charts that are made of what earlier looks at the same places have found to be those of a first look, with fewer neighbours, more, and as many, for probes, and
// after the places have changed.
func TestLooks(t *testing.T) {
	needSpeed(t)
	x, _ := boxRows(103, 2*fewRows, .4)
	p, fresh := pilotOf(t, x)
	s := p.setting
	s.thin, s.oneIn = false, pilotLeads
	again := fresh()
	look := func(c *cloudCharts, neighbors int, diverge bool) *charted {
		o := s
		o.neighbors = neighbors
		if diverge {
			require.NoError(t, c.perturb(1, perturbation*s.Scale))
		}
		seen, err := c.chart(order{some: true, diverge: diverge, setting: o})
		require.NoError(t, err)
		return seen
	}
	for _, k := range []int{60, 61, 40, 90, 90} {
		require.Equal(t, look(fresh(), k, false), look(again, k, false))
		require.Equal(t, look(fresh(), k, true), look(again, k, true))
	}
	require.Len(t, again.looks, selectionRows)
	require.GreaterOrEqual(t, len(again.looks[0]), 91, "the most that was looked for")

	placed := fresh()
	for _, c := range []*cloudCharts{again, placed} {
		_, err := c.chart(order{keep: true, setting: s})
		require.NoError(t, err)
	}
	require.Equal(t, look(placed, 60, false), look(again, 60, false))
}
