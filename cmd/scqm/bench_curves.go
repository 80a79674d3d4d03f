package main

import (
	csvfile "encoding/csv"
	"fmt"
	"image"
	"image/color"
	"io"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
)

// Lengths of the pictures of a comparison.
const (
	panelColumns = 2
	panelWidth   = 5.5 * vg.Inch
	panelHeight  = 4 * vg.Inch
	panelGap     = vg.Length(18)
)

// curveColours are those of the solvers, in the order of the table.
var curveColours = []color.Color{blue, green, purple, orange, sky, color.Black}

// curvesName names the file of a regime.
func curvesName(regime, ending string) string { return "bench-" + regime + ending }

// writeCurves writes the picture and the table of a regime.
func writeCurves(stdout io.Writer, dir string, r regime, cases []*caseReport) error {
	if err := writePicture(stdout, filepath.Join(dir, curvesName(r.name, ".png")), drawGaps(cases)); err != nil {
		return err
	}
	path := filepath.Join(dir, curvesName(r.name, ".csv"))
	err := dataset.WriteFileAtomic(path, func(w io.Writer) error { return writeHistories(w, cases) })
	if err == nil {
		_, err = fmt.Fprintln(stdout, "wrote", path)
	}
	return err
}

// drawGaps shows a panel for every case, with the relative gap against time. Of
// several sets of rows it shows the first.
func drawGaps(cases []*caseReport) image.Image {
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
func gapPanel(c *caseReport) *plot.Plot {
	p := newPlot(fmt.Sprintf("%s: loss %s, n = %d, D = %d", c.Regime, c.Loss, c.N, c.D), "seconds", "relative gap")
	p.Title.TextStyle.Font, p.Legend.TextStyle.Font = font.From(sans, 11), font.From(sans, 10)
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(decades), plot.TickerFunc(decades)
	seconds := func(r framework.Record) float64 { return r.Elapsed.Seconds() }
	p.Legend.Top, p.Legend.Left = false, true
	drawn := false
	for i, r := range c.Runs {
		if r.outcomes == nil {
			continue
		}
		curve := gapCurve(r.outcomes[0].history, c.best[0], seconds)
		line := &plotter.Line{XYs: curve, LineStyle: draw.LineStyle{Color: curveColours[i%len(curveColours)], Width: 1.6}}
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

// writeHistories writes a line for every iteration of every run.
func writeHistories(w io.Writer, cases []*caseReport) error {
	t := csvfile.NewWriter(w)
	lines := [][]string{{"regime", "loss", "n", "D", "set", "solver", "iteration", "passes", "seconds", "cost", "gap"}}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, c := range cases {
		for _, r := range c.Runs {
			for k, o := range r.outcomes {
				for _, h := range o.history {
					lines = append(lines, []string{
						c.Regime, c.Loss, strconv.Itoa(c.N), strconv.Itoa(c.D), strconv.Itoa(k), r.Solver, strconv.Itoa(h.Iteration),
						number(h.Passes), number(h.Elapsed.Seconds()), number(h.Cost), number(relativeGap(h.Cost, c.best[k])),
					})
				}
			}
		}
	}
	return t.WriteAll(lines)
}
