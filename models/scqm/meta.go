package scqm

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
)

// Version is the version of the module that writes files.
const Version = "0.2.0"

// FormatVersion is the version of the model file that this package writes.
const FormatVersion = 1

// Meta describes a fit: its settings, results and quality. `scqm fit --json` prints it and a model file
// contains it. It depends on the data, the settings and the seed only, not on time or threads.
type Meta struct {
	Format       int       `json:"format"`
	Version      string    `json:"version"`
	Objective    float64   `json:"objective"` // sum of weighted losses, unsmoothed, without penalty
	Penalty      float64   `json:"penalty"`
	MeanLoss     float64   `json:"mean_loss"` // Objective divided by the sum of weights
	Loss         LossMeta  `json:"loss"`
	N            int       `json:"n"`
	D            int       `json:"D"`
	Latent       int       `json:"d"`
	Curvature    int       `json:"s"`
	Effective    int       `json:"s_effective"` // curvature columns that were fitted
	Linear       bool      `json:"linear"`
	Ridge        float64   `json:"ridge"`
	Solver       string    `json:"solver"`
	Status       string    `json:"status"`
	Message      string    `json:"message"`
	Iterations   int       `json:"iterations"`
	Evaluations  int       `json:"evaluations"`
	KKT          *KKT      `json:"kkt"`          // nil if a cancelled run left no time for it
	Stationarity []float64 `json:"stationarity"` // scale-free residual of c, Q, Theta, tau; see Problem.Stationarity
	Inits        int       `json:"n_init"`
	Seed         uint64    `json:"seed"`
	Notes        []string  `json:"notes"`
	// CurvatureExtent is what [Model.CurvatureExtent] returns for the fit.
	CurvatureExtent float64 `json:"curvature_extent"`
	// Warnings are sentences on defects of the fit, such as a run that ended before it converged, or unbounded
	// curvature.
	Warnings []string `json:"warnings"`

	// Evidence is the evidence for the curvature; it is nil if curvature was not tested.
	Evidence *CurvatureMeta `json:"curvature,omitempty"`

	// Missing describes the treatment of missing entries, nil if none were allowed.
	Missing *MissingMeta `json:"missing,omitempty"`

	// Mean is the weighted mean of the rows without missing entries. Explained is the weighted variance of each
	// coordinate tau_j over that of the rows. It excludes the variance that the curvature explains, which R2
	// includes. These and the next three fields are only set if the rows were in memory, not streamed, and have at
	// most 65,536 columns.
	Mean      []float64 `json:"mean,omitempty"`
	Explained []float64 `json:"explained_variance_ratio,omitempty"`
	// R2 is 1 - sum w |f(tau) - x|^2 / sum w |x - mean|^2. R2PCA is the same for d and for d + s principal
	// components; it is only set for at most 2,000 rows without missing entries.
	R2    *float64  `json:"r2,omitempty"`
	R2PCA []float64 `json:"r2_pca,omitempty"`
	// Distances are the median and the standard deviation of |f(tau) - x|^(2/3). The latter is estimated by the
	// median of absolute deviations.
	Distances []float64 `json:"distances,omitempty"`
	// FeatureNames are the names of the columns; it is nil if the columns have no names.
	FeatureNames []string `json:"feature_names,omitempty"`
}

// maxNameBytes bounds the total length of the names of all columns.
const maxNameBytes = 1 << 22

// NameFeatures records the names of the columns, unless there are none or their total length exceeds maxNameBytes.
func (m *Meta) NameFeatures(names []string) {
	bytes := 0
	for _, name := range names {
		bytes += len(name)
	}
	if m.FeatureNames = nil; len(names) == m.D && bytes <= maxNameBytes {
		m.FeatureNames = names
	}
}

// CheckFeatures rejects columns whose names or their order differ from those of the training rows. Columns
// without names are accepted.
func (m *Meta) CheckFeatures(names []string) error {
	if m.FeatureNames == nil || names == nil {
		return nil
	}
	for k, name := range m.FeatureNames {
		switch {
		case k < len(names) && names[k] == name:
		case slices.Contains(names, name):
			return fmt.Errorf("scqm: column %d is %q, where the model was learned from %q: the columns are in another order: %w", k, names[min(k, len(names)-1)], name, ErrInput)
		default:
			return fmt.Errorf("scqm: there is no column %q, which is column %d of what the model was learned from: %w", name, k, ErrInput)
		}
	}
	return nil
}

// LossMeta names a loss and its parameters.
type LossMeta struct {
	Name   string             `json:"name"`
	Params map[string]float64 `json:"params,omitempty"`
	// Plugin identifies the program of a plugin loss, which another process computes. It describes the program, never
	// its location.
	Plugin *rowloss.Program `json:"plugin,omitempty"`
}

const (
	// maxParamBytes bounds the parameters of a plugin, and maxVersionBytes its
	// version.
	maxParamBytes   = 1 << 20
	maxVersionBytes = 1000
)

var (
	// pluginName matches names of plugin losses, paramName those of their parameters.
	pluginName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	paramName  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)
	sha256Hex  = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// check rejects a plugin description that no fit writes to a file. Its name is used to look for a program, so it must
// not be a path.
func (l LossMeta) check() error {
	p := l.Plugin
	switch {
	case p == nil:
		return nil
	case !pluginName.MatchString(p.Name):
		return fmt.Errorf("the plugin of the loss is called %.80q, which is no name: a lower case letter and up to 63 of a-z, 0-9 and _", p.Name)
	case p.Name != l.Name:
		return fmt.Errorf("the loss %.80q is of a plugin called %q", l.Name, p.Name)
	case !sha256Hex.MatchString(p.SHA256):
		return fmt.Errorf("%.80q is no SHA-256 of the plugin %s", p.SHA256, p.Name)
	case len(p.Version) > maxVersionBytes || strings.ContainsFunc(p.Version, unicode.IsControl):
		return fmt.Errorf("the version of the plugin %s is not one line of at most %d bytes", p.Name, maxVersionBytes)
	}
	if err := checkParams(p.Params); err != nil {
		return fmt.Errorf("the parameters of the plugin %s %w", p.Name, err)
	}
	return nil
}

// checkParams rejects parameters that are not a JSON object of numbers, booleans and strings.
func checkParams(text string) error {
	if len(text) > maxParamBytes {
		return fmt.Errorf("take more than %d bytes", maxParamBytes)
	}
	var params map[string]any
	if err := json.Unmarshal([]byte(text), &params); err != nil || params == nil {
		return errors.New("are not a JSON object")
	}
	for name, value := range params {
		if !paramName.MatchString(name) {
			return fmt.Errorf("hold one called %.80q, which is no name: letters, digits and _", name)
		}
		switch value.(type) {
		case float64, bool, string:
		default:
			return fmt.Errorf("hold %s, which is no number, truth value or text", name)
		}
	}
	return nil
}

func describeLoss(l framework.Loss) LossMeta {
	m := LossMeta{Name: l.Name()}
	if p, ok := l.(rowloss.Parametric); ok {
		m.Params = p.Params()
	}
	if e, ok := l.(rowloss.Identified); ok {
		m.Plugin = new(e.Program())
	}
	return m
}
