package scqm

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scqm/scqm/framework"
)

// Parameter is a setting of a fit, with the names that users give it. [Parameters] defines the flags of the program,
// the settings passed to the Python library, python/scqm/_parameters.py, and the tables of the guides.
type Parameter struct {
	// Name is the name in Python. Flag is the name of the program's flag if it differs. Letter is the short flag.
	Name, Flag, Letter string
	// Field is the path of the field of [Config] that the parameter sets, "" for a loss or a solver, which callers
	// construct.
	Field string
	// Least is the smallest allowed number. Above reports that Least itself is not allowed.
	Least float64
	Above bool
	// Words are the names allowed in place of a number, each with the value of the field.
	Words []Word
	// None is the field's value for the input 0, if 0 in the field itself stands for the default.
	None float64
	// Default is the default in Python and in the program, "" if the rows or other settings determine it.
	Default string
	// Type and Annotation are the Python types for docstrings and for type checkers, if they do not follow from the
	// field.
	Type, Annotation string
	// Text describes the parameter in one line. More is what docstrings add, in reStructuredText.
	Text, More string
}

// Word is a name for a value of a field.
type Word struct {
	Name  string
	Value float64
}

// Parameters lists the parameters of a fit, in the order of the Python signature.
var Parameters = []Parameter{
	{
		Name: "n_components", Flag: "latent", Letter: "d", Field: "Latent", Least: 1, Default: "2",
		Type: `int, float or "auto"`, Annotation: `int | float | Literal["auto"]`,
		Text: "latent dimension d",
		More: `A float between 0 and 1 takes as many as principal components need for that part of the variance; a curved sheet
needs no more. "auto" takes the d of :func:` + "`scqm.suggest`" + `, and its curvature and ridge where ` + "``n_curvature`` and ``ridge``" + ` are the
defaults: see ` + "``n_components_``, ``ridge_`` and ``notes_``" + `.`,
	},
	{
		Name: "n_curvature", Flag: "curvature", Letter: "s", Field: "Curvature", Least: 1,
		Words: []Word{{"auto", AutoCurvature}, {"full", FullCurvature}},
		Text:  "number s of directions in which the sheet may bend, or full for the most, min(d(d+1)/2, D-d); by default a test on the rows decides",
		More: `The sheet is then flat where they show no curvature, bends in as many directions as they show, and is held back by a
larger ridge where it would fold; see ` + "``curvature_``" + `.`,
	},
	{
		Name: "loss", Default: "l2", Type: "str, Loss or callable", Annotation: "LossLike",
		Text: "loss that is summed over the residual rows",
		More: `A name of :func:` + "`scqm.losses.names`, a :class:`scqm.losses.Loss`" + `, or a function that takes residual rows (n, D) and
returns values (n,) and gradients (n, D). "auto" fits with "l2", and again where single entries are outlying or the residuals
speak for another loss: see ` + "``loss_`` and ``loss_reason_``" + `.`,
	},
	{
		Name: "p", Type: "float", Annotation: "float", Least: 1,
		Text: "power of the loss lp, at least 1; for the loss quantile, the part of the data below the sheet",
	},
	{
		Name: "delta", Type: "float", Annotation: "float", Above: true,
		Text: "width of the losses huber, huber_entries, tukey, cauchy, welsch and geman_mcclure, in the unit of the data; by default it is a robust scale of the residuals times a constant for 95 % efficiency",
		More: `:class:` + "`scqm.losses.Huber` and :class:`scqm.losses.Tukey`" + ` say what the widths are.`,
	},
	{
		Name: "precision", Type: "array-like of shape (D, D)", Annotation: "npt.ArrayLike",
		Text: "matrix of the loss mahalanobis",
	},
	{
		Name: "solver", Default: "auto", Type: "str or Solver", Annotation: "SolverName | Solver",
		Text: "solver of the fit",
		More: `A name of :func:` + "`scqm.solvers.names`, or a :class:`scqm.solvers.Solver`" + `.`,
	},
	{
		Name: "linear", Field: "Linear", Default: "False",
		Text: "keep the sheet flat, Theta = 0",
	},
	{
		Name: "ridge", Field: "Ridge", Words: []Word{{"auto", AutoRidge}}, None: NoRidge, Default: fmt.Sprint(DefaultRidge),
		Text: "penalty on curvature, relative to the scale of the data: 0.01 to 0.1 if coordinates and neighbours matter, 0 for data without noise or the published objective, auto to choose it by the error at hidden entries of held-out rows",
		More: `It adds ` + "``ridge (F_lin / n) h2 sum_k |A_k|^2``" + ` to the objective, with F_lin the objective of the principal component
start, h2 the mean squared distance of the rows from their mean, and A_k the symmetric matrix of column k of Theta. "auto" is one
of 0.001, 0.01, 0.1, 1 and 10, by two folds: see ` + "``ridge_``" + `.`,
	},
	{
		Name: "n_init", Field: "Inits", Least: 1, Default: "1",
		Text: "number of starts, of which the best fit is kept: first the planes of principal scores that predict the other scores best, then random rotations",
		More: `They race: most end after a few evaluations, two run to the end. One whose curvature is folded does not take the place
of one that bends gently.`,
	},
	{
		Name: "missing", Field: "IgnoreMissing", Words: []Word{{"error", 0}, {"ignore", 1}}, Default: "error",
		Text: "what to do with missing entries: refuse them (error) or give them no weight (ignore)",
		More: `The loss must then be a sum over entries: "squared_l2", "l1", "lp", "huber", which is taken entry by entry, or a plugin
or a loss of your own that is separable. The coordinates of a row with missing entries have a Gaussian prior, as wide as those of
all rows, so that few entries place it too. :meth:` + "`scqm.SCQM.impute`" + ` fills the entries that are missing.`,
	},
	{
		Name: "max_iter", Flag: "max-iter", Field: "Options.MaxIterations", Least: 1,
		Text: fmt.Sprintf("largest number of iterations; by default %d", framework.DefaultMaxIterations),
	},
	{
		Name: "tol", Field: "Options.Tolerance", Above: true,
		Text: "first-order residual, a scale-free measure of the gradients, at which a fit counts as converged; by default 1e-6",
	},
	{
		Name: "time_limit", Field: "Options.TimeLimit", Above: true,
		Text: "longest time of the fit, in seconds from its start",
	},
	{
		Name: "random_state", Flag: "seed", Field: "Seed",
		Type: "int, RandomState, Generator or None", Annotation: "int | np.random.RandomState | np.random.Generator",
		Text: "seed of random choices; by default 0, so that fits are repeatable",
	},
	{
		Name: "n_threads", Flag: "threads", Field: "Threads", Least: 1,
		Text: "number of threads, by default one for each processor; the result does not depend on it",
		More: `The environment variable OMP_NUM_THREADS, which joblib sets in its workers, changes the default.`,
	},
	{
		Name: "verbose", Default: "False", Type: "bool", Annotation: "bool",
		Text: "show progress",
	},
}

// ParameterOf returns the parameter with the given Python name.
func ParameterOf(name string) (Parameter, bool) {
	k := slices.IndexFunc(Parameters, func(p Parameter) bool { return p.Name == name })
	if k < 0 {
		return Parameter{}, false
	}
	return Parameters[k], true
}

// FlagName returns the name of the program's flag.
func (p Parameter) FlagName() string { return cmp.Or(p.Flag, strings.ReplaceAll(p.Name, "_", "-")) }

// field returns the field of a Config that the parameter sets.
func (p Parameter) field(c *Config) reflect.Value {
	v := reflect.ValueOf(c).Elem()
	for name := range strings.SplitSeq(p.Field, ".") {
		v = v.FieldByName(name)
	}
	return v
}

// Kind is the type of values other than Words: bool, int, seed for a 64-bit integer, float64, or time; "" if it sets
// no field.
func (p Parameter) Kind() string {
	if p.Field == "" {
		return ""
	}
	switch field := p.field(new(Config)); field.Interface().(type) {
	case time.Duration:
		return "time"
	case uint64:
		return "seed"
	default:
		return field.Kind().String()
	}
}

// Set parses text into the field of a Config.
func (p Parameter) Set(c *Config, text string) error {
	field, ok := p.field(c), false
	if w := slices.IndexFunc(p.Words, func(w Word) bool { return w.Name == text }); w >= 0 {
		to := reflect.ValueOf(p.Words[w].Value)
		if field.Kind() == reflect.Bool {
			to = reflect.ValueOf(p.Words[w].Value != 0)
		}
		field.Set(to.Convert(field.Type()))
		return nil
	}
	switch p.Kind() {
	case "bool":
		v, err := strconv.ParseBool(text)
		ok = err == nil && p.Words == nil
		field.SetBool(v)
	case "seed":
		v, err := strconv.ParseUint(text, 10, 64)
		ok = err == nil
		field.SetUint(v)
	case "int":
		v, err := strconv.Atoi(text)
		ok = err == nil && p.allows(float64(v))
		field.SetInt(int64(v))
	case "float64":
		v, err := strconv.ParseFloat(text, 64)
		if ok = err == nil && p.allows(v); v == 0 {
			v = p.None
		}
		field.SetFloat(v)
	case "time":
		v, err := parseTime(text)
		ok = err == nil && p.allows(float64(v))
		field.SetInt(int64(v))
	}
	if !ok {
		return errors.New("want " + p.wanted())
	}
	return nil
}

// allows reports whether a number satisfies the bounds Least and Above.
func (p Parameter) allows(v float64) bool {
	return (v > p.Least || v == p.Least && !p.Above) && !math.IsInf(v, 0)
}

// parseTime parses a duration or a number of seconds. A larger number than a duration can hold gives the longest one.
func parseTime(text string) (time.Duration, error) {
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return time.Duration(min(v*float64(time.Second), math.MaxInt64/2)), nil
	}
	return time.ParseDuration(text)
}

// wanted describes the values that the parameter accepts.
func (p Parameter) wanted() string {
	var words []string
	for _, w := range p.Words {
		words = append(words, w.Name)
	}
	bound := fmt.Sprintf("of at least %v", p.Least)
	if p.Above {
		bound = fmt.Sprintf("above %v", p.Least)
	}
	switch kind := p.Kind(); {
	case kind == "bool" && words != nil:
		return "one of " + strings.Join(words, ", ")
	case kind == "bool":
		return "true or false"
	case kind == "time":
		return "a time above 0, such as 1m30s, or a number of seconds"
	case kind == "float64" && words == nil:
		return "a number " + bound
	case words == nil:
		return "a whole number " + bound
	}
	if len(words) == 1 {
		bound += ", or " + words[0]
	} else {
		bound += ", " + strings.Join(words, " or ")
	}
	return "a number " + bound
}
