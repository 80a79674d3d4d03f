package main

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/dataset"
)

// orange is the colour of the slice.
var orange = color.NRGBA{0xD5, 0x5E, 0x00, 0xFF}

// TestTorusPicture draws the picture of the guide to denoising with -update: 20,000 points
// of a noisy torus before and after scqm denoise, seen from aside and cut open.
func TestTorusPicture(t *testing.T) {
	if !*update {
		t.Skip("draws a picture with -update only")
	}
	p := newPlace(t)
	noisy := torus(20000, 0.05)
	t.Log(succeed(t, "denoise", p.matrix("noisy.npy", noisy), "-o", p.path("clean.npy")))
	clean := p.read("clean.npy")
	t.Logf("root mean square distance from the torus: %.4f before, %.4f after", offTorus(noisy), offTorus(clean))
	const side = 460
	picture := image.NewNRGBA(image.Rect(0, 0, 2*side, side+side/2))
	for i := range picture.Pix {
		picture.Pix[i] = 0xFF
	}
	for k, m := range []*dataset.Matrix{noisy, clean} {
		drawCloud(picture.SubImage(image.Rect(k*side, 0, (k+1)*side, side)).(*image.NRGBA), m)
		drawCut(picture.SubImage(image.Rect(k*side, side, (k+1)*side, side+side/2)).(*image.NRGBA), m)
	}
	f, err := os.Create("../../docs/images/torus.png")
	require.NoError(t, err)
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, quantised(picture)))
	require.NoError(t, f.Close())
}

// drawCloud draws all points from aside, the near ones last and darker.
func drawCloud(at *image.NRGBA, m *dataset.Matrix) {
	order := make([]int, m.Rows)
	for i := range order {
		order[i] = i
	}
	sin, cos := math.Sincos(0.95)
	depth := func(i int) float64 { x := m.Row(i); return x[1]*sin - x[2]*cos }
	slices.SortFunc(order, func(a, b int) int {
		if depth(a) > depth(b) {
			return -1
		}
		return 1
	})
	unit := float64(at.Bounds().Dx()) / 3.4
	for _, i := range order {
		x := m.Row(i)
		grey := uint8(60 + 130*math.Min(math.Max((depth(i)+1.4)/2.8, 0), 1))
		point(at, x[0]*unit, -(x[1]*cos+x[2]*sin)*unit, color.NRGBA{grey / 3, grey, min(grey, 185) + 60, 0xFF})
	}
}

// drawCut draws the points of a thin slice through the axis.
func drawCut(at *image.NRGBA, m *dataset.Matrix) {
	unit := float64(at.Bounds().Dx()) / 3.4
	for i := range m.Rows {
		if x := m.Row(i); math.Abs(x[1]) < 0.08 {
			point(at, x[0]*unit, -x[2]*unit, orange)
		}
	}
}

// point draws a dot of 2 x 2 pixels, from the middle of the image.
func point(at *image.NRGBA, x, y float64, c color.NRGBA) {
	b := at.Bounds()
	px, py := b.Min.X+b.Dx()/2+int(math.Round(x)), b.Min.Y+b.Dy()/2+int(math.Round(y))
	for _, d := range [][2]int{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
		if q := image.Pt(px+d[0], py+d[1]); q.In(b) {
			at.SetNRGBA(q.X, q.Y, c)
		}
	}
}

// quantised reduces a picture of few colours to a palette.
func quantised(m *image.NRGBA) *image.Paletted {
	palette := color.Palette{color.White, orange}
	for grey := 60; grey <= 190; grey++ {
		g := uint8(grey)
		palette = append(palette, color.NRGBA{g / 3, g, min(g, 185) + 60, 0xFF})
	}
	out := image.NewPaletted(m.Bounds(), palette)
	for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y++ {
		for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x++ {
			out.Set(x, y, m.At(x, y))
		}
	}
	return out
}
