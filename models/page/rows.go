package page

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm"
)

const (
	defaultRows = 2000
	imageRows   = 1000
	// shownAxes, shownColumns and shownLines bound what is drawn. steps is the number of points along an axis.
	shownAxes, shownColumns, shownLines, steps = 6, 30, 8, 25
	imageSteps                                 = 9
	// manyNumbers bounds the number of entries for which influence is computed, shownDrivers the number of listed rows.
	manyNumbers, shownDrivers = 1_000_000, 10
	// neighbours is the number of nearest rows, among at most sampled rows, that decide whether rows are near a
	// point.
	neighbours, sampled, sparse = 5, 500, 1.5
)

// view is the rows and what the model computes for them.
type view struct {
	Config
	m            *scqm.Model
	x            scqm.Data
	tau          []float64
	residuals    []float64 // 0 where an entry is missing
	filled       scqm.Data
	far          []float64
	mean, spread []float64
	drawn        []int
	error        *float64 // error of the sheet at the rows
	places       []float64
	reach        float64 // largest gap of a point that counts as near rows
	low, high    float64 // of all entries
}

func look(ctx context.Context, m *scqm.Model, x scqm.Data, c Config) (*view, error) {
	tau, err := m.Transform(ctx, x, c.Threads)
	if err != nil {
		return nil, err
	}
	y, err := m.Reconstruct(ctx, tau, c.Threads)
	if err != nil {
		return nil, err
	}
	v := &view{Config: c, m: m, x: x, tau: tau, residuals: y, far: make([]float64, x.N), filled: scqm.Data{N: x.N, D: x.D, X: slices.Clone(x.X)}}
	for i := range x.N {
		there := 0
		for k := i * x.D; k < (i+1)*x.D; k++ {
			if e := x.X[k]; e == e {
				v.residuals[k] -= e
				v.far[i] = math.Hypot(v.far[i], v.residuals[k])
				there++
				continue
			}
			v.filled.X[k], v.residuals[k] = y[k], 0
		}
		v.far[i] *= math.Sqrt(float64(x.D) / float64(max(there, 1)))
	}
	v.mean, v.spread = rows.Mean(v.filled), make([]float64, x.D)
	for k, e := range v.filled.X {
		v.spread[k%x.D] = math.Hypot(v.spread[k%x.D], e-v.mean[k%x.D])
	}
	for j := range v.spread {
		if v.spread[j] /= math.Sqrt(float64(x.N)); !(v.spread[j] > 0) {
			v.spread[j] = 1
		}
	}
	v.low, v.high = floats.Min(v.filled.X), floats.Max(v.filled.X)
	n := min(x.N, cmp.Or(c.MaxRows, defaultRows))
	for k := range n {
		v.drawn = append(v.drawn, k*x.N/n)
	}
	v.density()
	return v, nil
}

// density estimates the density of the rows in latent space.
func (v *view) density() {
	d := v.m.Latent
	for i := 0; i < v.x.N; i += max(1, v.x.N/sampled) {
		v.places = append(v.places, v.tau[i*d:(i+1)*d]...)
	}
	var gaps []float64
	for k := 0; k < len(v.places); k += d {
		gaps = append(gaps, v.gap(v.places[k:k+d]))
	}
	slices.Sort(gaps)
	v.reach = sparse * gaps[len(gaps)*19/20]
}

// gap returns the distance of a point to its nearest rows.
func (v *view) gap(tau []float64) float64 {
	d := len(tau)
	var far []float64
	for k := 0; k < len(v.places); k += d {
		far = append(far, floats.Distance(tau, v.places[k:k+d], 2))
	}
	slices.Sort(far)
	return far[min(neighbours, len(far)-1)]
}

func (v *view) rows(p *content) {
	p.Row = v.drawn
	for k, i := range v.drawn {
		p.Distance = append(p.Distance, v.far[i])
		if v.Labels != nil {
			p.Label = append(p.Label, v.Labels[i])
		}
		if v.Height > 0 {
			image := []byte{}
			if k%max(1, (len(v.drawn)+imageRows-1)/imageRows) == 0 {
				image = grays(v.filled.Row(i), v.low, v.high)
			}
			p.Image = append(p.Image, image)
		}
	}
}

// grays returns the pixels of an image, dark for large values.
func grays(row []float64, low, high float64) []byte {
	b := make([]byte, len(row))
	for j, e := range row {
		part := (e/2 - low/2) / max(high/2-low/2, math.SmallestNonzeroFloat64)
		b[j] = byte(math.MaxUint8 * (1 - math.Min(1, math.Max(0, part))))
	}
	return b
}

// planes adds charts of the first two coordinates and, for comparison, of the principal components.
func (v *view) planes(ctx context.Context, p *content) error {
	d := v.m.Latent
	axes, err := rows.PrincipalComponents(ctx, v.filled, min(2, v.x.D), v.Threads)
	if err != nil {
		return err
	}
	p.Plane = scatter{XAs: "coordinate 1", YAs: "coordinate 2", Note: v.hole()}
	p.PCA = scatter{XAs: "principal component 1", YAs: "principal component 2"}
	if d == 1 {
		p.Plane.YAs = "distance from the sheet"
	}
	for _, i := range v.drawn {
		p.Plane.X = append(p.Plane.X, v.tau[i*d])
		if d == 1 {
			p.Plane.Y = append(p.Plane.Y, v.far[i])
		} else {
			p.Plane.Y = append(p.Plane.Y, v.tau[i*d+1])
		}
		var to [2]float64
		for k := range len(axes.Axes) / v.x.D {
			for j, e := range v.filled.Row(i) {
				to[k] += (e - axes.Mean[j]) * axes.Axes[k*v.x.D+j]
			}
		}
		p.PCA.X, p.PCA.Y = append(p.PCA.X, to[0]), append(p.PCA.Y, to[1])
	}
	return nil
}

// hole describes an empty region surrounded by rows, if there is one at the medians of the coordinates.
func (v *view) hole() string {
	middle := make([]float64, v.m.Latent)
	for j := range middle {
		middle[j] = v.quantile(j, 0.5)
	}
	if v.gap(middle) <= v.reach {
		return ""
	}
	return "No rows are near the middle of this plane: what the sheet draws there is a guess."
}

func (v *view) quantile(j int, part float64) float64 {
	list := v.coordinate(j)
	slices.Sort(list)
	return list[int(part*float64(len(list)-1))]
}

func (v *view) coordinate(j int) []float64 {
	list := make([]float64, v.x.N)
	for i := range list {
		list[i] = v.tau[i*v.m.Latent+j]
	}
	return list
}

// axes evaluates the sheet along each coordinate, with the others at their means over nearby rows.
func (v *view) axes(ctx context.Context, p *content) error {
	d, D, count := v.m.Latent, v.x.D, steps
	if v.Height > 0 {
		count = imageSteps
	}
	for j := range min(d, shownAxes) {
		a := axis{}
		low, high := v.quantile(j, 0.02), v.quantile(j, 0.98)
		var tau []float64
		for k := range count {
			at := low + float64(k)/float64(count-1)*(high-low)
			place := v.through(j, at)
			a.At, a.Near = append(a.At, at), append(a.Near, v.gap(place) <= v.reach)
			tau = append(tau, place...)
		}
		y, err := v.m.Reconstruct(ctx, tau, v.Threads)
		if err != nil {
			return err
		}
		if v.Height > 0 {
			for k := range count {
				a.Image = append(a.Image, grays(y[k*D:(k+1)*D], v.low, v.high))
			}
		} else {
			a.Lines = v.lines(y)
		}
		p.Axes = append(p.Axes, a)
	}
	return nil
}

// through returns a point with coordinate j at at, and the others at their means over the nearest quarter of the rows.
func (v *view) through(j int, at float64) []float64 {
	d := v.m.Latent
	near := nearest(v.coordinate(j), at, max(neighbours, v.x.N/4))
	place := make([]float64, d)
	for _, i := range near {
		floats.AddScaled(place, 1/float64(len(near)), v.tau[i*d:(i+1)*d])
	}
	place[j] = at
	return place
}

// nearest returns the indices of the count numbers nearest to to.
func nearest(list []float64, to float64, count int) []int {
	far := make([]float64, len(list))
	for i, e := range list {
		far[i] = -math.Abs(e - to)
	}
	return largest(far, count)
}

// lines returns the columns that change most, in standard deviations.
func (v *view) lines(y []float64) []line {
	D := v.x.D
	list, change := make([]line, D), make([]float64, D)
	for j := range D {
		list[j].Name = v.name(j)
		for k := j; k < len(y); k += D {
			list[j].Y = append(list[j].Y, (y[k]-v.mean[j])/v.spread[j])
		}
		change[j] = floats.Max(list[j].Y) - floats.Min(list[j].Y)
	}
	var shown []line
	for _, j := range largest(change, shownLines) {
		shown = append(shown, list[j])
	}
	return shown
}

func (v *view) name(j int) string {
	if v.Names != nil {
		return v.Names[j]
	}
	return fmt.Sprintf("x%d", j)
}

// columns adds the residuals of the columns to the page.
func (v *view) columns(p *content) {
	size := make([]float64, v.x.D)
	for k, e := range v.residuals {
		size[k%v.x.D] = math.Hypot(size[k%v.x.D], e/math.Sqrt(float64(v.x.N)))
	}
	if v.Height > 0 {
		p.Residual = grays(size, 0, floats.Max(size))
		return
	}
	for _, j := range largest(size, shownColumns) {
		p.Columns = append(p.Columns, column{v.name(j), size[j]})
	}
}

// largest returns the indices of the n largest numbers; equal ones keep their order.
func largest(list []float64, n int) []int {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[b], list[a]) })
	return order[:min(n, len(order))]
}
