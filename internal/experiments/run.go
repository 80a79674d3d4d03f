package experiments

import (
	"fmt"
	"strings"
)

// Spec describes an experiment.
type Spec struct {
	Name string
	// Reps and QuickReps are the numbers of repetitions in a full and in a quick run.
	Reps      int
	QuickReps int
	// NeedsDigits reports whether the experiment needs images of digits.
	NeedsDigits bool
}

// Specs lists the experiments.
var Specs = []Spec{
	{"toy", 20, 2, false},
	{"sphere", 10, 2, false},
	{"mnist", 5, 2, true},
}

// Find returns the experiment of the given name.
func Find(name string) (Spec, error) {
	var known []string
	for _, s := range Specs {
		if s.Name == name {
			return s, nil
		}
		known = append(known, s.Name)
	}
	return Spec{}, fmt.Errorf("no experiment %q; there are %s", name, strings.Join(known, ", "))
}
