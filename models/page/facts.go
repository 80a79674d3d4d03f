package page

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

// facts adds the main results of the fit to the page.
func (v *view) facts(ctx context.Context, p *content) error {
	m := &v.m.Meta
	add := func(name, format string, values ...any) {
		p.Facts = append(p.Facts, [2]string{name, fmt.Sprintf(format, values...)})
	}
	add("rows", "%d of %d columns; %d are drawn", v.x.N, v.x.D, len(v.drawn))
	add("sheet", "d = %d, s = %d, loss %s, ridge %.4g", v.m.Latent, v.m.Curvature, m.Loss.Name, m.Ridge)
	add("ended", "%s: %s", m.Status, m.Message)
	add("objective", "%.6g", m.Objective)
	if m.R2 != nil {
		add("R2", "%.4g", *m.R2)
	}
	if list := m.R2PCA; list != nil {
		text := fmt.Sprintf("%.4g with d = %d", list[0], v.m.Latent)
		if !m.Linear {
			text += fmt.Sprintf(", %.4g with d + s = %d", list[1], min(v.m.Latent+v.m.Curvature, v.x.D))
		}
		add("R2 of principal components", "%s", text)
	}
	if m.Evidence != nil {
		add("curvature", "%s", strings.TrimPrefix(m.Evidence.Sentence, "curvature: "))
	}
	add("curvature times extent", "%.3g", m.CurvatureExtent)
	far := slices.Sorted(slices.Values(v.far))
	add("distance of a row", "%.4g in the median, %.4g at most", far[len(far)/2], far[len(far)-1])
	if p.Outlying > 0 {
		over := 0
		for _, e := range far {
			if e > p.Outlying {
				over++
			}
		}
		add("outliers at level .01", "%d, farther than %.4g", over, p.Outlying)
	}
	if v.error != nil {
		add("standard error of the sheet", "%.4g, by the jackknife", *v.error)
	}
	return v.hidden(ctx, p, add)
}

const (
	// hiddenPart is the fraction of columns hidden at a time. The test needs fewRows rows and uses at most hiddenRows.
	hiddenPart, fewRows, hiddenRows = 0.3, 20, 1000
	// tellingColumns is the least D - d at which errors at hidden entries are informative.
	tellingColumns = 3
	// noise is the ratio of the error at hidden entries to that of the column means above which rows look like noise.
	noise = 0.97
)

// hidden compares, at hidden entries, the errors of the sheet, of a flat sheet, and of the column means.
func (v *view) hidden(ctx context.Context, p *content, add func(name, format string, values ...any)) error {
	if v.x.N < fewRows || v.x.D-v.m.Latent < tellingColumns || !slices.Equal(v.filled.X, v.x.X) {
		return nil
	}
	var some []int
	for i := 0; i < v.x.N; i += (v.x.N + hiddenRows - 1) / hiddenRows {
		some = append(some, i)
	}
	x := v.x.Select(some)
	flat, err := scqm.Learn(ctx, x, scqm.Config{Latent: v.m.Latent, Linear: true, Loss: losses.SquaredL2(), Threads: v.Threads})
	if err != nil {
		return nil // too few rows, or all equal
	}
	var found [2]float64
	for k, m := range []*scqm.Model{v.m, flat.Model} {
		squares, err := m.HiddenErrors(ctx, x, hiddenPart, v.m.Meta.Seed, v.Threads)
		if err != nil {
			return err
		}
		found[k] = math.Sqrt(floats.Sum(squares) / float64(len(x.X)))
	}
	mean := math.Sqrt(floats.Dot(v.spread, v.spread) / float64(v.x.D))
	add("error at hidden entries", "%.4g, %.4g by a flat sheet, %.4g by the means of columns", found[0], found[1], mean)
	switch best := min(found[0], found[1]); {
	case best > noise*mean:
		p.Verdict = "These rows look like noise: the sheet predicts entries from the others no better than the means of columns do. What the charts show is not structure."
	case found[1] < (1-scarcely)*found[0]:
		p.Verdict = "A flat sheet predicts hidden entries better than this one: its curvature follows noise."
	}
	return nil
}

// scarcely is the relative difference up to which two errors count as equal.
const scarcely = 0.02

// drivers adds the rows of the largest influence to the page, if their influence can be computed.
func (v *view) drivers(ctx context.Context, p *content) error {
	if len(v.x.X) > manyNumbers {
		p.Drives = "Influence is left out: there are over a million numbers."
		return nil
	}
	found, err := v.m.Influence(ctx, v.x, v.Threads)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		p.Drives = "Influence cannot be told: " + strings.TrimSuffix(strings.TrimPrefix(err.Error(), "scqm: "), ": "+scqm.ErrInput.Error())
		if errors.Is(err, scqm.ErrInput) || errors.Is(err, scqm.ErrNotMinimum) || errors.Is(err, scqm.ErrMemory) {
			return nil
		}
		return err
	}
	p.Drives = strings.Join(append([]string{"How far the sheet moves when a row is left out, the largest first"}, found.Notes...), "; ") + "."
	moves := make([]float64, len(found.Rows))
	for i, row := range found.Rows {
		moves[i] = row.Move
	}
	v.error = new(floats.Norm(moves, 2))
	for _, i := range largest(moves, shownDrivers) {
		row, label := found.Rows[i], ""
		if v.Labels != nil {
			label = v.Labels[i]
		}
		line := []string{fmt.Sprint(i), label}
		for _, e := range []float64{row.Move, row.Residual, row.Without, row.Leverage} {
			line = append(line, fmt.Sprintf("%.3g", e))
		}
		p.Drivers = append(p.Drivers, line)
	}
	return nil
}
