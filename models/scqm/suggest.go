package scqm

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
	"github.com/scqm/scqm/models/scqm/internal/planes"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
	"github.com/scqm/scqm/solvers"
)

// SuggestConfig says which models Suggest compares. The zero value is the default.
type SuggestConfig struct {
	// MaxLatent bounds d; 0 stands for 4. No d above D-1 is tried.
	MaxLatent int
	// Loss is that of the fits; nil stands for l2.
	Loss framework.Loss
	// Folds is the number of parts of the rows, each of which is held out once;
	// 0 stands for 5.
	Folds int
	// MaxRows is the number of rows, drawn at random, beyond which others are
	// left out; 0 stands for 1000.
	MaxRows int
	// Seed makes random choices reproducible.
	Seed uint64
	// Threads bounds the goroutines; the result does not depend on it.
	Threads int
	// Progress, if not nil, is told the part of the work that is done.
	Progress func(part float64)
}

// Defaults of [SuggestConfig].
const (
	DefaultMaxLatent   = 4
	defaultFolds       = 5
	defaultSuggestRows = 1000
)

// Trial is a model that Suggest has tried.
type Trial struct {
	// Latent is d and Curvature s; s = 0 is a flat sheet, and d = 0 the geometric
	// median of the rows.
	Latent    int `json:"d"`
	Curvature int `json:"s"`
	// Ridge is that of [Config] with which entries of rows held out are predicted best,
	// of those with which the sheet of all rows does not fold; 0 for a flat one.
	Ridge float64 `json:"ridge"`
	// Predicted is the mean distance of rows that were held out from what is
	// predicted of them, each part of their entries from the others: the smaller,
	// the better the model. A row counts with ten times the median distance from
	// the centre at most, so that no outlier decides.
	Predicted float64 `json:"predicted"`
	// Worse is by how much that is above the best trial that can be recommended,
	// and WorseError the standard error of the difference.
	Worse      float64 `json:"worse"`
	WorseError float64 `json:"worse_error"`
	// Learned and HeldOut are mean distances from the sheet, of rows it was
	// fitted to and of others. They fall with every dimension more.
	Learned float64 `json:"learned"`
	HeldOut float64 `json:"held_out"`
	// Singular are the singular values of V Theta', in the metric in which the
	// columns of Theta are the symmetric matrices A_k, of a fit to all rows;
	// Effective counts those above a tenth of the largest.
	Singular  []float64 `json:"singular_values"`
	Effective int       `json:"s_effective"`
	// CurvatureExtent is that of the fit to all rows, see [Model.CurvatureExtent].
	CurvatureExtent float64 `json:"curvature_extent"`
	// Warning says what is wrong with the model, as "follows single rows"; "" if
	// nothing. One whose curvature explodes, or that predicts entries no better
	// than a linear one, is not recommended.
	Warning string `json:"warning,omitempty"`

	rows  []float64 // errors of prediction
	off   []float64 // distances of rows held out from the sheet, bounded as rows are
	bound float64   // bound on them, ten times their median for the first trial
}

// Suggestion is a comparison of models.
type Suggestion struct {
	Trials []Trial `json:"trials"`
	// Best is the number of the trial that is recommended.
	Best int `json:"best"`
	// Reason is a sentence for people.
	Reason string `json:"reason"`
	// Rows is the number of rows that were used.
	Rows int `json:"rows"`

	lowest int // the number of the trial with the smallest error
}

const (
	// interpolates is the ratio of learned to held-out distances below which a
	// model follows single rows.
	interpolates = 0.5
	// significantCurvature is the part of the largest singular value that counts as curvature.
	significantCurvature = 0.1
	// robustly bounds errors of rows, in units of the median distance from the
	// centre.
	robustly = 10
	// ridgeGain is the part by which a larger ridge must lower the error of prediction.
	ridgeGain = 0.005
	// mixedColumns is the number of columns below which several rotations are
	// averaged: of few, one can have a column that is all but across the sheet.
	mixedColumns = 20
)

// Suggest tries small d, each flat and with as many directions of curvature as rows
// show, by cross-validation of rows and columns: each model is fitted without a part of
// the rows, and predicts each part of their entries from the others. It recommends
// the simplest model, that of the smallest d and then of the smallest s, whose
// error is above the lowest by no more than a standard error of the difference. Of
// curved models it takes those only that do not fold and that predict entries better
// than the flat one of their d, by more than a standard error. Each has the
// ridge with which entries of rows held out are predicted best.
//
// Predicting entries is needed because the distance of new rows from a sheet falls
// with every dimension more, of noise or not. It needs entries that tell about
// each other: with 2 columns it can tell little, with 1 nothing.
//
// Source: A. B. Owen and P. O. Perry, Bi-cross-validation of the SVD and the
// nonnegative matrix factorization, Annals of Applied Statistics 3 (2009).
func Suggest(ctx context.Context, x Data, c SuggestConfig) (*Suggestion, error) {
	if err := x.Validate(); err != nil {
		return nil, err
	}
	c = c.defaulted(x.D)
	held, err := reserveSuggest(x, c)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	r := request{data: x, loss: c.Loss}
	defer r.release()
	back, err := r.reduce()
	if err != nil {
		return nil, err
	}
	x, c.Loss = c.sample(r.data), r.loss
	if x.D < 2 {
		return nil, fmt.Errorf("scqm: suggest: rows of one column have no sheet; want 2 columns or more: %w", ErrInput)
	}
	if c.Folds < 2 || x.N < 2*c.Folds {
		return nil, fmt.Errorf("scqm: suggest: %d distinct rows in %d parts; want 2 parts or more, of 2 rows or more each: %w", x.N, c.Folds, ErrInput)
	}
	s := &Suggestion{Rows: x.N}
	if err := s.search(ctx, x, c); err != nil {
		return nil, err
	}
	s.recommend(x)
	back(ctx, s.results())
	s.Reason = s.reason(c, x.D)
	return s, nil
}

func (c SuggestConfig) defaulted(D int) SuggestConfig {
	c.MaxLatent = min(cmp.Or(c.MaxLatent, DefaultMaxLatent), D-1)
	c.Folds = cmp.Or(c.Folds, defaultFolds)
	c.MaxRows = cmp.Or(c.MaxRows, defaultSuggestRows)
	if c.Loss == nil {
		c.Loss = losses.L2()
	}
	return c
}

// sample returns distinct rows in random order, no more than MaxRows. The order
// they came in does not matter.
func (c SuggestConfig) sample(x Data) Data {
	return x.Select(shuffled(x, c.Seed)[:min(c.MaxRows, x.N)])
}

// search tries models, the simplest first. It leaves out those with more
// curvature than one that makes things worse for its d, and ends at a d that
// does.
func (s *Suggestion) search(ctx context.Context, x Data, c SuggestConfig) error {
	folds := c.folds(x)
	try := func(t Trial) (*Trial, error) {
		if len(s.Trials) > 0 {
			t.bound = s.Trials[0].bound
		}
		if err := t.run(ctx, x, c, folds); err != nil {
			return nil, fmt.Errorf("scqm: suggest: d = %d, s = %d: %w", t.Latent, t.Curvature, err)
		}
		s.Trials = append(s.Trials, t)
		return &t, nil
	}
	best, err := try(Trial{})
	for d := 1; d <= c.MaxLatent && err == nil; d++ {
		var here, t *Trial
		var counts []int
		if counts, err = c.curvatures(ctx, x, d); err != nil {
			return err
		}
		for _, count := range counts {
			if t, err = try(Trial{Latent: d, Curvature: count}); err != nil {
				return err
			}
			if here != nil && s.clearlyAbove(t, here, x.Weights) {
				break
			}
			if here == nil || t.Predicted < here.Predicted {
				here = t
			}
		}
		if c.Progress != nil {
			c.Progress(float64(d*d) / float64(c.MaxLatent*c.MaxLatent))
		}
		if d > 1 && s.clearlyAbove(here, best, x.Weights) {
			break
		}
		if here.Predicted < best.Predicted {
			best = here
		}
	}
	return err
}

// curvatures lists the s to try: none, and as many directions as rows show, if they do.
func (c SuggestConfig) curvatures(ctx context.Context, x Data, d int) ([]int, error) {
	room := Config{Latent: d}.room(x.D)
	if room == 0 {
		return []int{0}, nil
	}
	t, err := newScreening(ctx, planes.Sample(x), d, room, c.Seed)
	if err != nil {
		return nil, err
	}
	if s := t.columns(room).fitted; s > 0 {
		return []int{0, s}, nil
	}
	return []int{0}, nil
}

// above returns by how much a trial is worse than another, with the standard
// error of the mean over rows.
func (t *Trial) above(other *Trial, weights []float64) (mean, deviation float64) {
	return difference(t.rows, other.rows, weights)
}

// clearlyAbove says that a trial is worse by more than chance and rounding.
func (s *Suggestion) clearlyAbove(t, other *Trial, weights []float64) bool {
	mean, deviation := t.above(other, weights)
	return mean > 2*deviation+dense.Negligible*s.Trials[0].Predicted
}

// fold is a part of the rows, with rotations of the columns.
type fold struct {
	held          []int
	learned, test Data
	turns         []*sheet.Rotation
}

// folds cut the rows, which are in random order.
func (c SuggestConfig) folds(x Data) []fold {
	rng := rand.New(rand.NewPCG(c.Seed, 0x6d6978))
	var list []fold
	for k := range c.Folds {
		var held, rest []int
		for i := range x.N {
			if i%c.Folds == k {
				held = append(held, i)
			} else {
				rest = append(rest, i)
			}
		}
		f := fold{held: held, learned: x.Select(rest), test: x.Select(held)}
		for range 1 + mixedColumns/x.D {
			f.turns = append(f.turns, sheet.NewRotation(x.D, rng))
		}
		list = append(list, f)
	}
	return list
}

// run fits the model without each part of the rows in turn, and then to all.
func (t *Trial) run(ctx context.Context, x Data, c SuggestConfig, folds []fold) error {
	fitted, err := t.chooseRidge(ctx, x, c, folds)
	if err != nil {
		return err
	}
	if t.Predicted, err = t.predictFolds(ctx, x, c, folds, fitted); err != nil {
		return err
	}
	all := fitted[len(folds)]
	t.Singular = []float64{}
	t.Learned = stat.Mean(all.distances, x.Weights)
	if all.model != nil {
		if t.Curvature > 0 {
			t.Singular, t.Effective = all.model.bendingValues()
		}
		t.CurvatureExtent = all.model.Meta.CurvatureExtent
		t.warn()
	}
	return nil
}

// learned is a model, nil for the centre, with the distances of the rows it was
// fitted to.
type learned struct {
	model     *Model
	distances []float64
}

// chooseRidge fits the model without each part of the rows and to all, the last, with
// the smallest ridge first. Larger ones are taken while the sheet of all rows folds, or
// entries of rows held out are predicted better by the part ridgeGain.
func (t *Trial) chooseRidge(ctx context.Context, x Data, c SuggestConfig, folds []fold) (best []learned, err error) {
	if t.Curvature == 0 {
		return t.fitFolds(ctx, x, c, folds)
	}
	chosen, least := 0.0, math.Inf(1)
	for _, t.Ridge = range ridgeGrid {
		fitted, err := t.fitFolds(ctx, x, c, folds)
		if err != nil {
			return nil, err
		}
		far, err := t.predictFolds(ctx, x, c, folds, fitted)
		if err != nil {
			return nil, err
		}
		folded := fitted[len(folds)].model.Meta.CurvatureExtent > foldedCurvature
		if best == nil || math.IsInf(least, 1) || far < (1-ridgeGain)*least {
			best, chosen = fitted, t.Ridge
		} else {
			break
		}
		if !folded {
			least = far
		}
	}
	t.Ridge = chosen
	return best, nil
}

// predictFolds fills errors of prediction and distances of the rows, each held out once, and returns the mean
// of the former, bounded.
func (t *Trial) predictFolds(ctx context.Context, x Data, c SuggestConfig, folds []fold, fitted []learned) (float64, error) {
	t.rows, t.off = make([]float64, x.N), make([]float64, x.N)
	for k, f := range folds {
		predicted, off, err := t.predict(ctx, c, f, fitted[k])
		if err != nil {
			return 0, err
		}
		for j, i := range f.held {
			t.rows[i], t.off[i] = predicted[j], off[j]
		}
	}
	if t.bound == 0 {
		sorted := slices.Sorted(slices.Values(t.rows))
		t.bound = robustly * sorted[len(sorted)/2]
	}
	t.HeldOut = stat.Mean(t.off, x.Weights)
	for i, v := range t.rows {
		t.rows[i], t.off[i] = min(v, t.bound), min(t.off[i], t.bound)
	}
	return stat.Mean(t.rows, x.Weights), nil
}

// fitFolds fits the model without each part of the rows and to all, the last.
func (t *Trial) fitFolds(ctx context.Context, x Data, c SuggestConfig, folds []fold) ([]learned, error) {
	list := make([]learned, 0, len(folds)+1)
	for _, f := range folds {
		l, err := t.fit(ctx, f.learned, c)
		if err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	l, err := t.fit(ctx, x, c)
	return append(list, l), err
}

// distancesOf returns the distances of the rows of a fold that were held out.
func (l learned) distancesOf(ctx context.Context, f fold, threads int) ([]float64, error) {
	if l.model == nil {
		return rowDistances(f.test, slices.Repeat(rows.GeometricMedian(f.learned), f.test.N)), nil
	}
	y, err := l.model.Project(ctx, f.test, threads)
	if err != nil {
		return nil, err
	}
	return rowDistances(f.test, y), nil
}

// fit fits the model to rows.
func (t *Trial) fit(ctx context.Context, x Data, c SuggestConfig) (learned, error) {
	if t.Latent == 0 {
		return learned{distances: rowDistances(x, slices.Repeat(rows.GeometricMedian(x), x.N))}, nil
	}
	fit, err := Learn(ctx, x, Config{
		Latent: t.Latent, Curvature: t.Curvature, Linear: t.Curvature == 0, Ridge: t.Ridge, Loss: c.Loss, Threads: c.Threads, Options: comparedLimits,
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return learned{}, err
	}
	y, err := fit.Model.Reconstruct(ctx, fit.Model.Tau, c.Threads)
	if err != nil {
		return learned{}, err
	}
	return learned{fit.Model, rowDistances(x, y)}, nil
}

// predict returns, for the rows of a fold, distances from what is predicted and
// from the sheet that was fitted to the others.
func (t *Trial) predict(ctx context.Context, c SuggestConfig, f fold, l learned) (predicted, off []float64, err error) {
	off, err = l.distancesOf(ctx, f, c.Threads)
	if err != nil || l.model == nil {
		return off, off, err
	}
	m := l.model
	noise := medianNoise(l.distances, m.D, f.learned.N, m.Latent)
	predicted = make([]float64, f.test.N)
	for _, turn := range f.turns {
		if err := newEntryPredictor(m, turn, columnParts, noise).addErrors(ctx, predicted, f.test, c.Threads); err != nil {
			return nil, nil, err
		}
	}
	floats.Scale(1/float64(len(f.turns)), predicted)
	return predicted, off, nil
}

// warn looks for signs of a bad fit.
func (t *Trial) warn() {
	switch {
	case t.CurvatureExtent > foldedCurvature:
		t.Warning = "has a curvature that explodes"
	case t.Learned < interpolates*t.HeldOut && t.HeldOut > dense.Negligible*t.bound:
		t.Warning = "follows single rows"
	}
}

// recommend picks the simplest trial that is as good as the best, of those that can
// be recommended. The first, the centre of the rows, can.
func (s *Suggestion) recommend(x Data) {
	allowed, flat := make([]bool, len(s.Trials)), 0
	for k := range s.Trials {
		t := &s.Trials[k]
		if t.Curvature == 0 {
			flat = k
		}
		allowed[k] = t.Curvature == 0 || t.winsOver(&s.Trials[flat], x.Weights)
		if allowed[k] && t.Predicted < s.Trials[s.lowest].Predicted {
			s.lowest = k
		}
	}
	s.Best = s.lowest
	rounding := dense.Negligible * s.Trials[0].Predicted
	for k := range s.Trials {
		t := &s.Trials[k]
		t.Worse, t.WorseError = t.above(&s.Trials[s.lowest], x.Weights)
		if s.Best == s.lowest && k < s.lowest && allowed[k] && t.Worse <= max(t.WorseError, rounding) {
			s.Best = k
		}
	}
}

// winsOver reports whether a curved model does not fold and predicts entries of rows held out
// better than the flat one of its d, by more than a standard error; a warning says
// what is wrong.
func (t *Trial) winsOver(flat *Trial, weights []float64) bool {
	if t.CurvatureExtent > foldedCurvature {
		return false
	}
	mean, deviation := difference(t.rows, flat.rows, weights)
	if mean < -deviation {
		return true
	}
	if t.Warning == "" {
		t.Warning = "predicts entries no better than a linear one"
	}
	return false
}

// results lists the numbers whose unit is that of the data, and one over it.
func (s *Suggestion) results() *results {
	out := &results{}
	for k := range s.Trials {
		t := &s.Trials[k]
		out.lengths = append(out.lengths, &t.Predicted, &t.Worse, &t.WorseError, &t.Learned, &t.HeldOut)
		for j := range t.Singular {
			out.inverse = append(out.inverse, &t.Singular[j])
		}
	}
	return out
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
	if t.Latent > 0 && t.Curvature == 0 && s.curvedFails(t.Latent) {
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

// curvedFails reports whether the curved models of d have a warning, all of them.
func (s *Suggestion) curvedFails(d int) bool {
	return !slices.ContainsFunc(s.Trials, func(t Trial) bool { return t.Latent == d && t.Curvature > 0 && t.Warning == "" })
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

// bendingValues returns the singular values of V Theta' and how many of them
// are more than a part of the largest. In canonical form the columns of Theta
// are the singular vectors times the values.
func (m *Model) bendingValues() (values []float64, effective int) {
	values = make([]float64, m.Curvature)
	for i, v := range m.Theta {
		k := i % m.Curvature
		values[k] = math.Hypot(values[k], v*math.Sqrt(sheet.VechWeight(m.Latent, i/m.Curvature)))
	}
	for _, v := range values {
		if v > significantCurvature*floats.Max(values) {
			effective++
		}
	}
	return values, effective
}

// reserveSuggest holds what choosing dimensions takes: the distinct rows, a
// sample of them, and the parts of that.
func reserveSuggest(x Data, c SuggestConfig) (*memory.Reservation, error) {
	rows := min(float64(x.N), float64(c.MaxRows))
	d := float64(c.MaxLatent)
	q := d * (d + 1) / 2
	f := newFootprint(Data{N: int(rows), D: x.D}, c.Loss, c.MaxLatent, int(min(q, float64(x.D)-d)), c.Threads)
	sample := rows * f.D * (2 + float64(c.Folds))
	fit := f.problem() + f.components() + f.starts(0) + f.residuals() + f.solver(solvers.Continuation{Inner: solvers.LBFGS{}})
	predict := f.threads*(rows+4*f.m*f.m) + rows*f.m + rows*rows
	return f.reserve("suggest", x, 3*float64(x.N)+sample+fit+predict)
}
