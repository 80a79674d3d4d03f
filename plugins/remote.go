package plugins

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"

	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/plugins/protocol"
)

// remote is the loss of a plugin, with kinks smoothed over the length eps. compose adds
// the other methods that the plugin offers.
type remote struct {
	plugin *Plugin
	eps    float64
}

// Name implements [framework.Loss].
func (l *remote) Name() string { return l.plugin.name }

// Evaluate implements [framework.Loss].
func (l *remote) Evaluate(values, grad, r []float64, dim int) error {
	b := &batch{dim: dim, eps: l.eps, residuals: r}
	if values != nil {
		b.results = append(b.results, result{protocol.Quantity_QUANTITY_VALUES, values, 1})
	}
	if grad != nil {
		b.results = append(b.results, result{protocol.Quantity_QUANTITY_GRADIENTS, grad, dim})
	}
	return l.plugin.score(b)
}

// Callers implements [rowloss.HighLatency].
func (l *remote) Callers() int { return callers }

// Params implements [rowloss.Parametric].
func (l *remote) Params() map[string]float64 { return numbers(l.plugin.params) }

// Err implements [rowloss.ErrReporter].
func (l *remote) Err() error { return l.plugin.lastFailure() }

// Notes implements [rowloss.Noted].
func (l *remote) Notes() []string {
	if l.plugin.Restarts() == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the plugin %s ended during the fit and was started again: %v", l.plugin.name, l.plugin.terminal())}
}

// Program implements [rowloss.Identified].
func (l *remote) Program() rowloss.Program {
	text, err := json.Marshal(l.plugin.params)
	if err != nil { // cannot fail: params were decoded from JSON
		text = nil
	}
	return rowloss.Program{
		Name: l.plugin.description.Name, Version: l.plugin.description.Version,
		SHA256: l.plugin.sha256, Params: string(text),
	}
}

// weights implements [framework.Majorizer].
func (l *remote) weights(w, r []float64, dim int) error {
	per := dim
	if l.plugin.offer.Structure == protocol.Structure_STRUCTURE_RADIAL {
		per = 1
	}
	return l.plugin.score(&batch{dim: dim, eps: l.eps, residuals: r,
		results: []result{{protocol.Quantity_QUANTITY_WEIGHTS, w, per}}})
}

// product implements [framework.SecondOrder].
func (l *remote) product(dst, r, v []float64, dim int) error {
	return l.plugin.score(&batch{dim: dim, eps: l.eps, residuals: r, directions: v,
		results: []result{{protocol.Quantity_QUANTITY_PRODUCTS, dst, dim}}})
}

// profile evaluates rho or phi for methods that return no error. If the evaluation
// fails, the results are NaN and the next call returns the error.
func (l *remote) profile(value, d1, d2, at []float64) {
	b := &batch{dim: 1, eps: l.eps, residuals: at}
	for i, to := range [][]float64{value, d1, d2} {
		if to != nil {
			b.results = append(b.results, result{protocol.Quantity_QUANTITY_PROFILE + protocol.Quantity(i), to, 1})
		}
	}
	if err := l.plugin.score(b); err != nil {
		l.plugin.postpone(err)
		for _, r := range b.results {
			for k := range r.to {
				r.to[k] = math.NaN()
			}
		}
	}
}

// Params returns a copy of all parameters, including those with default values.
func (p *Plugin) Params() map[string]any { return maps.Clone(p.params) }
