package figures

import (
	"image"
	"image/color"
	"slices"

	"golang.org/x/image/draw"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/scqm/scqm/internal/experiments"
)

// Lengths in a figure of digits, in pixels.
const (
	tileScale  = 3
	tileSide   = experiments.ImageSide * tileScale
	tileGap    = 4
	kindGap    = 28 // between fours and nines
	rowGap     = 40 // space for a caption
	margin     = 28
	titleRoom  = 40
	perKind    = 7
	kindWidth  = perKind*(tileSide+tileGap) - tileGap
	sheetWidth = 2*margin + 2*kindWidth + kindGap
)

// digitRow is a row of images of digits; pixels holds the images one after the other.
type digitRow struct {
	caption string
	pixels  []float64
}

// drawDigitRows draws the images with the indices shown, from every row. The first half of
// shown is of one digit, the second half of another.
func drawDigitRows(title string, shown []int, rows []digitRow) image.Image {
	sheet := newSheet(margin + titleRoom + len(rows)*(rowGap+tileSide) + margin)
	sheet.write(margin, margin+20, 22, title)
	top := margin + titleRoom
	for _, row := range rows {
		top += rowGap
		sheet.write(margin, top-8, 16, row.caption)
		for column, i := range shown {
			sheet.tile(column, top, row.pixels[i*experiments.ImageSide*experiments.ImageSide:(i+1)*experiments.ImageSide*experiments.ImageSide])
		}
		top += tileSide
	}
	return sheet.Image()
}

// sheet is a canvas measured in pixels from the top left corner.
type sheet struct {
	*vgimg.Canvas
	height int
}

func newSheet(height int) sheet {
	return sheet{vgimg.NewWith(vgimg.UseWH(sheetWidth, vg.Length(height)), vgimg.UseDPI(72)), height}
}

// write draws text from x to the right, with its lower edge at y.
func (s sheet) write(x, y int, size vg.Length, text string) {
	style := vgdraw.TextStyle{
		Color: color.Black, Font: font.From(sans, size), Handler: plot.DefaultTextHandler,
		XAlign: vgdraw.XLeft, YAlign: vgdraw.YBottom,
	}
	c := vgdraw.New(s)
	c.FillText(style, vg.Point{X: vg.Length(x), Y: vg.Length(s.height - y)}, text)
}

// tile draws an enlarged image of a digit.
func (s sheet) tile(column, top int, pixels []float64) {
	left := margin + column*(tileSide+tileGap)
	if column >= perKind {
		left += kindGap - tileGap
	}
	digit := inkOf(pixels, color.Black)
	draw.NearestNeighbor.Scale(s.Image(), image.Rect(left, top, left+tileSide, top+tileSide), digit, digit.Bounds(), draw.Over, nil)
}

// firstOfKinds returns the indices of the first few rows of each kind, which the figure shows.
func firstOfKinds(kinds []string) []int {
	var list []int
	for _, kind := range slices.Compact(slices.Clone(kinds)) {
		left := perKind
		for i, k := range kinds {
			if k == kind && left > 0 {
				list = append(list, i)
				left--
			}
		}
	}
	return list
}

// inkOf returns an image in one colour. The opacity of each pixel is its intensity, in [0, 1].
func inkOf(pixels []float64, ink color.Color) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, experiments.ImageSide, experiments.ImageSide))
	c := color.NRGBAModel.Convert(ink).(color.NRGBA)
	for k, v := range pixels {
		c.A = uint8(255*min(max(v, 0), 1) + 0.5)
		img.SetNRGBA(k%experiments.ImageSide, k/experiments.ImageSide, c)
	}
	return img
}
