package bindings

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/models/selection"
	"github.com/scqm/scqm/solvers"
)

// With solverAuto the model chooses the solver. With lossAuto the loss is chosen from
// the residuals.
const (
	solverAuto = "auto"
	lossAuto   = "auto"
)

// fitSettings are the settings that all fits share.
type fitSettings struct {
	Parameters parameters `json:"parameters"`
	Loss       lossChoice `json:"loss"`
	Solver     string     `json:"solver"`
	// Python is true if the solver is written in Python.
	Python bool `json:"python_solver"`
}

// parameters are the fit parameters of [scqm.Parameters] that set a field of Config,
// under their Python names. A parameter that is absent or null has its default.
type parameters struct{ scqm.Config }

// UnmarshalJSON sets the fields of Config.
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

// fitOf fits a model to data; the precision of the loss may be an array.
func fitOf(in *input) work {
	var s fitSettings
	in.decode(&s)
	in.loss(&s.Loss)
	data := in.data()
	return func(j *job) (*outcome, error) {
		fit, err := s.fit(j, data)
		if err != nil {
			return nil, err
		}
		return fitted(fit), nil
	}
}

func (s fitSettings) fit(j *job, data scqm.Data) (*scqm.Fit, error) {
	config, err := s.config(j)
	if err != nil {
		return nil, err
	}
	data.Missing = s.Parameters.IgnoreMissing
	config.Options = config.Options.Begun()
	learn := selection.LearnLoss
	if s.Loss.Python || s.Loss.Name != lossAuto {
		learn = scqm.Learn
		if config.Loss, err = s.Loss.buildFor(j, data, config); err != nil {
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

// seconds converts s to a duration. It returns the longest duration if s is too large.
func seconds(s float64) time.Duration {
	return time.Duration(min(max(s, 0)*float64(time.Second), math.MaxInt64/2))
}

// reportOf returns the report on a fit, as the program scqm prints it.
func reportOf(m *scqm.Model) scqm.Meta {
	r := m.Meta
	r.D, r.Latent, r.Curvature = m.D, m.Latent, m.Curvature
	return r
}

// fitted returns the outcome of a fitted or loaded model. It has the arrays of [modelSettings] and a
// history with four columns: iteration, cost, passes over the data, seconds.
func fitted(fit *scqm.Fit) *outcome {
	m, history := fit.Model, []float64{}
	if fit.Run != nil {
		for _, r := range fit.Run.History {
			history = append(history, float64(r.Iteration), r.Cost, r.Passes, r.Elapsed.Seconds())
		}
	}
	return &outcome{report: reportOf(m), arrays: map[string][]float64{
		"c": m.C, "u": m.U, "v": m.V, "theta": m.Theta, "tau": m.Tau, "history": history,
	}}
}
