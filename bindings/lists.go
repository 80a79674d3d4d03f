package bindings

import (
	"runtime"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/denoise"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/solvers"
)

// Library describes the library as a JSON object: version; platform, the Go and the system that it
// was built with; the names of losses and solvers, and the methods of denoising with their names,
// summaries and settings. The recommended ones come first.
func Library() (string, error) {
	return guarded("library", func() (string, error) {
		var lossNames []string
		for _, d := range losses.Describe() {
			lossNames = append(lossNames, d.Name)
		}
		solverNames := []string{solverAuto}
		for _, d := range solvers.Describe() {
			solverNames = append(solverNames, d.Name)
		}
		var methods []map[string]any
		for _, d := range denoise.Describe() {
			methods = append(methods, map[string]any{"name": d.Name, "summary": d.Summary, "settings": append([]string{}, d.Settings...)})
		}
		return encode(map[string]any{
			"version": scqm.Version, "platform": runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH,
			"losses": lossNames, "solvers": solverNames, "methods": methods,
		})
	})
}
