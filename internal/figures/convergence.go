package figures

import (
	"image"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/demo"
)

// Convergence shows how far the objective is above its final value after so
// much work. The axes are of logarithms, for gonum/plot 0.17 leaves a gap beside
// a logarithmic axis.
func Convergence(s *demo.Study) image.Image {
	p := newPlot("Convergence", "passes over the data", "objective above its final value, relative")
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(decades), plot.TickerFunc(decades)
	for _, curve := range []struct {
		*demo.Model
		color.Color
	}{{s.Linear, blue}, {s.Quadratic, orange}} {
		run := curve.Fit.Run
		passes := func(r framework.Record) float64 { return r.Passes }
		line := &plotter.Line{XYs: gapCurve(run.History, run.Cost, passes), LineStyle: draw.LineStyle{Color: curve.Color, Width: 2}}
		p.Add(line)
		p.Legend.Add(curve.Name, line)
	}
	return rendered(p)
}
