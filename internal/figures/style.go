// Package figures draws the results of package experiments: plots by gonum/plot, and rows
// of images. Only the command line program imports it, because the plotting library and
// its fonts are too large for a library.
package figures

import (
	"image"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Colours that people with any colour vision can distinguish (Okabe and Ito 2008).
var (
	blue   = color.NRGBA{0x00, 0x72, 0xB2, 0xFF}
	orange = color.NRGBA{0xD5, 0x5E, 0x00, 0xFF}
	sky    = color.NRGBA{0x56, 0xB4, 0xE9, 0xFF}
)

var sans = font.Font{Typeface: "Liberation", Variant: "Sans"}

// Lengths in plots.
const (
	plotDPI = 144

	panelColumns = 2
	panelWidth   = 5.5 * vg.Inch
	panelHeight  = 4 * vg.Inch
	panelGap     = vg.Length(18)
)

// newPlot returns a plot in the common style.
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

// drawPanels draws plots in a grid, one slice per row; nil leaves a cell empty.
func drawPanels(panels [][]*plot.Plot) image.Image {
	return drawPanelsOf(panels, panelWidth, panelHeight)
}

// drawPanelsOf draws plots in a grid of panels of the given size.
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

// equalAxes widens the ranges of the axes until both have the same scale in a picture of
// the given size, and no point is at the edge.
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
