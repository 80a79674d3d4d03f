package experiments

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Spec describes an experiment.
type Spec struct {
	Name string `json:"name"`
	// Reps and QuickReps are the numbers of repetitions, in full and quick.
	Reps      int `json:"reps"`
	QuickReps int `json:"quick_reps"`
	// NeedsDigits says that it needs images of digits.
	NeedsDigits bool `json:"needs_digits"`
}

// ErrName says that there is no experiment of a name.
var ErrName = errors.New("no experiment")

// Specs lists the experiments.
var Specs = []Spec{
	{"toy", 20, 2, false},
	{"sphere", 10, 2, false},
	{"mnist", 5, 2, true},
	{"interpolation", 5, 2, true},
}

// Find returns an experiment by its name.
func Find(name string) (Spec, error) {
	var known []string
	for _, s := range Specs {
		if s.Name == name {
			return s, nil
		}
		known = append(known, s.Name)
	}
	return Spec{}, fmt.Errorf("%w %q; there are %s", ErrName, name, strings.Join(known, ", "))
}

// Array is what pictures need, row-major.
type Array struct {
	Name  string
	Shape []int
	Data  []float64
}

// Outcome is what an experiment by name leaves behind.
type Outcome struct {
	Table    Table
	Arrays   []Array
	Settings any // as for params.json
}

// Run runs an experiment by name; digits and sigmas are for those that use them.
func Run(ctx context.Context, name string, s Settings, sigmas []float64, d Digits) (*Outcome, error) {
	spec, err := Find(name)
	if err != nil {
		return nil, err
	}
	if s.Reps == 0 {
		if s.Reps = spec.Reps; s.Quick {
			s.Reps = spec.QuickReps
		}
	}
	switch name {
	case "toy":
		study, err := Toy(ctx, s)
		if err != nil {
			return nil, err
		}
		return &Outcome{study.Table, study.arrays(), s}, nil
	case "sphere":
		settings := SphereSettings{Settings: s, Sigmas: sigmas}.Defaulted()
		study, err := Sphere(ctx, settings)
		if err != nil {
			return nil, err
		}
		return &Outcome{study.Table, study.arrays(), settings}, nil
	}
	run := MNIST
	if name == "interpolation" {
		run = Interpolation
	}
	study, err := run(ctx, d, s)
	if err != nil {
		return nil, err
	}
	return &Outcome{study.Table, study.arrays(), s}, nil
}

// arrays returns, for case k of the table, the rows x/k, their projections feet/k, and
// 101 points of each of the curves truth/k, linear/k and quadratic/k.
func (study *ToyStudy) arrays() []Array {
	var list []Array
	add := func(k int, name string, rows []float64) {
		list = append(list, Array{fmt.Sprintf("%s/%d", name, k), []int{len(rows) / 2, 2}, rows})
	}
	for k, c := range study.Cases {
		add(k, "x", c.X.X)
		add(k, "feet", Points(c.Quadratic, c.Quadratic.Tau))
		var truth []float64
		for i := range 101 {
			x, y := c.point(c.Angle * float64(i) / 100)
			truth = append(truth, x, y)
		}
		add(k, "truth", truth)
		add(k, "linear", Curve(c.Linear))
		add(k, "quadratic", Curve(c.Quadratic))
	}
	return list
}

// arrays are sigmas, errors (methods x sigmas x repetitions), x 1e4, and rows
// (methods x sigmas x points), the squared errors of the first repetition.
func (study *SphereStudy) arrays() []Array {
	flat := func(name string, lists [][][]float64) Array {
		a := Array{Name: name, Shape: []int{len(lists), len(study.Sigmas), len(lists[0][0])}}
		for _, of := range lists {
			for _, list := range of {
				a.Data = append(a.Data, list...)
			}
		}
		return a
	}
	return []Array{{"sigmas", []int{len(study.Sigmas)}, study.Sigmas}, flat("errors", study.Errors), flat("rows", study.Rows)}
}

// arrays returns the arrays by name: learned has the images of the first repetition;
// codes/k, reconstruction/k, c/k, U/k, V/k and Theta/k belong to model k; learned_rows/r
// and held_rows/r have the indices of the images of repetition r.
func (study *DigitStudy) arrays() []Array {
	x := study.Learned.X
	list := []Array{{"learned", []int{x.N, x.D}, x.X}}
	add := func(k int, name string, data []float64, shape ...int) {
		list = append(list, Array{fmt.Sprintf("%s/%d", name, k), shape, data})
	}
	for k, m := range study.Models {
		s := m.Model
		add(k, "codes", s.Tau, x.N, 2)
		add(k, "reconstruction", m.Reconstruction, x.N, x.D)
		add(k, "c", s.C, s.D)
		add(k, "U", s.U, s.D, s.Latent)
		add(k, "V", s.V, s.D, s.Curvature)
		add(k, "Theta", s.Theta, s.Latent*(s.Latent+1)/2, s.Curvature)
	}
	for rep, split := range study.Splits {
		for side, name := range []string{"learned_rows", "held_rows"} {
			rows := make([]float64, len(split[side]))
			for i, row := range split[side] {
				rows[i] = float64(row)
			}
			add(rep, name, rows, len(rows))
		}
	}
	return list
}
