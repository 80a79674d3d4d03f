package losses_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

func TestByNameFindsEveryLoss(t *testing.T) {
	params := map[string]losses.Params{
		"lp":          {P: new(1.5)},
		"huber":       {Delta: new(2.)},
		"mahalanobis": {Precision: precision(3)},

		"huber_entries": {Delta: new(2.)},
	}
	names := losses.Names()
	require.Subset(t, names, []string{"l1", "l2", "squared_l2", "lp", "mahalanobis", "huber", "huber_entries"})
	for _, name := range names[:7] {
		l, err := losses.ByName(name, params[name])
		require.NoError(t, err)
		assert.Equal(t, name, l.Name())
	}
}

// TestByNameExplainsItself lists what users can do wrong.
func TestByNameExplainsItself(t *testing.T) {
	for _, c := range []struct {
		name    string
		p       losses.Params
		message string
	}{
		{"hubber", losses.Params{}, `losses: no loss "hubber" (did you mean "huber"?); there are l1, l2, squared_l2, lp, mahalanobis, huber`},
		{"L2", losses.Params{}, `did you mean "l2"?`},
		{"squared", losses.Params{}, `losses: no loss "squared"; there are l1`},
		{"", losses.Params{}, `losses: no loss ""; there are l1`},
		{"squared-l2", losses.Params{}, `did you mean "squared_l2"?`},
		{"lp", losses.Params{}, "losses: loss lp needs p (power, at least 1)"},
		{"huber", losses.Params{}, "losses: loss huber needs delta (norm at which the loss turns linear, above 0)"},
		{"mahalanobis", losses.Params{}, "losses: loss mahalanobis needs precision"},
		{"l2", losses.Params{P: new(2.)}, "losses: loss l2 takes no p"},
		{"lp", losses.Params{P: new(2.), Delta: new(1.)}, "losses: loss lp takes no delta"},
		{"huber", losses.Params{Delta: new(1.), Precision: precision(1)}, "losses: loss huber takes no precision"},
		{"l1", losses.Params{Extra: map[string]float64{"c": 1}}, "losses: loss l1 takes no c"},
		{"lp", losses.Params{P: new(0.5)}, "losses: lp: p = 0.5: want p >= 1"},
	} {
		_, err := losses.ByName(c.name, c.p)
		require.ErrorIs(t, err, framework.ErrInvalid, c.message)
		assert.ErrorContains(t, err, c.message)
	}
}

func TestDescribeIsComplete(t *testing.T) {
	list := losses.Describe()
	for _, d := range list[:6] {
		assert.NotEmpty(t, d.Summary, d.Name)
		assert.NotEmpty(t, d.Formula, d.Name)
		assert.NotEmpty(t, d.Noise, d.Name)
	}
	lp := slices.IndexFunc(list, func(d losses.Description) bool { return d.Name == "lp" })
	list[lp].Parameters[0].Name = "changed"
	assert.Equal(t, "p", losses.Describe()[lp].Parameters[0].Name, "the list is a copy")
}

func TestRegister(t *testing.T) {
	d := losses.Description{
		Name:       "test_root",
		Parameters: []losses.Parameter{{Name: "a", Meaning: "positive"}, {Name: "b", Optional: true}},
	}
	construct := func(p losses.Params) (framework.Loss, error) { return losses.Huber(p.Extra["a"]) }
	require.NoError(t, losses.Register(d, construct))
	assert.ErrorContains(t, losses.Register(d, construct), `"test_root" is taken`)
	assert.ErrorIs(t, losses.Register(losses.Description{}, construct), framework.ErrInvalid)
	assert.ErrorIs(t, losses.Register(losses.Description{Name: "none"}, nil), framework.ErrInvalid)

	assert.Contains(t, losses.Names(), "test_root")
	_, err := losses.ByName("test_root", losses.Params{Extra: map[string]float64{"a": 1, "b": 2}})
	require.NoError(t, err)
	_, err = losses.ByName("test_root", losses.Params{Extra: map[string]float64{"b": 2}})
	assert.ErrorContains(t, err, "losses: loss test_root needs a (positive)")
	_, err = losses.ByName("test_root", losses.Params{Extra: map[string]float64{"a": -1}})
	assert.ErrorContains(t, err, "delta = -1")
}
