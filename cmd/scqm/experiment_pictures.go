package main

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strconv"

	"golang.org/x/image/draw"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/scqm/scqm/internal/experiments"
)

// drawToy makes a picture of every arc, with a panel for each noise.
func drawToy(cases []*experiments.ToyCase) []experimentPicture {
	var pictures []experimentPicture
	for from := 0; from < len(cases); {
		arc := cases[from].Arc
		var panels [][]*plot.Plot
		for ; from < len(cases) && cases[from].Arc == arc; from++ {
			p := toyPanel(cases[from])
			if last := len(panels) - 1; last >= 0 && len(panels[last]) < panelColumns {
				panels[last] = append(panels[last], p)
			} else {
				panels = append(panels, []*plot.Plot{p})
			}
		}
		pictures = append(pictures, experimentPicture{"-" + arc.File, drawPanels(panels)})
	}
	return pictures
}

// toyPanel shows points and where they are projected, the models and the truth.
func toyPanel(c *experiments.ToyCase) *plot.Plot {
	p := newPlot(c.Name+", "+c.Noise, "", "")
	p.Title.TextStyle.Font, p.Legend.TextStyle.Font = font.From(sans, 11), font.From(sans, 9)
	points, feet := pairs(c.X.X), pairs(experiments.Points(c.Quadratic, c.Quadratic.Tau))
	var truth plotter.XYs
	for i := range points {
		p.Add(&plotter.Line{XYs: plotter.XYs{points[i], feet[i]}, LineStyle: vgdraw.LineStyle{Color: color.Gray{0xB0}, Width: 0.6}})
	}
	for k := range 101 {
		sin, cos := math.Sincos(c.Angle * float64(k) / 100)
		truth = append(truth, plotter.XY{X: cos, Y: sin})
	}
	p.Add(&plotter.Scatter{XYs: points, GlyphStyle: vgdraw.GlyphStyle{Color: color.Gray{0x70}, Radius: 1.4, Shape: vgdraw.CircleGlyph{}}})
	for _, line := range []struct {
		name string
		at   plotter.XYs
		vgdraw.LineStyle
	}{
		{"truth", truth, vgdraw.LineStyle{Color: color.Black, Width: 1.2, Dashes: []vg.Length{4, 3}}},
		{"linear", pairs(experiments.Curve(c.Linear)), vgdraw.LineStyle{Color: blue, Width: 1.8}},
		{"quadratic", pairs(experiments.Curve(c.Quadratic)), vgdraw.LineStyle{Color: orange, Width: 1.8}},
	} {
		l := &plotter.Line{XYs: line.at, LineStyle: line.LineStyle}
		p.Add(l)
		p.Legend.Add(line.name, l)
	}
	equalAxes(p, panelWidth, panelHeight)
	return p
}

// pairs are points in the plane.
func pairs(flat []float64) plotter.XYs {
	list := make(plotter.XYs, len(flat)/2)
	for i := range list {
		list[i] = plotter.XY{X: flat[2*i], Y: flat[2*i+1]}
	}
	return list
}

// Lengths of the panels of the errors on the sphere.
const (
	methodLine  = vg.Length(13)
	methodRoom  = vg.Length(80) // for the title and the axis
	boxWidth    = vg.Length(7)
	oracleIndex = 1
	// leastRowError ends the axis of errors of single points, which can be 0.
	leastRowError = 1e-3
)

// drawSphereErrors shows box plots, over repetitions, of the errors of all
// methods relative to those of the oracle, with a panel for each noise.
func drawSphereErrors(study *experiments.SphereStudy) image.Image {
	return drawSpherePanels(study, "mean squared error, in units of the oracle's", func(m, k int) plotter.Values {
		var ratios plotter.Values
		for rep, e := range study.Errors[m][k] {
			ratios = append(ratios, math.Log10(e/study.Errors[oracleIndex][k][rep]))
		}
		return ratios
	})
}

// drawSphereRows shows box plots of the errors of all points of the first
// repetition, as the paper does.
func drawSphereRows(study *experiments.SphereStudy) image.Image {
	return drawSpherePanels(study, "squared error of a point, in units of the noise variance", func(m, k int) plotter.Values {
		var ratios plotter.Values
		for _, e := range study.Rows[m][k] {
			ratios = append(ratios, math.Log10(max(e/study.Sigmas[k]/study.Sigmas[k], leastRowError)))
		}
		return ratios
	})
}

func drawSpherePanels(study *experiments.SphereStudy, axis string, values func(m, k int) plotter.Values) image.Image {
	var panels [][]*plot.Plot
	for k, sigma := range study.Sigmas {
		p := spherePanel(study.Methods, fmt.Sprintf("noise %g", sigma), axis, func(m int) plotter.Values { return values(m, k) })
		if last := len(panels) - 1; last >= 0 && len(panels[last]) < panelColumns {
			panels[last] = append(panels[last], p)
		} else {
			panels = append(panels, []*plot.Plot{p})
		}
	}
	for last := len(panels) - 1; len(panels[last]) < len(panels[0]); {
		panels[last] = append(panels[last], nil)
	}
	return drawPanelsOf(panels, panelWidth, methodRoom+vg.Length(len(study.Methods))*methodLine)
}

func spherePanel(methods []string, title, axis string, values func(m int) plotter.Values) *plot.Plot {
	p := newPlot(title, axis, "")
	p.Title.TextStyle.Font, p.X.Label.TextStyle.Font, p.Y.Tick.Label.Font = font.From(sans, 11), font.From(sans, 10), font.From(sans, 8)
	var names []string
	for place := range methods {
		m := len(methods) - 1 - place // the first on top
		names = append(names, methods[m])
		box, err := plotter.NewBoxPlot(boxWidth, float64(place), values(m))
		if err != nil { // there are no errors to show
			continue
		}
		box.Horizontal = true
		box.FillColor = sky
		box.GlyphStyle.Radius = 1.5
		p.Add(box)
	}
	p.NominalY(names...)
	p.Y.Min, p.Y.Max = -0.7, float64(len(names))-0.3
	p.X.Tick.Marker = plot.TickerFunc(ratioTicks)
	return p
}

// ratioTicks marks 1, 2 and 5 times powers of ten on an axis of logarithms.
func ratioTicks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for e := math.Floor(low); e <= high; e++ {
		marks := []float64{1, 1.5, 2, 3, 5}
		if high-low > 1.5 {
			marks = marks[:1]
		}
		for _, m := range marks {
			v := m * math.Pow10(int(e))
			if l := math.Log10(v); l >= low-1e-9 && l <= high {
				ticks = append(ticks, plot.Tick{Value: l, Label: strconv.FormatFloat(v, 'g', 3, 64)})
			}
		}
	}
	return ticks
}

// drawDigitStudy shows digits that were learned from and what every model makes
// of them.
func drawDigitStudy(study *experiments.DigitStudy) image.Image {
	rows := []digitRow{{"Original", study.Learned.X.X}}
	for _, m := range study.Models {
		rows = append(rows, digitRow{m.Name, m.Reconstruction})
	}
	return drawDigitRows("Handwritten digits and their reconstructions from 2 latent coordinates", firstOfKinds(study.Learned.Labels), rows)
}

// Lengths of a latent grid, in pixels.
const (
	gridTiles = 20
	gridSide  = 2 * demoSide
	gridGap   = 4
)

// drawLatentGrids shows what each model makes of a grid in its latent plane.
func drawLatentGrids(ctx context.Context, study *experiments.DigitStudy) ([]experimentPicture, error) {
	var pictures []experimentPicture
	for _, m := range study.Models {
		img, err := drawLatentGrid(ctx, m)
		if err != nil {
			return nil, err
		}
		kind := "-quadratic"
		if m.Model.Meta.Linear {
			kind = "-linear"
		}
		pictures = append(pictures, experimentPicture{kind, img})
	}
	return pictures, nil
}

// drawLatentGrid leaves out what is outside of the convex hull of the codes.
func drawLatentGrid(ctx context.Context, m *experiments.DigitModel) (image.Image, error) {
	codes := make([][2]float64, len(m.Model.Tau)/2)
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for i := range codes {
		for j := range 2 {
			v := m.Model.Tau[2*i+j]
			codes[i][j] = v
			low[j], high[j] = min(low[j], v), max(high[j], v)
		}
	}
	hull := convexHull(codes)
	sheet := newSheet(margin + titleRoom + gridTiles*(gridSide+gridGap) + margin)
	sheet.write(margin, margin+20, 22, "Latent plane, "+m.Name+", as far as the codes reach")
	for row := range gridTiles {
		for column := range gridTiles {
			tau := []float64{
				low[0] + (high[0]-low[0])*(float64(column)+0.5)/gridTiles,
				high[1] - (high[1]-low[1])*(float64(row)+0.5)/gridTiles,
			}
			if !inHull(hull, [2]float64(tau)) {
				continue
			}
			pixels, err := m.Model.Reconstruct(ctx, tau, 1)
			if err != nil {
				return nil, err
			}
			left, top := margin+column*(gridSide+gridGap), margin+titleRoom+row*(gridSide+gridGap)
			tile := inkOf(pixels, color.Black)
			draw.NearestNeighbor.Scale(sheet.Image(), image.Rect(left, top, left+gridSide, top+gridSide), tile, tile.Bounds(), draw.Over, nil)
		}
	}
	return sheet.Image(), nil
}

// convexHull returns the corners of the hull, anticlockwise, by Andrew's monotone
// chain.
func convexHull(points [][2]float64) [][2]float64 {
	points = slices.Clone(points)
	slices.SortFunc(points, func(a, b [2]float64) int { return slices.Compare(a[:], b[:]) })
	var hull [][2]float64
	for range 2 {
		begin := len(hull)
		for _, p := range points {
			for len(hull) >= begin+2 && turn(hull[len(hull)-2], hull[len(hull)-1], p) <= 0 {
				hull = hull[:len(hull)-1]
			}
			hull = append(hull, p)
		}
		hull = hull[:len(hull)-1]
		slices.Reverse(points)
	}
	return hull
}

// turn is positive where the way from a by b to c turns left.
func turn(a, b, c [2]float64) float64 {
	return (b[0]-a[0])*(c[1]-a[1]) - (b[1]-a[1])*(c[0]-a[0])
}

func inHull(hull [][2]float64, p [2]float64) bool {
	for i := range hull {
		if turn(hull[i], hull[(i+1)%len(hull)], p) < 0 {
			return false
		}
	}
	return true
}
