package figures

import (
	"fmt"
	"image"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/scqm/scqm/internal/experiments"
)

// Lengths of the panels of the errors on the sphere.
const (
	methodLine  = vg.Length(13)
	methodRoom  = vg.Length(80) // for the title and the axis
	boxWidth    = vg.Length(7)
	oracleIndex = 1
	// minPointError is the lower end of the logarithmic axis of point errors, which can be 0.
	minPointError = 1e-3
)

// SphereErrors draws box plots, over repetitions, of the errors of all methods divided by
// those of the oracle. There is a panel for each noise level.
func SphereErrors(study *experiments.SphereStudy) image.Image {
	return drawSpherePanels(study, "mean squared error, in units of the oracle's", func(m, k int) plotter.Values {
		var ratios plotter.Values
		for rep, e := range study.Errors[m][k] {
			ratios = append(ratios, math.Log10(e/study.Errors[oracleIndex][k][rep]))
		}
		return ratios
	})
}

// SpherePoints draws box plots of the errors of all points in the first repetition, like
// the figure of the paper.
func SpherePoints(study *experiments.SphereStudy) image.Image {
	return drawSpherePanels(study, "squared error of a point, in units of the noise variance", func(m, k int) plotter.Values {
		var ratios plotter.Values
		for _, e := range study.Rows[m][k] {
			ratios = append(ratios, math.Log10(max(e/study.Sigmas[k]/study.Sigmas[k], minPointError)))
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

// ratioTicks returns ticks at 1, 2 and 5 times powers of ten, for a logarithmic axis.
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
