package bindings

import (
	"runtime"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/denoise"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/solvers"
)

// named is one of several things that are chosen by name.
type named struct {
	Name     string   `json:"name"`
	Summary  string   `json:"summary"`
	Settings []string `json:"settings,omitempty"` // of methods of denoising
}

// Library describes the library as a JSON object: version; platform, the Go and the system that it
// was built with; and losses, solvers and methods (of denoising), the recommended ones first.
func Library() (string, error) {
	return guarded("library", func() (string, error) {
		lists := map[string][]named{"solvers": {{Name: solverAuto, Summary: "the solver that suits the problem"}}}
		for _, d := range losses.Describe() {
			lists["losses"] = append(lists["losses"], named{Name: d.Name, Summary: d.Summary})
		}
		for _, d := range solvers.Describe() {
			if d.Name != solverAuto {
				lists["solvers"] = append(lists["solvers"], named{Name: d.Name, Summary: d.Summary})
			}
		}
		for _, d := range denoise.Describe() {
			lists["methods"] = append(lists["methods"], named{d.Name, d.Summary, d.Settings})
		}
		return encode(map[string]any{
			"version": scqm.Version, "platform": runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH,
			"losses": lists["losses"], "solvers": lists["solvers"], "methods": lists["methods"],
		})
	})
}
