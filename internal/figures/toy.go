package figures

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/scqm/scqm/internal/experiments"
)

// Figure is one of the figures of an experiment.
type Figure struct {
	// Suffix is appended to the name of the experiment to make the file name.
	Suffix string
	image.Image
}

// Toy draws a figure of every arc, with a panel for each kind of noise.
func Toy(cases []*experiments.ToyCase) []Figure {
	var pictures []Figure
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
		pictures = append(pictures, Figure{"-" + arc.File, drawPanels(panels)})
	}
	return pictures
}

// toyPanel draws points, their projections, the fitted models and the true arc.
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

// pairs converts coordinates x, y, x, y, ... to points.
func pairs(flat []float64) plotter.XYs {
	list := make(plotter.XYs, len(flat)/2)
	for i := range list {
		list[i] = plotter.XY{X: flat[2*i], Y: flat[2*i+1]}
	}
	return list
}
