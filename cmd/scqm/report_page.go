package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

const (
	// pageRows are drawn, evenly spread over all, and pageLines columns for each axis.
	pageRows, pageLines, pageColumns, pageDrivers, pageSteps = 2000, 8, 30, 10, 25
	// pageNumbers are the numbers up to which the influence of rows is computed.
	pageNumbers = 1_000_000
	// pageWidth, pageHeight and curveHeight are those of charts, pageMargin is left free.
	pageWidth, pageHeight, curveHeight, pageMargin = 1000.0, 500.0, 320.0, 20.0
)

// pageColors tell lines apart.
var pageColors = [pageLines]string{"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22"}

// fitPage is what the template of a page shows.
type fitPage struct {
	Title, Across, Up, Ended, Settings, Farthest, NoInfluence string
	Facts, Columns                                            []pageFact
	Warnings, Notes                                           []string
	Plane, ByRow                                              []pagePoint
	Axes                                                      []pageAxis
	Drivers                                                   []pageDriver
	AllColumns                                                int
}

type pageFact struct {
	Name, Value string
	Width       float64 // of a bar, of 300
}

type pagePoint struct {
	X, Y string
	Row  int
	Far  string
}

type pageAxis struct {
	Number int
	Lines  []pageLine
}

type pageLine struct{ Name, Color, Points, Y string }

type pageDriver struct {
	Row                               int
	Move, Residual, Without, Leverage string
}

// fitRows are rows with what the model makes of them.
type fitRows struct {
	x         *dataset.Matrix
	tau, far  []float64
	residuals []float64
	spread    []float64 // standard deviations of the columns
	mean      []float64
}

func newFitPage(ctx context.Context, f *reportFlags, m *scqm.Model, x *dataset.Matrix) (*fitPage, error) {
	r, err := newFitRows(ctx, f, m, x)
	if err != nil {
		return nil, err
	}
	p := &fitPage{
		Title: f.title, Across: "the first coordinate", Up: "the second one", AllColumns: x.Cols,
		Warnings: m.Meta.Warnings, Notes: m.Meta.Notes, Ended: m.Meta.Status + ": " + m.Meta.Message,
	}
	p.Facts = []pageFact{
		{Name: "rows", Value: fmt.Sprint(x.Rows)}, {Name: "columns", Value: fmt.Sprint(x.Cols)},
		{Name: "latent dimension d", Value: fmt.Sprint(m.Latent)}, {Name: "directions of curvature s", Value: fmt.Sprint(m.Curvature)},
		{Name: "loss", Value: m.Meta.Loss.Name}, {Name: "ended", Value: p.Ended}, {Name: "objective", Value: short(m.Meta.Objective)},
		{Name: "ridge", Value: short(m.Meta.Ridge)}, {Name: "curvature times extent", Value: short(m.Meta.CurvatureExtent)},
		{Name: "solver", Value: m.Meta.Solver},
	}
	if c := m.Meta.Evidence; c != nil {
		p.Facts = append(p.Facts, pageFact{Name: "curvature", Value: strings.TrimPrefix(c.Sentence, "curvature: ")})
	}
	if err := r.hidden(ctx, p, f, m); err != nil {
		return nil, err
	}
	r.points(p, m.Latent)
	r.columns(p)
	if err := r.axes(ctx, p, f, m); err != nil {
		return nil, err
	}
	return p, r.drivers(ctx, p, f, m)
}

// hidden compares the errors of the sheet and of a flat one at hidden entries, where these say
// something.
func (r *fitRows) hidden(ctx context.Context, p *fitPage, f *reportFlags, m *scqm.Model) error {
	const part, fewest = 0.3, 3
	if m.Curvature == 0 || m.D-m.Latent < fewest || f.data.Missing {
		return nil
	}
	data := cli.RowsOf(r.x)
	flat, err := scqm.Learn(ctx, data, scqm.Config{Latent: m.Latent, Linear: true, Loss: losses.SquaredL2(), Threads: f.threads})
	if err != nil {
		return err
	}
	var found [2]float64
	for k, m := range []*scqm.Model{m, flat.Model} {
		squares, err := m.HiddenErrors(ctx, data, part, m.Meta.Seed, f.threads)
		if err != nil {
			return err
		}
		found[k] = math.Sqrt(floats.Sum(squares) / float64(len(r.x.Data)))
	}
	p.Facts = append(p.Facts, pageFact{
		Name: "error at hidden entries", Value: fmt.Sprintf("%s, %s by a flat sheet", short(found[0]), short(found[1])),
	})
	return nil
}

func newFitRows(ctx context.Context, f *reportFlags, m *scqm.Model, x *dataset.Matrix) (*fitRows, error) {
	data := cli.RowsOf(x)
	data.Missing = f.data.Missing
	tau, err := m.Transform(ctx, data, f.threads)
	if err != nil {
		return nil, err
	}
	residuals, err := m.Reconstruct(ctx, tau, f.threads)
	if err != nil {
		return nil, err
	}
	r := &fitRows{x: x, tau: tau, residuals: residuals, far: make([]float64, x.Rows)}
	r.mean, r.spread = make([]float64, x.Cols), make([]float64, x.Cols)
	count := make([]float64, x.Cols)
	for i := range x.Rows {
		var squares float64
		for j, v := range x.Data[i*x.Cols : (i+1)*x.Cols] {
			k := i*x.Cols + j
			if residuals[k] -= v; v != v {
				residuals[k] = 0
				continue
			}
			squares += residuals[k] * residuals[k]
			count[j]++
			step := v - r.mean[j]
			r.mean[j] += step / count[j]
			r.spread[j] += step * (v - r.mean[j])
		}
		r.far[i] = math.Sqrt(squares)
	}
	for j, v := range r.spread {
		if r.spread[j] = math.Sqrt(v / max(count[j], 1)); !(r.spread[j] > 0) {
			r.spread[j] = 1
		}
	}
	return r, nil
}

// points draws the latent plane and the distances of rows.
func (r *fitRows) points(p *fitPage, d int) {
	first, second := make([]float64, r.x.Rows), slices.Clone(r.far)
	for i := range first {
		first[i] = r.tau[i*d]
		if d > 1 {
			second[i] = r.tau[i*d+1]
		}
	}
	if d == 1 {
		p.Up = "the distance from the sheet"
	}
	order := make([]float64, r.x.Rows)
	for i := range order {
		order[i] = float64(i)
	}
	p.Plane, p.ByRow = r.scatter(first, second), r.scatter(order, r.far)
	var worst []string
	for _, i := range largest(r.far, 5) {
		worst = append(worst, fmt.Sprintf("row %d (%s)", i, short(r.far[i])))
	}
	p.Farthest = strings.Join(worst, ", ")
}

func (r *fitRows) scatter(across, up []float64) []pagePoint {
	n := min(len(across), pageRows)
	x, y := ruler(across, pageMargin, pageWidth-pageMargin), ruler(up, pageHeight-pageMargin, pageMargin)
	points := make([]pagePoint, n)
	for k := range points {
		i := k * len(across) / n
		points[k] = pagePoint{X: coordinate(x(across[i])), Y: coordinate(y(up[i])), Row: i, Far: short(r.far[i])}
	}
	return points
}

// ruler maps the range of some numbers to that of a chart.
func ruler(v []float64, from, to float64) func(float64) float64 {
	low, high := floats.Min(v), floats.Max(v)
	if !(high > low) {
		return func(float64) float64 { return (from + to) / 2 }
	}
	return func(v float64) float64 { return from + (v/2-low/2)/(high/2-low/2)*(to-from) }
}

// columns draws the residuals of columns.
func (r *fitRows) columns(p *fitPage) {
	size := make([]float64, r.x.Cols)
	for k, v := range r.residuals {
		size[k%r.x.Cols] = math.Hypot(size[k%r.x.Cols], v)
	}
	floats.Scale(1/math.Sqrt(float64(r.x.Rows)), size)
	most := max(floats.Max(size), math.SmallestNonzeroFloat64)
	for _, j := range largest(size, pageColumns) {
		p.Columns = append(p.Columns, pageFact{Name: r.name(j), Value: short(size[j]), Width: math.Round(3000*size[j]/most) / 10})
	}
}

func (r *fitRows) name(j int) string {
	if r.x.Names != nil {
		return r.x.Names[j]
	}
	return fmt.Sprintf("x%d", j)
}

// axes draws what the sheet does along each coordinate.
func (r *fitRows) axes(ctx context.Context, p *fitPage, f *reportFlags, m *scqm.Model) error {
	d, D := m.Latent, r.x.Cols
	sorted := make([][]float64, d)
	for j := range sorted {
		for i := range r.x.Rows {
			sorted[j] = append(sorted[j], r.tau[i*d+j])
		}
		slices.Sort(sorted[j])
	}
	at := func(j int, q float64) float64 { return sorted[j][int(q*float64(len(sorted[j])-1))] }
	for j := range min(d, pageLines) {
		tau := make([]float64, pageSteps*d)
		for i := range pageSteps {
			for k := range d {
				tau[i*d+k] = at(k, 0.5)
			}
			tau[i*d+j] = at(j, 0.02) + float64(i)/(pageSteps-1)*(at(j, 0.98)-at(j, 0.02))
		}
		rows, err := m.Reconstruct(ctx, tau, f.threads)
		if err != nil {
			return err
		}
		for k := range rows {
			rows[k] = (rows[k] - r.mean[k%D]) / r.spread[k%D]
		}
		p.Axes = append(p.Axes, pageAxis{Number: j + 1, Lines: r.lines(rows)})
	}
	return nil
}

// lines draws the columns that change most.
func (r *fitRows) lines(rows []float64) []pageLine {
	D := r.x.Cols
	change := make([]float64, D)
	for k := range D {
		low, high := rows[k], rows[k]
		for i := range pageSteps {
			low, high = min(low, rows[i*D+k]), max(high, rows[i*D+k])
		}
		change[k] = high - low
	}
	chosen := largest(change, pageLines)
	var shown []float64
	for _, k := range chosen {
		for i := range pageSteps {
			shown = append(shown, rows[i*D+k])
		}
	}
	y := ruler(shown, curveHeight-pageMargin, pageMargin)
	lines := make([]pageLine, len(chosen))
	for c, k := range chosen {
		var points []string
		for i := range pageSteps {
			points = append(points, coordinate(pageMargin+float64(i)/(pageSteps-1)*(pageWidth-100-pageMargin))+","+coordinate(y(rows[i*D+k])))
		}
		lines[c] = pageLine{Name: r.name(k), Color: pageColors[c], Points: strings.Join(points, " "), Y: coordinate(y(rows[(pageSteps-1)*D+k]))}
	}
	return lines
}

// drivers lists the rows of the largest influence, where it can be told.
func (r *fitRows) drivers(ctx context.Context, p *fitPage, f *reportFlags, m *scqm.Model) error {
	if len(r.x.Data) > pageNumbers {
		p.NoInfluence = "Influence is left out: there are over a million numbers."
		return nil
	}
	found, err := m.Influence(ctx, cli.RowsOf(r.x), f.threads)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		p.NoInfluence = "Influence cannot be told: " + strings.TrimSuffix(strings.TrimPrefix(err.Error(), "scqm: "), ": "+scqm.ErrInput.Error())
		if errors.Is(err, scqm.ErrInput) || errors.Is(err, scqm.ErrNotMinimum) || errors.Is(err, scqm.ErrMemory) {
			return nil
		}
		return err
	}
	moves := make([]float64, len(found.Rows))
	for i, row := range found.Rows {
		moves[i] = row.Move
	}
	for _, i := range largest(moves, pageDrivers) {
		row := found.Rows[i]
		p.Drivers = append(p.Drivers, pageDriver{i, short(row.Move), short(row.Residual), short(row.Without), short(row.Leverage)})
	}
	return nil
}

// largest returns the places of the largest numbers, the first of equal ones first.
func largest(v []float64, n int) []int {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v[b], v[a]) })
	return order[:min(n, len(order))]
}

// short is a number of four digits, coordinate one of a chart.
func short(v float64) string { return fmt.Sprintf("%.4g", v) }

func coordinate(v float64) string { return fmt.Sprintf("%.1f", v) }
