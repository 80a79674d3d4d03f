package denoise

import (
	"context"
	"fmt"
	"slices"

	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/rows"
)

// Rows with missing entries have no place to look for a surface at. Where Missing allows them, they are
// nobody's neighbours, and come back as they came, flagged Unchanged.

// completeRows lists the rows whose entries are all finite. It returns nil if all are, or if not x.Missing.
func completeRows(x rows.Data) []int {
	finite := func(i int) bool {
		return !slices.ContainsFunc(x.Row(i), func(v float64) bool { return v-v != 0 })
	}
	if !x.Missing || len(x.X) != x.N*x.D {
		return nil
	}
	list := make([]int, 0, x.N)
	for i := range x.N {
		if finite(i) {
			list = append(list, i)
		}
	}
	if len(list) == x.N {
		return nil
	}
	return list
}

// onlyComplete returns the rows without missing entries, to which a method can be fitted.
func onlyComplete(x rows.Data) (rows.Data, error) {
	list := completeRows(x)
	if x.Missing = false; list == nil {
		return x, nil
	}
	if len(list) == 0 {
		return x, fmt.Errorf("denoise: all %d rows have missing entries; fill some of them in: %w", x.N, ErrInput)
	}
	return x.Select(list), nil
}

// denoiseComplete denoises the rows without missing entries, and leaves the others as they are.
func (d *Denoiser) denoiseComplete(ctx context.Context, x rows.Data, list []int, o Options) (*Result, error) {
	out := core.NewResult(x)
	if len(list) == 0 {
		return out, nil
	}
	some := x.Select(list)
	some.Missing = false
	r, err := d.Denoise(ctx, some, o)
	if r == nil {
		return nil, err
	}
	for k, i := range list {
		out.Rows[i] = r.Rows[k]
		copy(out.X[i*x.D:(i+1)*x.D], r.X[k*x.D:(k+1)*x.D])
	}
	out.ShareError, out.ShareMoved, out.Surface = r.ShareError, r.ShareMoved, r
	return out, err
}

// describeComplete describes the surface at the rows without missing entries.
func (d *Denoiser) describeComplete(ctx context.Context, x rows.Data, list []int, r *Result, side Orientation, o Options) (*Geometry, error) {
	out := d.newGeometry(x)
	part, ok := r.Surface.(*Result)
	if !ok || len(list) == 0 {
		return out, nil
	}
	some := x.Select(list)
	some.Missing = false
	if side.Like != nil {
		side.Like = rows.Data{N: x.N, D: x.D, X: side.Like}.Select(list).X
	}
	g, err := d.Geometry(ctx, some, part, side, o)
	if err != nil {
		return nil, err
	}
	for _, of := range []struct{ to, from []float64 }{
		{out.Normals, g.Normals}, {out.Principal, g.Principal}, {out.Curvature, g.Curvature}, {out.Error, g.Error}, {out.Score, g.Score},
	} {
		columns := len(of.from) / len(list) // none of normals where d < D-1
		for k, i := range list {
			copy(of.to[i*columns:], of.from[k*columns:(k+1)*columns])
		}
	}
	return out, nil
}
