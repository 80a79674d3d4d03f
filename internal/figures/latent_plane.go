package figures

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/scqm/scqm/internal/demo"
)

// thumbnail is the side of a digit in the latent plane.
const thumbnail = vg.Length(20)

// LatentPlane shows the digits at their latent coordinates in the quadratic
// model.
func LatentPlane(s *demo.Study) image.Image {
	p := newPlot("Latent plane of the quadratic model", "tau 1", "tau 2")
	cloud := &digitCloud{}
	for i, kind := range s.Kinds {
		tau := s.Quadratic.Fit.Model.Tau[i*demo.Latent:]
		cloud.at = append(cloud.at, plotter.XY{X: tau[0], Y: tau[1]})
		cloud.digits = append(cloud.digits, inkOf(s.Learned.Row(i), colourOf(kind)))
		cloud.ink = append(cloud.ink, colourOf(kind))
	}
	p.Add(cloud)
	for _, kind := range demo.Kinds {
		p.Legend.Add(kind, dot{colourOf(kind)})
	}
	equalAxes(p, plotWidth, plotHeight)
	return rendered(p)
}

func colourOf(kind string) color.Color {
	if kind == demo.Kinds[0] {
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
