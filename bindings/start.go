package bindings

import (
	"fmt"

	"github.com/scqm/scqm/framework"
)

// acts maps the name of each kind of job to the function that reads its input and returns its work.
var acts = map[string]func(*input) work{
	"fit": fitOf, "many": manyOf, "stream": streamOf, "online": onlineOf,
	"sum": sumOf, "merge": mergeOf,
	"save": saveOf, "load": loadOf, "page": pageOf,
	"influence": influenceOf, "response": responseOf, "responses": responsesOf,
	"denoiser": denoiserOf, "denoise": denoiseOf, "geometry": geometryOf, "hashes": hashesOf, "partition": partitionOf,
	"mean": meanOf, "suggest": suggestOf, "power": powerOf, "choice": choiceOf,
	"loss": lossOf, "loss check": lossCheckOf, "solver check": solverCheckOf,

	"transform": mapping(transform), "reconstruct": mapping(reconstruct), "project": mapping(project),
	"impute": mapping(impute), "losses": mapping(projectionLosses), "hidden": mapping(hiddenErrors),
	"report": mapping(projectionReport), "parts": mapping(residualParts),
}

// Start starts a job that runs the act called act. settings is a JSON object. arrays is
// a JSON object that maps names to lists of address, bytes of a number, and shape. The
// comment of each act lists its settings and arrays. It returns 1.
func Start(number int64, act, settings, arrays string) (int64, error) {
	return guarded(act, func() (int64, error) {
		read, ok := acts[act]
		if !ok {
			return 0, fmt.Errorf("no act %q: %w", act, framework.ErrInvalid)
		}
		in := &input{settings: settings}
		in.note(decode(arrays, &in.arrays))
		do := read(in)
		for name := range in.arrays {
			in.note(fmt.Errorf("%s: no array that it reads is called %s: %w", act, name, framework.ErrInvalid))
		}
		if in.err != nil {
			return 0, in.err
		}
		return begin(number, act, in.brief, do)
	})
}
