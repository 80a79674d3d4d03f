package figures

import (
	"context"
	"image"
	"image/color"
	"math"

	"golang.org/x/image/draw"

	"github.com/scqm/scqm/internal/experiments"
)

// Lengths of a latent grid, in pixels.
const (
	gridTiles = 20
	gridSide  = 2 * experiments.ImageSide
	gridGap   = 4
)

// LatentGrids shows what each model makes of a grid in its latent plane.
func LatentGrids(ctx context.Context, study *experiments.DigitStudy) ([]Figure, error) {
	var pictures []Figure
	for _, m := range study.Models {
		img, err := drawLatentGrid(ctx, m)
		if err != nil {
			return nil, err
		}
		kind := "-quadratic"
		if m.Model.Meta.Linear {
			kind = "-linear"
		}
		pictures = append(pictures, Figure{kind, img})
	}
	return pictures, nil
}

// drawLatentGrid leaves out what is outside of the convex hull of the codes.
func drawLatentGrid(ctx context.Context, m *experiments.DigitModel) (image.Image, error) {
	codes := make([][2]float64, len(m.Model.Tau)/2)
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for i := range codes {
		for j := range 2 {
			v := m.Model.Tau[2*i+j]
			codes[i][j] = v
			low[j], high[j] = min(low[j], v), max(high[j], v)
		}
	}
	hull := convexHull(codes)
	sheet := newSheet(margin + titleRoom + gridTiles*(gridSide+gridGap) + margin)
	sheet.write(margin, margin+20, 22, "Latent plane, "+m.Name+", as far as the codes reach")
	for row := range gridTiles {
		for column := range gridTiles {
			tau := []float64{
				low[0] + (high[0]-low[0])*(float64(column)+0.5)/gridTiles,
				high[1] - (high[1]-low[1])*(float64(row)+0.5)/gridTiles,
			}
			if !inHull(hull, [2]float64(tau)) {
				continue
			}
			pixels, err := m.Model.Reconstruct(ctx, tau, 1)
			if err != nil {
				return nil, err
			}
			left, top := margin+column*(gridSide+gridGap), margin+titleRoom+row*(gridSide+gridGap)
			tile := inkOf(pixels, color.Black)
			draw.NearestNeighbor.Scale(sheet.Image(), image.Rect(left, top, left+gridSide, top+gridSide), tile, tile.Bounds(), draw.Over, nil)
		}
	}
	return sheet.Image(), nil
}
