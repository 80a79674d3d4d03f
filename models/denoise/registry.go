package denoise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/principal"
)

// ChooseNeighbors, as the Neighbors of Settings, lets [Select] choose the number of neighbours.
const ChooseNeighbors = -1

// ChooseLatent, as the Latent of Settings, lets [SelectDimension] choose the dimension.
const ChooseLatent = -1

// Settings are the settings of all methods under common names, for callers that choose a method by name. Fields that
// the method does not have must be zero.
type Settings struct {
	// Latent is d, the dimension of the surface; ChooseLatent uses [SelectDimension].
	Latent int
	// Neighbors is K; 0 is the default of the method, ChooseNeighbors uses [Select].
	Neighbors int
	// Loss is the loss of scqm and linear. For auto, nil is Tukey's loss, and squared_l2 is the only other.
	Loss framework.Loss
	// LossFor replaces Loss for scqm and linear.
	LossFor func(distances []float64) (framework.Loss, error)
	// Ridge is the ridge of scqm, and the lambda of qmf.
	Ridge float64
	// Passes is the setting of scqm and linear.
	Passes int
	// Degree and Flat are settings of mls.
	Degree int
	Flat   bool
	// Width and Local are settings of kde and logkde.
	Width float64
	Local bool
}

// Description describes a method in a list of methods.
type Description struct {
	// Name is the name by which users choose the method.
	Name string
	// Summary describes the method in one line.
	Summary string
	// Settings names the fields of Settings that the method has in addition to Latent and Neighbors.
	Settings []string
}

var registry = []struct {
	Description
	construct func(Settings) (Method, error)
}{
	{Description{"auto", "quadratic regression in tangent planes, noise and K by place by estimated risk; recommended", []string{"Loss"}}, newAuto},
	{Description{"scqm", "the robust quadratic model, fitted to the neighbours", []string{"Loss", "Ridge", "Passes"}},
		func(s Settings) (Method, error) {
			return classic.SCQM{Latent: s.Latent, Neighbors: s.Neighbors, Loss: s.Loss, LossFor: s.LossFor, Ridge: s.Ridge, Passes: s.Passes}, nil
		}},
	{Description{"linear", "the same, kept flat: robust local principal components", []string{"Loss", "Passes"}},
		func(s Settings) (Method, error) {
			return classic.SCQM{Latent: s.Latent, Neighbors: s.Neighbors, Loss: s.Loss, LossFor: s.LossFor, Passes: s.Passes, Linear: true}, nil
		}},
	{Description{"sqmf", "scqm with the loss squared_l2", []string{"Ridge", "Passes"}},
		func(s Settings) (Method, error) {
			return classic.SCQM{Latent: s.Latent, Neighbors: s.Neighbors, Loss: losses.SquaredL2(), Ridge: s.Ridge, Passes: s.Passes}, nil
		}},
	{Description{"lpca", "local principal components", nil},
		func(s Settings) (Method, error) { return classic.LPCA{Latent: s.Latent, Neighbors: s.Neighbors}, nil }},
	{Description{"pca", "principal axes of all rows, shrunk by the noise: no surface but a linear model", nil},
		func(Settings) (Method, error) { return principal.PCA{}, nil }},
	{Description{"mls", "moving least squares", []string{"Degree", "Flat"}},
		func(s Settings) (Method, error) {
			return classic.MLS{Latent: s.Latent, Neighbors: s.Neighbors, Degree: s.Degree, Flat: s.Flat}, nil
		}},
	{Description{"apss", "algebraic point set surfaces: spheres fitted to rows with normals, K chosen by estimated risk; d = D-1", nil}, newAPSS},
	{Description{"sph", "spherelets", nil},
		func(s Settings) (Method, error) { return classic.SPH{Latent: s.Latent, Neighbors: s.Neighbors}, nil }},
	{Description{"mfit", "putative manifolds", nil},
		func(s Settings) (Method, error) { return classic.MFIT{Latent: s.Latent, Neighbors: s.Neighbors}, nil }},
	{Description{"kde", "ridges of a kernel density", []string{"Width", "Local"}},
		func(s Settings) (Method, error) {
			return classic.KDE{Latent: s.Latent, Neighbors: s.Neighbors, Width: s.Width, Local: s.Local}, nil
		}},
	{Description{"logkde", "ridges of the logarithm of a kernel density", []string{"Width", "Local"}},
		func(s Settings) (Method, error) {
			return classic.KDE{Latent: s.Latent, Neighbors: s.Neighbors, Width: s.Width, Local: s.Local, Log: true}, nil
		}},
	{Description{"qmf", "quadratic matrix factorization with a ridge", []string{"Ridge"}},
		func(s Settings) (Method, error) {
			return classic.QMF{Latent: s.Latent, Neighbors: s.Neighbors, Lambda: s.Ridge}, nil
		}},
}

func newAuto(s Settings) (Method, error) {
	m := Auto{Latent: s.Latent, Neighbors: s.Neighbors}
	if s.LossFor != nil {
		return nil, fmt.Errorf("denoise: auto has Tukey's loss or squared_l2; the method scqm takes any: %w", ErrInput)
	}
	if s.Loss != nil {
		if s.Loss.Name() != "squared_l2" {
			return nil, fmt.Errorf("denoise: auto has Tukey's loss or squared_l2, not %s; the method scqm takes any: %w", s.Loss.Name(), ErrInput)
		}
		m.LeastSquares = true
	}
	return m, nil
}

// ChoosesNeighbors reports whether the named method chooses the number of neighbours if none is given.
func ChoosesNeighbors(name string) bool {
	return name == Auto{}.Name() || name == classic.APSS{}.Name()
}

// newAPSS returns the method apss. It uses Select for the number of neighbours unless Settings gives one.
func newAPSS(s Settings) (Method, error) {
	m := classic.APSS{Latent: s.Latent, Neighbors: s.Neighbors}
	if s.Neighbors == 0 {
		return Select{m}, nil
	}
	return m, nil
}

// Describe describes the methods, the recommended one first.
func Describe() []Description {
	var list []Description
	for _, e := range registry {
		d := e.Description
		d.Settings = slices.Clone(d.Settings)
		list = append(list, d)
	}
	return list
}

// ByName returns the method of that name. Unknown names, and settings that the method does not have, are errors.
func ByName(name string, s Settings) (Method, error) {
	var names []string
	for _, e := range registry {
		if e.Name == name {
			for _, given := range s.given() {
				if !slices.Contains(e.Settings, given) {
					return nil, fmt.Errorf("denoise: the method %s has no setting %s: %w", name, strings.ToLower(given), ErrInput)
				}
			}
			return construct(e.construct, s)
		}
		names = append(names, e.Name)
	}
	return nil, fmt.Errorf("denoise: no method %q; there are %s: %w", name, strings.Join(names, ", "), ErrInput)
}

func construct(method func(Settings) (Method, error), s Settings) (Method, error) {
	choose := s.Neighbors == ChooseNeighbors
	if choose {
		s.Neighbors = 0
	}
	chooseLatent := s.Latent == ChooseLatent
	if chooseLatent {
		s.Latent = 1
	}
	m, err := method(s)
	if _, free := m.(core.Sized); err == nil && choose && free {
		m = Select{m}
	}
	if err == nil && chooseLatent {
		m = SelectDimension{m}
	}
	return m, err
}

// given lists the nonzero settings other than Latent and Neighbors.
func (s Settings) given() []string {
	var names []string
	for name, given := range map[string]bool{
		"Loss": s.Loss != nil || s.LossFor != nil, "Ridge": s.Ridge != 0, "Passes": s.Passes != 0, "Degree": s.Degree != 0,
		"Flat": s.Flat, "Width": s.Width != 0, "Local": s.Local,
	} {
		if given {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
