package losses

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
)

// Params are the parameters of a loss as set by users. The zero value sets none.
type Params struct {
	// P is the power of lp, or for quantile the fraction of the data below the fit. Delta is the width of huber and
	// similar losses, in the unit of the residuals.
	P, Delta *float64
	// Precision is the matrix of mahalanobis.
	Precision mat.Matrix
	// Extra holds the parameters of registered losses by name.
	Extra map[string]float64
}

// given lists the names of the parameters that are set.
func (p Params) given() []string {
	var names []string
	if p.P != nil {
		names = append(names, "p")
	}
	if p.Delta != nil {
		names = append(names, "delta")
	}
	if p.Precision != nil {
		names = append(names, "precision")
	}
	for name := range p.Extra {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Parameter describes one parameter of a loss.
type Parameter struct {
	// Name is p, delta, precision or a key of Params.Extra.
	Name string
	// Meaning describes the parameter and its values in a few words.
	Meaning string
	// Optional parameters have a default.
	Optional bool
}

// Description describes a loss in a list of losses.
type Description struct {
	// Name is the name by which users choose the loss.
	Name string
	// Summary describes in one line when to use it.
	Summary string
	// Formula is the loss of a residual row r.
	Formula string
	// Noise names the noise for which the loss is the likelihood.
	Noise string
	// Parameters lists the parameters that [ByName] accepts.
	Parameters []Parameter
}

type entry struct {
	Description
	construct func(Params) (framework.Loss, error)
}

var (
	registryMu sync.RWMutex
	registry   = []entry{
		{Description{"l1", "outliers in single entries", "sum_k |r_k|", "independent Laplace", nil},
			func(Params) (framework.Loss, error) { return L1(), nil }},
		{Description{"l2", "outliers among whole samples", "|r|", "isotropic Laplace", nil},
			func(Params) (framework.Loss, error) { return L2(), nil }},
		{Description{"squared_l2", "least squares, no outliers", "|r|^2", "isotropic Gaussian", nil},
			func(Params) (framework.Loss, error) { return SquaredL2(), nil }},
		{Description{"lp", "between l1 and least squares, or light tails for p > 2", "sum_k |r_k|^p",
			"independent generalised Gaussian", []Parameter{{Name: "p", Meaning: "power, at least 1"}}},
			func(p Params) (framework.Loss, error) { return Lp(*p.P) }},
		{Description{"mahalanobis", "correlated noise of known covariance", "r'Mr", "Gaussian of covariance M^-1",
			[]Parameter{{Name: "precision", Meaning: "symmetric positive definite matrix M"}}},
			func(p Params) (framework.Loss, error) { return Mahalanobis(p.Precision) }},
		{Description{"huber", "least squares with outliers among whole samples",
			"|r|^2/2 where |r| <= delta, else delta |r| - delta^2/2", "Gaussian in the middle, Laplace in the tails",
			[]Parameter{{Name: "delta", Meaning: "norm at which the loss turns linear, above 0"}}},
			func(p Params) (framework.Loss, error) { return Huber(*p.Delta) }},
		{Description{"huber_entries", "least squares with outliers in single entries",
			"sum_k r_k^2/2 where |r_k| <= delta, else delta |r_k| - delta^2/2", "Gaussian in the middle, Laplace in the tails, independent",
			[]Parameter{{Name: "delta", Meaning: "size of an entry at which the loss turns linear, above 0"}}},
			func(p Params) (framework.Loss, error) { return HuberEntries(*p.Delta) }},
		widthEntry("tukey", "many gross outliers among whole samples, without weight from delta on",
			"delta^2/6 (1 - (1 - |r|^2/delta^2)^3) where |r| <= delta, else delta^2/6", Tukey),
		widthEntry("cauchy", "heavy tails, or the width uncertain", "delta^2/2 log(1 + |r|^2/delta^2)", Cauchy),
		widthEntry("welsch", "many gross outliers among whole samples", "delta^2/2 (1 - exp(-|r|^2/delta^2))", Welsch),
		widthEntry("geman_mcclure", "many gross outliers among whole samples, with tails",
			"|r|^2/2 / (1 + |r|^2/delta^2)", GemanMcClure),
		{Description{"quantile", "a sheet with the part p of the data below it", "sum_k (1-p) r_k where r_k >= 0, else -p r_k",
			"asymmetric Laplace", []Parameter{{Name: "p", Meaning: "part of the data below, between 0 and 1"}}},
			func(p Params) (framework.Loss, error) { return Quantile(*p.P) }},
	}
)

// widthEntry describes a loss that redescends.
func widthEntry(name, summary, formula string, make func(delta float64) (framework.Loss, error)) entry {
	return entry{Description{name, summary, formula, "Gaussian in the middle, with gross outliers",
		[]Parameter{{Name: "delta", Meaning: "norm about which rows count as outlying, above 0"}}},
		func(p Params) (framework.Loss, error) { return make(*p.Delta) }}
}

// Register adds a loss under its own name. Construct is called with the parameters that the description lists;
// required ones are always set.
func Register(d Description, construct func(Params) (framework.Loss, error)) error {
	registryMu.Lock()
	defer registryMu.Unlock()
	if d.Name == "" || construct == nil {
		return fmt.Errorf("losses: register: a name and a constructor are needed: %w", framework.ErrInvalid)
	}
	if _, taken := find(d.Name); taken {
		return fmt.Errorf("losses: register: %q is taken: %w", d.Name, framework.ErrInvalid)
	}
	d.Parameters = slices.Clone(d.Parameters)
	registry = append(registry, entry{d, construct})
	return nil
}

// ByName returns the loss of that name. Unknown names, missing parameters and
// parameters that the loss does not take are errors.
func ByName(name string, p Params) (framework.Loss, error) {
	registryMu.RLock()
	e, ok := find(name)
	names := registered()
	registryMu.RUnlock()
	if !ok {
		return nil, fmt.Errorf("losses: no loss %q%s; there are %s: %w",
			name, suggestion(name, names), strings.Join(names, ", "), framework.ErrInvalid)
	}
	if err := e.check(p); err != nil {
		return nil, err
	}
	return e.construct(p)
}

// check compares the given parameters with the description.
func (e entry) check(p Params) error {
	given := p.given()
	for _, wanted := range e.Parameters {
		if !wanted.Optional && !slices.Contains(given, wanted.Name) {
			return fmt.Errorf("losses: loss %s needs %s (%s): %w", e.Name, wanted.Name, wanted.Meaning, framework.ErrInvalid)
		}
	}
	for _, name := range given {
		if !slices.ContainsFunc(e.Parameters, func(q Parameter) bool { return q.Name == name }) {
			return fmt.Errorf("losses: loss %s takes no %s: %w", e.Name, name, framework.ErrInvalid)
		}
	}
	return nil
}

// Names lists the losses in the order they were registered.
func Names() []string {
	registryMu.RLock()
	defer registryMu.RUnlock()
	return registered()
}

// Describe describes the losses in the order they were registered.
func Describe() []Description {
	registryMu.RLock()
	defer registryMu.RUnlock()
	list := make([]Description, len(registry))
	for i, e := range registry {
		list[i] = e.Description
		list[i].Parameters = slices.Clone(e.Parameters)
	}
	return list
}

// find looks a loss up; the caller holds the lock.
func find(name string) (entry, bool) {
	for _, e := range registry {
		if e.Name == name {
			return e, true
		}
	}
	return entry{}, false
}

// registered lists the names; the caller holds the lock.
func registered() []string {
	list := make([]string, len(registry))
	for i, e := range registry {
		list[i] = e.Name
	}
	return list
}

// suggestion returns a question with the nearest name, or nothing if no name is near.
func suggestion(name string, names []string) string {
	best, nearest := "", max(1, len(name)/3)+1
	for _, candidate := range names {
		if d := edits(strings.ToLower(name), candidate); d < nearest {
			best, nearest = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// edits returns the Levenshtein distance of a and b in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
