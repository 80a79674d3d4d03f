package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
)

// Colours that people of all kinds of sight tell apart (Okabe and Ito 2008).
var (
	blue   = color.NRGBA{0x00, 0x72, 0xB2, 0xFF}
	orange = color.NRGBA{0xD5, 0x5E, 0x00, 0xFF}
	green  = color.NRGBA{0x00, 0x9E, 0x73, 0xFF}
	purple = color.NRGBA{0xCC, 0x79, 0xA7, 0xFF}
	sky    = color.NRGBA{0x56, 0xB4, 0xE9, 0xFF}
)

var sans = font.Font{Typeface: "Liberation", Variant: "Sans"}

// Lengths of plots.
const (
	plotDPI    = 144
	plotWidth  = 8.5 * vg.Inch
	plotHeight = 6 * vg.Inch
	thumbnail  = vg.Length(20) // side of a digit in the latent plane
)

// newPlot returns a plot in the style of the demo.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.TextStyle.Font = font.From(sans, 14)
	p.X.Label.TextStyle.Font, p.Y.Label.TextStyle.Font = font.From(sans, 12), font.From(sans, 12)
	p.X.Tick.Label.Font, p.Y.Tick.Label.Font = font.From(sans, 10), font.From(sans, 10)
	p.Legend.TextStyle.Font = font.From(sans, 12)
	p.Title.Padding, p.Legend.Padding = 10, 3
	p.X.Padding, p.Y.Padding = 0, 0
	p.Legend.Top = true
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xE4}, color.Gray{0xE4}
	p.Add(grid)
	return p
}

// rendered draws p with a margin.
func rendered(p *plot.Plot) image.Image {
	canvas := vgimg.NewWith(vgimg.UseWH(plotWidth, plotHeight), vgimg.UseDPI(plotDPI))
	p.Draw(inner(canvas))
	return canvas.Image()
}

// drawPanels draws plots side by side, in rows of one length; nil leaves a gap.
func drawPanels(panels [][]*plot.Plot) image.Image {
	return drawPanelsOf(panels, panelWidth, panelHeight)
}

// drawPanelsOf draws panels of the given size.
func drawPanelsOf(panels [][]*plot.Plot, width, height vg.Length) image.Image {
	rows, columns := len(panels), len(panels[0])
	size := vgimg.UseWH(vg.Length(columns)*width, vg.Length(rows)*height)
	canvas := vgimg.NewWith(size, vgimg.UseDPI(plotDPI))
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: panelGap, PadY: panelGap}
	for i, line := range plot.Align(panels, tiles, inner(canvas)) {
		for j, c := range line {
			if panels[i][j] != nil {
				panels[i][j].Draw(c)
			}
		}
	}
	return canvas.Image()
}

func inner(c vg.CanvasSizer) draw.Canvas { return draw.Crop(draw.New(c), 14, -18, 12, -14) }

// writePicture writes a PNG file and says so.
func writePicture(stdout io.Writer, path string, img image.Image) error {
	err := dataset.WriteFileAtomic(path, func(w io.Writer) error { return png.Encode(w, img) })
	if err == nil {
		_, err = fmt.Fprintln(stdout, "wrote", path)
	}
	return err
}

// drawLatent shows the digits at their latent coordinates in the quadratic
// model.
func drawLatent(s *demoStudy) image.Image {
	p := newPlot("Latent plane of the quadratic model", "tau 1", "tau 2")
	cloud := &digitCloud{}
	for i, kind := range s.kinds {
		tau := s.quadratic.fit.Model.Tau[i*demoLatent:]
		cloud.at = append(cloud.at, plotter.XY{X: tau[0], Y: tau[1]})
		cloud.digits = append(cloud.digits, inkOf(s.learned.Row(i), colourOf(kind)))
		cloud.ink = append(cloud.ink, colourOf(kind))
	}
	p.Add(cloud)
	for _, kind := range demoKinds {
		p.Legend.Add(kind, dot{colourOf(kind)})
	}
	equalAxes(p, plotWidth, plotHeight)
	return rendered(p)
}

// equalAxes widens the range of the axes until, in a picture of the given size,
// a unit is as long on both, and nothing touches them.
func equalAxes(p *plot.Plot, width, height vg.Length) {
	area := p.DataCanvas(inner(vgimg.NewWith(vgimg.UseWH(width, height)))).Size()
	unit := 1.1 * max((p.X.Max-p.X.Min)/float64(area.X), (p.Y.Max-p.Y.Min)/float64(area.Y))
	widen := func(a *plot.Axis, length vg.Length) {
		middle, half := (a.Min+a.Max)/2, unit*float64(length)/2
		a.Min, a.Max = middle-half, middle+half
	}
	widen(&p.X, area.X)
	widen(&p.Y, area.Y)
}

func colourOf(kind string) color.Color {
	if kind == demoKinds[0] {
		return blue
	}
	return orange
}

// dot is a coloured spot.
type dot struct{ color.Color }

// Thumbnail draws the spot in a legend.
func (d dot) Thumbnail(c *draw.Canvas) { d.drawAt(c, c.Center(), 4) }

func (d dot) drawAt(c *draw.Canvas, at vg.Point, radius vg.Length) {
	c.DrawGlyph(draw.GlyphStyle{Color: d, Radius: radius, Shape: draw.CircleGlyph{}}, at)
}

// digitCloud plots images of digits.
type digitCloud struct {
	at     plotter.XYs
	digits []image.Image
	ink    []color.Color
}

// DataRange is the smallest box around the places.
func (d *digitCloud) DataRange() (xmin, xmax, ymin, ymax float64) { return plotter.XYRange(d.at) }

// Plot draws every digit at its place, as an image where there is room for one
// and else as a dot.
func (d *digitCloud) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := make([]vg.Point, len(d.at))
	for i, xy := range d.at {
		at[i] = vg.Point{X: x(xy.X), Y: y(xy.Y)}
	}
	for i := range at {
		if crowded(at, i) {
			dot{d.ink[i]}.drawAt(&c, at[i], 2.5)
			continue
		}
		half := vg.Point{X: thumbnail / 2, Y: thumbnail / 2}
		c.DrawImage(vg.Rectangle{Min: at[i].Sub(half), Max: at[i].Add(half)}, d.digits[i])
	}
}

// crowded reports whether an image of digit i would cover another digit. The
// corners of the images are empty.
func crowded(at []vg.Point, i int) bool {
	for j := range at {
		gap := at[i].Sub(at[j])
		if j != i && math.Hypot(float64(gap.X), float64(gap.Y)) < 0.7*float64(thumbnail) {
			return true
		}
	}
	return false
}

// drawConvergence shows how far the objective is above its final value after so
// much work. The axes are of logarithms, for gonum/plot 0.17 leaves a gap beside
// a logarithmic axis.
func drawConvergence(s *demoStudy) image.Image {
	p := newPlot("Convergence", "passes over the data", "objective above its final value, relative")
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(decades), plot.TickerFunc(decades)
	for _, curve := range []struct {
		*demoModel
		color.Color
	}{{s.linear, blue}, {s.quadratic, orange}} {
		run := curve.fit.Run
		passes := func(r framework.Record) float64 { return r.Passes }
		line := &plotter.Line{XYs: gapCurve(run.History, run.Cost, passes), LineStyle: draw.LineStyle{Color: curve.Color, Width: 2}}
		p.Add(line)
		p.Legend.Add(curve.name, line)
	}
	return rendered(p)
}

// gapCurve lists the logarithms of the work and of the relative distance from a
// cost, as far down as that is known.
func gapCurve(history []framework.Record, cost float64, work func(framework.Record) float64) plotter.XYs {
	var list plotter.XYs
	for _, r := range history {
		if gap := (r.Cost - cost) / math.Abs(cost); work(r) > 0 && gap > 1e-10 {
			list = append(list, plotter.XY{X: math.Log10(work(r)), Y: math.Log10(gap)})
		}
	}
	return list
}

// decades marks powers of ten on an axis of logarithms.
func decades(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for e := math.Ceil(low); e <= high; e++ {
		ticks = append(ticks, plot.Tick{Value: e, Label: fmt.Sprintf("%g", math.Pow10(int(e)))})
	}
	return ticks
}
