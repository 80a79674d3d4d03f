package figures

import (
	"fmt"
	"image"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/scqm/scqm/internal/bench"
)

// curveColours are those of the solvers, in the order of the table.
var curveColours = []color.Color{blue, green, purple, orange, sky, color.Black}

// curveStyle is the line of the i-th solver: dashed where all colours are taken.
func curveStyle(i int) draw.LineStyle {
	style := draw.LineStyle{Color: curveColours[i%len(curveColours)], Width: 1.6}
	if i >= len(curveColours) {
		style.Dashes = []vg.Length{5, 3}
	}
	return style
}

// Gaps shows a panel for every case, with the relative gap against time.
func Gaps(cases []*bench.Comparison) image.Image {
	rows := (len(cases) + panelColumns - 1) / panelColumns
	columns := min(len(cases), panelColumns)
	panels := make([][]*plot.Plot, rows)
	for i := range panels {
		panels[i] = make([]*plot.Plot, columns)
	}
	for i, c := range cases {
		panels[i/panelColumns][i%panelColumns] = gapPanel(c)
	}
	return drawPanels(panels)
}

// gapPanel shows how far every solver is above the best cost, against time.
func gapPanel(c *bench.Comparison) *plot.Plot {
	p := newPlot(fmt.Sprintf("%s: loss %s, n = %d, D = %d", c.Regime, c.Loss, c.N, c.D), "seconds", "relative gap")
	p.Title.TextStyle.Font, p.Legend.TextStyle.Font = font.From(sans, 11), font.From(sans, 10)
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(decades), plot.TickerFunc(decades)
	p.Legend.Top, p.Legend.Left = false, true
	drawn := false
	for i, r := range c.Runs {
		if r.Note != "" { // it was left out
			continue
		}
		curve := gapCurve(r.History, c.Best)
		line := &plotter.Line{XYs: curve, LineStyle: curveStyle(i)}
		p.Legend.Add(r.Solver, line)
		if len(curve) > 0 {
			p.Add(line)
			drawn = true
		}
	}
	if !drawn { // axes need a range
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -3, 0, -10, 0
	}
	return p
}
