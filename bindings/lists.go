package bindings

import (
	"runtime"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/solvers"
)

// Version is the version of the library.
func Version() (string, error) {
	return guarded("version", func() (string, error) { return scqm.Version, nil })
}

// Platform says with which Go and for which system the library was built.
func Platform() (string, error) {
	return guarded("platform", func() (string, error) {
		return runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH, nil
	})
}

// Losses describes the registered losses as a JSON list.
func Losses() (string, error) {
	return guarded("losses", func() (string, error) {
		type parameter struct {
			Name     string `json:"name"`
			Meaning  string `json:"meaning"`
			Optional bool   `json:"optional"`
		}
		type loss struct {
			Name       string      `json:"name"`
			Summary    string      `json:"summary"`
			Formula    string      `json:"formula"`
			Noise      string      `json:"noise"`
			Parameters []parameter `json:"parameters"`
		}
		var list []loss
		for _, d := range losses.Describe() {
			l := loss{d.Name, d.Summary, d.Formula, d.Noise, []parameter{}}
			for _, p := range d.Parameters {
				l.Parameters = append(l.Parameters, parameter{p.Name, p.Meaning, p.Optional})
			}
			list = append(list, l)
		}
		return encode(list)
	})
}

// Solvers describes the registered solvers as a JSON list, auto first.
func Solvers() (string, error) {
	return guarded("solvers", func() (string, error) {
		type solver struct {
			Name    string `json:"name"`
			Summary string `json:"summary"`
		}
		list := []solver{{solverAuto, "the solver that suits the problem"}}
		for _, d := range solvers.Describe() {
			if d.Name != solverAuto {
				list = append(list, solver{d.Name, d.Summary})
			}
		}
		return encode(list)
	})
}
