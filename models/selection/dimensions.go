package selection

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm"
)

// SuggestConfig holds the settings of Suggest. The zero value is the default.
type SuggestConfig struct {
	// MaxLatent bounds the latent dimension d; 0 means 4. d is always below D.
	MaxLatent int
	// Loss is the loss of the fits; nil stands for l2.
	Loss framework.Loss
	// Folds is the number of parts of the rows for cross-validation; each is held out once. 0
	// means 3.
	Folds int
	// MaxRows bounds the number of rows that are used, drawn at random; 0 means 1000.
	MaxRows int
	// Seed makes random choices reproducible.
	Seed uint64
	// Threads bounds the goroutines; the result does not depend on it.
	Threads int
	// Progress, if not nil, is called with the fraction of the work that is done.
	Progress func(part float64)
}

// Defaults of [SuggestConfig].
const (
	DefaultMaxLatent   = 4
	defaultFolds       = 3
	defaultSuggestRows = 1000
	fewestRows         = 10
	// predictedRows bounds the rows whose entries are predicted.
	predictedRows = 300
)

// Trial is the result of a model that Suggest has tried.
type Trial struct {
	// Latent is d and Curvature s; s = 0 is a flat sheet, and d = 0 the geometric
	// median of the rows.
	Latent    int `json:"d"`
	Curvature int `json:"s"`
	// Ridge is the Ridge of [scqm.Config]. It is larger than the default if the fit to all
	// rows would fold, and 0 for a flat sheet.
	Ridge float64 `json:"ridge"`
	// Predicted is the mean distance of held-out rows from their predictions, where each part
	// of a row's entries is predicted from the others. Smaller is better. The distance of a
	// row is bounded by ten times the median distance from the centre, so that outliers do not
	// dominate.
	Predicted float64 `json:"predicted"`
	// Worse is Predicted minus that of the best trial that can be recommended. WorseError is
	// its standard error.
	Worse      float64 `json:"worse"`
	WorseError float64 `json:"worse_error"`
	// Learned and HeldOut are the mean distances from the sheet of its training rows and of
	// held-out rows. Both fall with each additional dimension.
	Learned float64 `json:"learned"`
	HeldOut float64 `json:"held_out"`
	// Singular are the singular values of V Theta', in the metric in which the
	// columns of Theta are the symmetric matrices A_k, of a fit to all rows;
	// Effective counts those above a tenth of the largest.
	Singular  []float64 `json:"singular_values"`
	Effective int       `json:"s_effective"`
	// CurvatureExtent is [scqm.Model.CurvatureExtent] of the fit to all rows.
	CurvatureExtent float64 `json:"curvature_extent"`
	// Warning describes a defect of the model, such as "follows single rows"; "" if
	// none. A model with unbounded curvature, or that predicts entries no better
	// than a linear one, is not recommended.
	Warning string `json:"warning,omitempty"`

	rows []float64 // bounded prediction errors of rows
}

// Suggestion is a comparison of models.
type Suggestion struct {
	Trials []Trial `json:"trials"`
	// Best is the index of the recommended trial.
	Best int `json:"best"`
	// Reason is the reason of the recommendation, in a sentence.
	Reason string `json:"reason"`
	// Rows is the number of rows that were used.
	Rows int `json:"rows"`

	lowest int // the index of the trial with the smallest error
}

const (
	// overfitted is the ratio of training to held-out distances below which a model overfits single rows.
	overfitted = 0.5
	// significantCurvature is the part of the largest singular value that counts as curvature.
	significantCurvature = 0.1
	// foldedExtent is the curvature times extent above which a sheet counts as folded.
	foldedExtent = 8
	// spareError is the factor by which a curved sheet may predict entries better than the flat one around it.
	spareError = 1.2
	// boundedError bounds the errors of rows, in units of the median distance from the centre.
	boundedError = 10
	// hiddenPart is the fraction of the columns predicted from the others at a time.
	hiddenPart = 0.2
	// mixedColumns is the number of columns below which several rotations are averaged: with few columns, a
	// single rotation may leave one nearly normal to the sheet.
	mixedColumns = 10
)

// Suggest tries small d, each flat and with estimated curvature, by cross-validation of rows and columns: each
// model is fitted without a part of the rows, and predicts each part of their entries from the others. It
// recommends the simplest model, that of the smallest d, and flat before curved, whose error is above the
// lowest by no more than a standard error of the difference. A curved model is recommended only if it does not
// fold and predicts entries better than the flat one of its d, by more than a standard error.
//
// Predicting entries is needed because the distance of new rows from a sheet falls with each additional
// dimension, of noise or not. It needs dependent columns: 2 are hardly informative, 1 is not at all.
//
// Source: A. B. Owen and P. O. Perry, Bi-cross-validation of the SVD and the nonnegative matrix factorization,
// Annals of Applied Statistics 3 (2009).
func Suggest(ctx context.Context, x scqm.Data, c SuggestConfig) (*Suggestion, error) {
	x.Missing = false // entries that are missing are refused
	if err := x.Validate(); err != nil {
		return nil, err
	}
	if err := x.ValidateSpread(); err != nil {
		return nil, err
	}
	c.MaxLatent = min(cmp.Or(c.MaxLatent, DefaultMaxLatent), x.D-1)
	c.Folds = cmp.Or(c.Folds, defaultFolds)
	c.MaxRows = cmp.Or(c.MaxRows, defaultSuggestRows)
	if c.Loss == nil {
		c.Loss = losses.L2()
	}
	held, err := memory.Reserve(fmt.Sprintf("suggest for %d rows of %d columns", x.N, x.D), c.bytes(x), "take fewer rows or columns")
	if err != nil {
		return nil, fmt.Errorf("scqm: %w", err)
	}
	defer held.Release()
	x = rows.Merge(x).Data
	x = x.Select(rows.Shuffled(x, c.Seed)[:min(c.MaxRows, x.N)])
	if x.D < 2 {
		return nil, fmt.Errorf("scqm: suggest: rows of one column have no sheet; want 2 columns or more: %w", scqm.ErrInput)
	}
	if c.Folds < 2 || x.N < max(2*c.Folds, fewestRows) {
		return nil, fmt.Errorf("scqm: suggest: %d distinct rows in %d parts; want 10 rows or more, in 2 parts or more of 2 rows or more: %w", x.N, c.Folds, scqm.ErrInput)
	}
	s := &Suggestion{Rows: x.N}
	if err := s.search(ctx, x, c); err != nil {
		return nil, err
	}
	s.recommend(predicted(x))
	s.Reason = s.reason(c, x.D)
	return s, nil
}

// bytes estimates the memory of the distinct rows, the rows in use, their folds, and the rotated
// folds. Fits and predictions reserve their own.
func (c SuggestConfig) bytes(x scqm.Data) float64 {
	used := min(float64(x.N), float64(c.MaxRows))
	return 8 * float64(x.D) * (2*float64(x.N) + used*(3+float64(c.Folds)+float64(mixedColumns/max(1, x.D))))
}

// search tries flat models until a larger d predicts no better, then curved models up to that d, since curvature
// fills extra flat directions. It stops when a curved model predicts worse than a simpler one.
func (s *Suggestion) search(ctx context.Context, x scqm.Data, c SuggestConfig) error {
	folds, bound, weights := c.folds(x), math.Inf(1), predicted(x).Weights
	try := func(config scqm.Config) (*Trial, error) {
		t, err := runTrial(ctx, x, config, folds, bound)
		if err != nil {
			return nil, fmt.Errorf("scqm: suggest: d = %d: %w", config.Latent, err)
		}
		if config.Linear || t.Curvature > 0 {
			s.Trials = append(s.Trials, *t)
		}
		return t, nil
	}
	best, err := try(scqm.Config{Linear: true})
	if err != nil {
		return err
	}
	bound = boundedError * median(slices.Clone(best.rows))
	best.limit(bound, weights)
	s.Trials[0] = *best
	rounding := dense.Negligible * best.Predicted
	worse := func(t *Trial) bool {
		if math.IsInf(t.Predicted, 1) {
			return best.Curvature > 0
		}
		mean, deviation := difference(t.rows, best.rows, weights)
		if t.Predicted < best.Predicted {
			best = t
		}
		return mean > deviation+rounding
	}
	show := c.Progress
	if show == nil {
		show = func(float64) {}
	}
	most, first, flat := c.MaxLatent, best, (*Trial)(nil)
	for _, linear := range []bool{true, false} {
		flat, best = best, first
		for d := 1; d <= most; d++ {
			if in := d * (d + 3) / 2; !linear && in < most && s.Trials[in].Predicted > spareError*flat.Predicted {
				continue // the curved sheet lies in a flat one of so many dimensions
			}
			config := scqm.Config{Latent: d, Loss: c.Loss, Seed: c.Seed, Threads: c.Threads, Options: comparedLimits, Linear: linear, Ridge: scqm.DefaultRidge}
			t, err := try(config)
			if err != nil {
				return err
			}
			if !linear {
				show(float64(d*d) / float64(most*most))
			}
			if worse(t) && d > 1 {
				most = d - 1 // ends the loop, and bounds that of curved models
			}
		}
	}
	show(1)
	slices.SortStableFunc(s.Trials, func(a, b Trial) int {
		return cmp.Or(cmp.Compare(a.Latent, b.Latent), cmp.Compare(a.Curvature, b.Curvature))
	})
	return nil
}

// predicted returns the rows, which are in random order, whose entries are predicted.
func predicted(x scqm.Data) scqm.Data { return x.Slice(0, min(x.N, predictedRows)) }

// fold is a held-out part of the rows. Its columns are rotated at random before entries are hidden, so that
// each group of columns covers all directions equally.
type fold struct {
	held          []int
	learned, test scqm.Data
	rotations     []*rotation
	rotated       []scqm.Data // the held-out rows, under each rotation
	seed          uint64      // for splitting the columns
}

// folds splits the rows, which are in random order.
func (c SuggestConfig) folds(x scqm.Data) []fold {
	rng := rand.New(rand.NewPCG(c.Seed, 0x6d6978))
	list := make([]fold, c.Folds)
	for k := range list {
		f := fold{seed: c.Seed}
		var rest []int
		for i := range x.N {
			switch {
			case i%c.Folds != k:
				rest = append(rest, i)
			case i < predictedRows:
				f.held = append(f.held, i)
			}
		}
		f.learned, f.test = x.Select(rest), x.Select(f.held)
		for range 1 + mixedColumns/x.D {
			r := newRotation(x.D, rng)
			f.rotations, f.rotated = append(f.rotations, r), append(f.rotated, r.rows(f.test))
		}
		list[k] = f
	}
	return list
}

// runTrial fits a model to all rows, which sets its curvature and ridge, and without each fold in turn. d = 0
// is the geometric median. A curved model whose fit to all rows is flat is abandoned: Curvature is 0 and
// Predicted infinite.
func runTrial(ctx context.Context, x scqm.Data, c scqm.Config, folds []fold, bound float64) (*Trial, error) {
	t := &Trial{Latent: c.Latent, Singular: []float64{}, Predicted: math.Inf(1), rows: make([]float64, predicted(x).N)}
	m, err := learn(ctx, x, c)
	if err != nil {
		return nil, err
	}
	if m != nil && !c.Linear {
		if t.Curvature = m.Meta.Effective; t.Curvature == 0 {
			return t, nil
		}
		t.Ridge = m.Meta.Ridge
		c.Curvature, c.Ridge = t.Curvature, t.Ridge
		t.Singular, t.Effective = bendingValues(m)
	}
	off, weights := make([]float64, len(t.rows)), predicted(x).Weights
	for _, f := range folds {
		part, err := learn(ctx, f.learned, c)
		if err != nil {
			return nil, err
		}
		predicted, far, err := f.errors(ctx, part, c.Threads)
		if err != nil {
			return nil, err
		}
		for j, i := range f.held {
			t.rows[i], off[i] = predicted[j], far[j]
		}
	}
	t.limit(bound, weights)
	t.HeldOut = stat.Mean(off, weights)
	learned, err := distances(ctx, m, x, x, c.Threads)
	if err != nil {
		return nil, err
	}
	t.Learned = stat.Mean(learned, x.Weights)
	if m == nil {
		return t, nil
	}
	t.CurvatureExtent = m.Meta.CurvatureExtent
	t.warn(bound)
	return t, nil
}

// warn sets the warning for a bad fit; bound is the bound on the errors of rows.
func (t *Trial) warn(bound float64) {
	switch {
	case t.CurvatureExtent > foldedExtent:
		t.Warning = "has a curvature that explodes"
	case t.Learned < overfitted*t.HeldOut && t.HeldOut > dense.Negligible*bound:
		t.Warning = "follows single rows"
	}
}

// limit bounds the errors of rows by bound, and computes their mean.
func (t *Trial) limit(bound float64, weights []float64) {
	for i, v := range t.rows {
		t.rows[i] = min(v, bound)
	}
	t.Predicted = stat.Mean(t.rows, weights)
}

// learn fits a model to rows. For d = 0 it returns nil, which stands for the geometric median.
func learn(ctx context.Context, x scqm.Data, c scqm.Config) (*scqm.Model, error) {
	if c.Latent == 0 {
		return nil, ctx.Err()
	}
	fit, err := scqm.Learn(ctx, x, c)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return fit.Model, nil
}

// distances returns the distances of rows from the sheet of model m. If m is nil, it
// returns those from the geometric median of the training rows.
func distances(ctx context.Context, m *scqm.Model, learned, x scqm.Data, threads int) ([]float64, error) {
	list := make([]float64, x.N)
	if m == nil {
		centre := rows.GeometricMedian(learned)
		for i := range list {
			list[i] = floats.Distance(x.Row(i), centre, 2)
		}
		return list, nil
	}
	r, err := residuals(ctx, m, x, threads)
	for i := 0; i < x.N && err == nil; i++ {
		list[i] = floats.Norm(r[i*x.D:(i+1)*x.D], 2)
	}
	return list, err
}

// errors returns, for the held-out rows, their distances from the predictions and from the sheet fitted to the
// others.
func (f *fold) errors(ctx context.Context, m *scqm.Model, threads int) (predicted, off []float64, err error) {
	off, err = distances(ctx, m, f.learned, f.test, threads)
	if err != nil || m == nil {
		return slices.Clone(off), off, err
	}
	predicted = make([]float64, f.test.N)
	for k, r := range f.rotations {
		squares, err := r.model(m).HiddenErrors(ctx, f.rotated[k], hiddenPart, f.seed, threads)
		if err != nil {
			return nil, nil, err
		}
		for i, v := range squares {
			predicted[i] += math.Sqrt(v) / float64(len(f.rotations))
		}
	}
	return predicted, off, nil
}

// difference returns the mean of a - b with its standard error.
func difference(a, b, weights []float64) (mean, deviation float64) {
	diff := make([]float64, len(a))
	floats.SubTo(diff, a, b)
	w := rows.Shares(weights, len(diff))
	mean = stat.Mean(diff, w)
	for i, v := range diff {
		deviation = math.Hypot(deviation, w[i]*(v-mean))
	}
	return mean, deviation / float64(len(diff))
}

// recommend picks the simplest acceptable trial that is as good as the best. The first, the centre of the rows,
// is always acceptable.
func (s *Suggestion) recommend(x scqm.Data) {
	allowed, flat := make([]bool, len(s.Trials)), 0
	for k := range s.Trials {
		t := &s.Trials[k]
		if t.Curvature == 0 {
			flat = k
		}
		allowed[k] = t.Curvature == 0 || t.beats(&s.Trials[flat], x.Weights)
		if allowed[k] && t.Predicted < s.Trials[s.lowest].Predicted {
			s.lowest = k
		}
	}
	s.Best = s.lowest
	low, rounding := &s.Trials[s.lowest], dense.Negligible*s.Trials[0].Predicted
	for k := range s.Trials {
		t := &s.Trials[k]
		t.Worse, t.WorseError = difference(t.rows, low.rows, x.Weights)
		if s.Best == s.lowest && k < s.lowest && allowed[k] && t.Worse <= max(t.WorseError, rounding) {
			s.Best = k
		}
	}
}

// beats reports whether a curved model does not fold and predicts held-out entries better than the flat one of
// its d, by more than a standard error; if not, it sets a warning.
func (t *Trial) beats(flat *Trial, weights []float64) bool {
	if t.CurvatureExtent > foldedExtent {
		return false
	}
	mean, deviation := difference(t.rows, flat.rows, weights)
	if mean < -deviation {
		return true
	}
	t.Warning = cmp.Or(t.Warning, "predicts entries no better than a linear one")
	return false
}

func (s *Suggestion) reason(c SuggestConfig, D int) string {
	t, low := s.Trials[s.Best], s.Trials[s.lowest]
	why := fmt.Sprintf("%s: it predicts entries of rows held out best, at a distance of %.4g", t.name(), t.Predicted)
	switch {
	case t.Latent == 0:
		why = "no sheet: none predicts entries of rows held out better than their centre does, by more than a standard error; the rows look like noise in all directions"
	case s.Best != s.lowest:
		why = fmt.Sprintf("%s: the simplest model that predicts entries of rows held out, at a distance of %.4g, as well as the best, %s with %.4g, but for a standard error",
			t.name(), t.Predicted, low.name(), low.Predicted)
	}
	if t.Latent > 0 && t.Curvature == 0 && !s.curves(t.Latent) {
		why += "; no curved model of this d predicts them better"
	}
	if t.Warning != "" {
		why += "; but the fit " + t.Warning
	}
	if t.Latent == c.MaxLatent && t.Latent < D-1 {
		why += "; this is the largest d tried, and a larger one may be better"
	}
	if D == 2 {
		why += "; rows of 2 entries tell little about d and s"
	}
	return why
}

// curves reports whether an acceptable curved model of dimension d was tried.
func (s *Suggestion) curves(d int) bool {
	return slices.ContainsFunc(s.Trials, func(t Trial) bool { return t.Latent == d && t.Curvature > 0 && t.Warning == "" })
}

func (t *Trial) name() string {
	switch {
	case t.Latent == 0:
		return "the centre"
	case t.Curvature == 0:
		return fmt.Sprintf("d = %d, linear", t.Latent)
	}
	return fmt.Sprintf("d = %d, s = %d", t.Latent, t.Curvature)
}

// bendingValues returns the singular values of V Theta' and how many of them exceed significantCurvature of the
// largest. In canonical form the columns of Theta are the singular vectors times the values, where entries off
// the diagonals of A_k count twice.
func bendingValues(m *scqm.Model) (values []float64, effective int) {
	values = make([]float64, m.Curvature)
	at := 0
	for i := range m.Latent {
		for j := i; j < m.Latent; j++ {
			weight := 1.0
			if j > i {
				weight = math.Sqrt(0.5)
			}
			for k := range values {
				values[k] = math.Hypot(values[k], weight*m.Theta[at])
				at++
			}
		}
	}
	for _, v := range values {
		if v > significantCurvature*floats.Max(values) {
			effective++
		}
	}
	return values, effective
}
