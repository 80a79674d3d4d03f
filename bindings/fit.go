package bindings

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/models/selection"
	"github.com/scqm/scqm/solvers"
)

// solverAuto leaves the choice of the solver to the model, lossAuto that of the
// loss to the residuals.
const (
	solverAuto = "auto"
	lossAuto   = "auto"
)

// fitSettings are the settings of [StartFit].
type fitSettings struct {
	Parameters parameters `json:"parameters"`
	Loss       lossChoice `json:"loss"`
	Solver     string     `json:"solver"`
	// Python marks a solver that Python runs.
	Python bool `json:"python_solver"`
}

// parameters are those of [scqm.Parameters] that set fields of a Config, by their names in Python; what is left out
// or null has its default.
type parameters struct{ scqm.Config }

// UnmarshalJSON sets the fields.
func (p *parameters) UnmarshalJSON(text []byte) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		return err
	}
	for name, value := range given {
		to, ok := scqm.ParameterOf(name)
		if !ok || to.Field == "" {
			return fmt.Errorf("unknown parameter %q", name)
		}
		if string(value) == "null" {
			continue
		}
		if err := to.Set(&p.Config, strings.Trim(string(value), `"`)); err != nil {
			return fmt.Errorf("%s is %s; %w", name, value, err)
		}
	}
	return nil
}

// StartFit begins to fit a model to the data x, rows x columns, with one weight
// per row at weights (0: all 1) and the precision matrix of the loss at
// precision (0: none). It returns 1.
func StartFit(number int64, settings string, x uint64, rows, columns int64, weights, precision uint64) (int64, error) {
	return guarded("fit", func() (int64, error) {
		s, err := decodeFit(settings)
		if err != nil {
			return 0, err
		}
		data, err := readData(x, rows, columns, weights)
		if err != nil {
			return 0, err
		}
		return begin(number, "fit", s.brief(data), func(j *job) (any, error) { return s.fit(j, data, precision) })
	})
}

const (
	// briefLatent and briefWork bound brief fits: the latent dimension, and the
	// numbers that all iterations together look at. Iterations that search a
	// step look at each a hundred times, for some nanoseconds.
	briefLatent = 3
	briefWork   = 1 << 15
)

// brief reports whether the limits of a fit make it end within milliseconds.
func (s fitSettings) brief(x scqm.Data) bool {
	p := &s.Parameters
	work := float64(x.N) * float64(x.D) * float64(p.Options.MaxIterations) * float64(max(p.Inits, 1))
	return !s.Python && !s.Loss.elsewhere() && p.Latent <= briefLatent && p.Options.MaxIterations > 0 && work <= briefWork
}

// lastFit are the settings decoded last: of many small fits in a row they are
// often the same.
var lastFit atomic.Pointer[decodedFit]

type decodedFit struct {
	text     string
	settings fitSettings
}

func decodeFit(text string) (fitSettings, error) {
	if last := lastFit.Load(); last != nil && last.text == text {
		return last.settings, nil
	}
	d := &decodedFit{text: strings.Clone(text)}
	if err := decode(text, &d.settings); err != nil {
		return fitSettings{}, err
	}
	lastFit.Store(d)
	return d.settings, nil
}

func readData(x uint64, rows, columns int64, weights uint64) (scqm.Data, error) {
	data := scqm.Data{N: int(rows), D: int(columns)}
	n, err := product("x", rows, columns)
	if err != nil {
		return data, err
	}
	if data.X, err = view("x", x, n); err != nil {
		return data, err
	}
	data.Weights, err = optionalView("weights", weights, data.N)
	return data, err
}

func (s fitSettings) fit(j *job, data scqm.Data, precision uint64) (*scqm.Fit, error) {
	config, err := s.config(j)
	if err != nil {
		return nil, err
	}
	data.Missing = s.Parameters.IgnoreMissing
	config.Options = config.Options.Begun()
	learn := selection.LearnLoss
	if s.Loss.Python || s.Loss.Name != lossAuto {
		learn = scqm.Learn
		if config.Loss, err = s.Loss.buildFor(j, precision, data, config); err != nil {
			return nil, err
		}
	}
	fit, err := learn(j.ctx, data, config)
	if err != nil {
		return nil, err
	}
	if fit.Run.Status == framework.Cancelled {
		return nil, j.ctx.Err()
	}
	return fit, nil
}

func (s fitSettings) config(j *job) (scqm.Config, error) {
	c := s.Parameters.Config
	c.Threads = threads(c.Threads)
	c.Options.Observers = []func(framework.Record){func(p framework.Record) {
		p.State = nil
		j.progress.Store(&p)
	}}
	var err error
	switch {
	case s.Python:
		c.Solver = pythonSolver{job: j, name: s.Solver}
	case s.Solver != solverAuto:
		c.Solver, err = solvers.ByName(s.Solver)
	}
	return c, err
}

// seconds is a duration, as long as one can be.
func seconds(s float64) time.Duration {
	return time.Duration(min(max(s, 0)*float64(time.Second), math.MaxInt64/2))
}

// fitReport is what [FitReport] returns.
type fitReport struct {
	scqm.Meta
	Rows    int     `json:"rows"` // of tau, 0 where it is not known
	Records int     `json:"records"`
	Seconds float64 `json:"seconds"`
	// HasLoss is false where the loss of a loaded model is not known here.
	HasLoss bool `json:"has_loss"`
}

// FitReport describes the result of a job that fitted or loaded a model, as a
// JSON object: the entries of the report of the program scqm, the number of
// rows of tau, of records of the history, and the seconds taken.
func FitReport(number int64) (string, error) {
	return onResult("fit report", number, func(fit *scqm.Fit) (string, error) {
		return encode(reportOf(fit))
	})
}

func reportOf(fit *scqm.Fit) fitReport {
	m := fit.Model
	r := fitReport{Meta: m.Meta, Rows: len(m.Tau) / m.Latent, HasLoss: m.Loss != nil}
	r.D, r.Latent, r.Curvature = m.D, m.Latent, m.Curvature
	if fit.Run != nil {
		r.Records, r.Seconds = len(fit.Run.History), fit.Run.Elapsed.Seconds()
	}
	return r
}

// historyColumns is the number of columns of the history: iteration, cost,
// passes over the data, seconds.
const historyColumns = 4

// FitArrays copies the result of such a job to the destinations that are not 0:
// c (D), u (D x d), v (D x s), theta (q x s), tau (rows x d), history (records x
// 4: iteration, cost, passes over the data, seconds).
func FitArrays(number int64, c, u, v, theta, tau, history uint64) (int64, error) {
	return onResult("fit arrays", number, func(fit *scqm.Fit) (int64, error) {
		m := fit.Model
		for _, a := range []struct {
			what    string
			address uint64
			from    []float64
		}{
			{"c", c, m.C}, {"U", u, m.U}, {"V", v, m.V}, {"Theta", theta, m.Theta}, {"tau", tau, m.Tau},
			{"history", history, flatHistory(fit.Run)},
		} {
			if err := deliver(a.what, a.address, a.from); err != nil {
				return 0, err
			}
		}
		return 1, nil
	})
}

func flatHistory(run *framework.Result) []float64 {
	if run == nil {
		return nil
	}
	flat := make([]float64, 0, historyColumns*len(run.History))
	for _, r := range run.History {
		flat = append(flat, float64(r.Iteration), r.Cost, r.Passes, r.Elapsed.Seconds())
	}
	return flat
}
