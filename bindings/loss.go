package bindings

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/plugins"
)

// huberEntries is the name of the Huber loss whose delta bounds single entries, not norms of rows.
const huberEntries = "huber_entries"

// lossChoice describes the loss of a job.
type lossChoice struct {
	// Name is the name of a registered loss or, if Python is true, of a loss written in
	// Python.
	Name string `json:"name"`
	// P, Delta and Extra are the parameters of a registered loss.
	P     *float64           `json:"p"`
	Delta *float64           `json:"delta"`
	Extra map[string]float64 `json:"extra"`

	// Plugin is the name or path of the plugin that computes the loss. Params are its
	// parameters. SHA256 is the checksum that its file must have, if given. Timeout is the
	// limit of a call in seconds (0: the default). Learned is true if a model was fitted
	// with the file of that checksum.
	Plugin  string         `json:"plugin"`
	Params  map[string]any `json:"params"`
	SHA256  string         `json:"sha256"`
	Timeout float64        `json:"timeout"`
	Learned bool           `json:"learned"`

	// Python is true if Python evaluates the loss. Weights and Hessian say which methods
	// it has beyond values and gradients. Separable is true if the loss is a sum over
	// entries.
	Python    bool `json:"python"`
	Weights   bool `json:"weights"`
	Hessian   bool `json:"hessian"`
	Separable bool `json:"separable"`

	program   *rowloss.Program // the plugin, once it is started
	precision *mat.Dense       // see [input.loss]
}

// loss adds the array precision, the matrix of the loss mahalanobis, to c.
func (in *input) loss(c *lossChoice) {
	if x, shape := in.optional("precision", -1, -1); x != nil {
		if shape[0] != shape[1] {
			in.note(fmt.Errorf("precision: shape %v: %w", shape, framework.ErrInvalid))
			return
		}
		c.precision = mat.NewDense(shape[0], shape[1], slices.Clone(x))
	}
}

// buildFor returns the loss for a fit to data. Defaults of its parameters may depend on the rows.
func (c lossChoice) buildFor(j *job, data scqm.Data, config scqm.Config) (framework.Loss, error) {
	if c.asksData() {
		delta, err := scqm.DefaultDelta(j.ctx, data, config, c.Name)
		if err != nil {
			return nil, err
		}
		c.Delta = &delta
	}
	return c.build(j)
}

// asksData reports whether delta is to be chosen from the rows.
func (c lossChoice) asksData() bool {
	return losses.HasDelta(c.Name) && c.Delta == nil && !c.elsewhere()
}

// build returns the loss for a job. All parameters must be given.
func (c lossChoice) build(j *job) (framework.Loss, error) {
	if c.Python {
		return c.foreign(j), nil
	}
	if c.Plugin != "" {
		return c.open(j)
	}
	params := losses.Params{P: c.P, Delta: c.Delta, Extra: c.Extra}
	if c.precision != nil {
		params.Precision = dense.Owned{Dense: c.precision}
	}
	return losses.ByName(c.Name, params)
}

// paramsOf returns the parameters of a loss, or nil if it has none.
func paramsOf(l framework.Loss) map[string]float64 {
	if p, ok := l.(rowloss.Parametric); ok {
		return p.Params()
	}
	return nil
}

// elsewhere reports whether Python or a plugin computes the loss.
func (c lossChoice) elsewhere() bool { return c.Python || c.Plugin != "" }

// open starts the plugin and closes it when the job ends.
func (c lossChoice) open(j *job) (framework.Loss, error) {
	p, err := plugins.Open(j.ctx, c.Plugin, plugins.Options{
		Params: c.Params, SHA256: c.SHA256, CallTimeout: seconds(c.Timeout), Logger: j.log.logger(),
	})
	if errors.Is(err, plugins.ErrChecksum) && c.Learned {
		return nil, fmt.Errorf("the model was learned with another file of its plugin; if you trust the present one, give scqm.load "+
			"its checksum, or 'any', as plugin_sha256, or fit again: %w", err)
	}
	if err != nil {
		return nil, err
	}
	j.atEnd = append(j.atEnd, p.Close)
	return p.Loss(), nil
}

// SetGuard sets the path of the program that supervises plugins. The program is part of
// the library, because the Python interpreter cannot do this work. SetGuard returns 1.
func SetGuard(path string) (int64, error) {
	return guarded("guard", func() (int64, error) {
		plugins.SetGuard(path)
		return 1, nil
	})
}

// learn stores the checksum of the plugin that computes l. Later jobs that use the model then accept this file only.
func (c *lossChoice) learn(l framework.Loss) {
	e, ok := l.(rowloss.Identified)
	if !ok || c.program != nil {
		return
	}
	c.program = new(e.Program())
	if c.SHA256 != plugins.AnySHA256 {
		c.SHA256, c.Learned = c.program.SHA256, true
	}
}

// foreign returns a loss with exactly the methods that the Python object has.
func (c lossChoice) foreign(j *job) framework.Loss {
	l := pythonLoss{job: j, name: c.Name}
	if c.Separable {
		return c.foreignSeparable(newPythonSeparable(l, c.Hessian))
	}
	switch {
	case c.Weights && c.Hessian:
		return struct {
			pythonLoss
			pythonWeights
			pythonHessian
		}{l, pythonWeights{j}, pythonHessian{j}}
	case c.Weights:
		return struct {
			pythonLoss
			pythonWeights
		}{l, pythonWeights{j}}
	case c.Hessian:
		return struct {
			pythonLoss
			pythonHessian
		}{l, pythonHessian{j}}
	default:
		return l
	}
}

func (c lossChoice) foreignSeparable(l pythonSeparable) framework.Loss {
	switch {
	case c.Weights && c.Hessian:
		return struct {
			pythonSeparable
			pythonWeights
			pythonHessian
		}{l, pythonWeights{l.job}, pythonHessian{l.job}}
	case c.Weights:
		return struct {
			pythonSeparable
			pythonWeights
		}{l, pythonWeights{l.job}}
	case c.Hessian:
		return struct {
			pythonSeparable
			pythonHessian
		}{l, pythonHessian{l.job}}
	default:
		return l
	}
}

// pythonLoss is a loss that Python evaluates.
type pythonLoss struct {
	job  *job
	name string
}

// Name returns the name that the loss has in Python.
func (l pythonLoss) Name() string { return l.name }

// Evaluate asks Python for values and gradients.
func (l pythonLoss) Evaluate(values, grad, r []float64, dim int) error {
	if values == nil && grad == nil {
		return nil
	}
	return l.job.coalesce(&ask{question: QuestionLoss, rows: len(r) / dim, columns: dim, r: r, values: values, grad: grad})
}

// Callers implements [rowloss.HighLatency].
func (pythonLoss) Callers() int { return pythonCallers }

// pythonWeights adds the weights of a quadratic majorizer to a Python loss.
type pythonWeights struct{ job *job }

// Weights asks Python for the weights.
func (l pythonWeights) Weights(w, r []float64, dim int) error {
	return l.job.coalesce(&ask{question: QuestionWeights, rows: len(r) / dim, columns: dim, r: r, grad: w})
}

// pythonHessian adds second derivatives to a Python loss.
type pythonHessian struct{ job *job }

// HessianProduct asks Python for products with the Hessians.
func (l pythonHessian) HessianProduct(dst, r, v []float64, dim int) error {
	return l.job.coalesce(&ask{question: QuestionHessian, rows: len(r) / dim, columns: dim, r: r, v: v, grad: dst})
}
