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

// Lengths of a sheet of digits, in pixels.
const (
	tileScale  = 3
	tileSide   = experiments.ImageSide * tileScale
	tileGap    = 4
	kindGap    = 28 // between fours and nines
	rowGap     = 40 // room for a caption
	margin     = 28
	titleRoom  = 40
	perKind    = 7
	kindWidth  = perKind*(tileSide+tileGap) - tileGap
	sheetWidth = 2*margin + 2*kindWidth + kindGap
)

// digitRow is a line of digits; its images lie one after the other in pixels.
type digitRow struct {
	caption string
	pixels  []float64
}

// drawDigitRows draws, from every row, the images whose numbers are in shown:
// perKind of one kind, then perKind of another.
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

// sheet is a canvas whose unit is the pixel, counted from the top left corner.
type sheet struct {
	*vgimg.Canvas
	height int
}

func newSheet(height int) sheet {
	return sheet{vgimg.NewWith(vgimg.UseWH(sheetWidth, vg.Length(height)), vgimg.UseDPI(72)), height}
}

// write puts text to the right of x, its lower edge at y.
func (s sheet) write(x, y int, size vg.Length, text string) {
	style := vgdraw.TextStyle{
		Color: color.Black, Font: font.From(sans, size), Handler: plot.DefaultTextHandler,
		XAlign: vgdraw.XLeft, YAlign: vgdraw.YBottom,
	}
	c := vgdraw.New(s)
	c.FillText(style, vg.Point{X: vg.Length(x), Y: vg.Length(s.height - y)}, text)
}

// tile draws a digit, enlarged.
func (s sheet) tile(column, top int, pixels []float64) {
	left := margin + column*(tileSide+tileGap)
	if column >= perKind {
		left += kindGap - tileGap
	}
	digit := inkOf(pixels, color.Black)
	draw.NearestNeighbor.Scale(s.Image(), image.Rect(left, top, left+tileSide, top+tileSide), digit, digit.Bounds(), draw.Over, nil)
}

// firstOfKinds lists the rows in the picture, the first few of each kind.
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

// inkOf returns an image in one colour whose opacity at each pixel is the intensity, in [0, 1].
func inkOf(pixels []float64, ink color.Color) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, experiments.ImageSide, experiments.ImageSide))
	c := color.NRGBAModel.Convert(ink).(color.NRGBA)
	for k, v := range pixels {
		c.A = uint8(255*min(max(v, 0), 1) + 0.5)
		img.SetNRGBA(k%experiments.ImageSide, k/experiments.ImageSide, c)
	}
	return img
}
