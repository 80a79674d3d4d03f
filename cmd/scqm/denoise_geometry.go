package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/denoise"
)

// geometryFlags are the flags of scqm denoise that concern the geometry of the surface at the rows.
type geometryFlags struct {
	normals, curvature bool
	drop, viewpoint    string
}

// tukeyLimit is the value of --drop-outliers if the flag is given without a number.
const tukeyLimit = "tukey"

func (g *geometryFlags) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&g.normals, "normals", false, "write the unit normal of the surface at each row, where d = D-1")
	flags.Var(cli.Parsed(&g.viewpoint, "X,Y,...", coordinates), "viewpoint", "place that normals point to, such as that of the scanner (default as a point cloud has them, else outwards)")
	flags.BoolVar(&g.curvature, "curvature", false, "write the curvature of the surface at each row")
	flags.Var(cli.Parsed(&g.drop, "SCORE", positiveOrTukey), "drop-outliers", "leave out rows further from the surface than so many standard deviations of the noise (alone: than Tukey's loss counts, 4.7 where d = D-1)")
	flags.Lookup("drop-outliers").NoOptDefVal = tukeyLimit
}

func coordinates(s string) (string, error) {
	for _, v := range strings.Split(s, ",") {
		if x, err := strconv.ParseFloat(v, 64); err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return "", fmt.Errorf("want numbers separated by commas")
		}
	}
	return s, nil
}

func positiveOrTukey(s string) (string, error) {
	if x, err := strconv.ParseFloat(s, 64); s != tukeyLimit && (err != nil || !(x > 0) || math.IsInf(x, 0)) {
		return "", fmt.Errorf("want a number above 0")
	}
	return s, nil
}

func (g *geometryFlags) dropping() bool { return g.drop != "" }

// surface is the geometry of the surface at the rows, and the outlier score above which a row is an outlier.
type surface struct {
	*denoise.Geometry
	limit float64
	stale bool // the normals computed here replace those of the file
}

// stale reports whether the input point cloud has normals that the output would contain too.
func (f *denoiseFlags) stale(y table) bool {
	return y.cloud != nil && f.latent == y.Cols-1 && y.cloud.SameFormat(f.output) && y.cloud.Normals() != nil
}

// describes reports whether any output that the flags ask for needs the geometry of the surface.
func (f *denoiseFlags) describes(y table) bool {
	g := f.geometry
	return g.normals || g.curvature || g.dropping() || f.report || f.stale(y)
}

// describe computes the geometry of the surface if an output that the flags ask for
// needs it. Otherwise it returns nil.
func (f *denoiseFlags) describe(cmd *cobra.Command, d *denoise.Denoiser, y table, r *denoise.Result) (*surface, error) {
	g := f.geometry
	s := &surface{limit: d.OutlierScore()}
	var side denoise.Orientation
	if g.viewpoint != "" {
		for _, v := range strings.Split(g.viewpoint, ",") {
			x, _ := strconv.ParseFloat(v, 64)
			side.Viewpoint = append(side.Viewpoint, x)
		}
	} else if y.cloud != nil && f.latent == y.Cols-1 {
		side.Like = y.cloud.Normals()
	}
	s.stale = f.stale(y)
	if g.normals && f.latent != y.Cols-1 {
		return nil, cli.Usagef("--normals: a surface of dimension %d has no normal vector in rows of %d columns; want -d %d", f.latent, y.Cols, y.Cols-1)
	}
	if g.viewpoint != "" && len(side.Viewpoint) != y.Cols {
		return nil, cli.Usagef("--viewpoint: %d numbers, the rows have %d columns", len(side.Viewpoint), y.Cols)
	}
	if !f.describes(y) {
		return nil, nil
	}
	if g.drop != "" && g.drop != tukeyLimit {
		s.limit, _ = strconv.ParseFloat(g.drop, 64)
	}
	var err error
	if s.Geometry, err = d.Geometry(cmd.Context(), y.data(), r, side, denoise.Options{Threads: f.threads}); err != nil {
		return nil, err
	}
	s.keepNormals(side.Like, y.Cols)
	return s, nil
}

// keepNormals copies the normal of the input to each row at which no surface was found.
func (s *surface) keepNormals(given []float64, D int) {
	if given == nil {
		return
	}
	for i := 0; i < len(given); i += D {
		zero := true
		for _, v := range s.Normals[i : i+D] {
			zero = zero && v == 0
		}
		if zero {
			copy(s.Normals[i:i+D], given[i:i+D])
		}
	}
}

// kept returns the indices of the rows that are not dropped.
func (g *geometryFlags) kept(r *denoise.Result, s *surface) []int {
	list := make([]int, 0, len(r.Rows))
	for i := range r.Rows {
		if !g.dropping() || s.Score[i] <= s.limit {
			list = append(list, i)
		}
	}
	return list
}

// columns returns the additional columns to write to the right of the rows, or nil if there are none.
func (f *denoiseFlags) columns(y table, r *denoise.Result, s *surface) (*dataset.Matrix, error) {
	names := f.columnNames(y.Cols, s)
	if names == nil {
		return nil, nil
	}
	m, err := cli.NewTable(len(r.Rows), names...)
	if err != nil {
		return nil, err
	}
	d := f.latent
	for i, row := range r.Rows {
		if f.report {
			m.Data = append(m.Data, row.Residual, row.Noise, float64(row.Neighbors), row.Ridge, cli.ZeroOrOne(row.Extrapolated), cli.ZeroOrOne(row.Unchanged), s.Error[i], s.Score[i])
		}
		if f.geometry.normals || s != nil && s.stale {
			m.Data = append(m.Data, s.Normals[i*y.Cols:(i+1)*y.Cols]...)
		}
		if f.geometry.curvature {
			m.Data = append(m.Data, s.Curvature[i])
			if s.Principal != nil {
				m.Data = append(m.Data, s.Principal[i*d:(i+1)*d]...)
			}
		}
	}
	return m, nil
}

func (f *denoiseFlags) columnNames(D int, s *surface) []string {
	var names []string
	if f.report {
		names = append(names, "residual", "noise", "neighbors", "ridge", "extrapolated", "unchanged", "error", "outlier_score")
	}
	switch {
	case !f.geometry.normals && (s == nil || !s.stale):
	case D == 3:
		names = append(names, "nx", "ny", "nz")
	default:
		for j := range D {
			names = append(names, "n"+strconv.Itoa(j+1))
		}
	}
	if f.geometry.curvature {
		names = append(names, "curvature")
		for a := 0; s.Principal != nil && a < f.latent; a++ {
			names = append(names, "curvature_"+strconv.Itoa(a+1))
		}
	}
	return names
}
