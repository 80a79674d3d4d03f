package denoise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// Orientation decides to which side normals point. By default neighbouring normals are made consistent along the
// minimum spanning tree of the fitted rows, in which an edge costs more the more the normals differ. In each
// connected part the normal of the row furthest from the mean points outwards. Rows that were not fitted take the
// side of the nearest fitted row.
//
// Source: H. Hoppe, T. DeRose, T. Duchamp, J. McDonald, W. Stuetzle, Surface
// reconstruction from unorganized points, SIGGRAPH 1992.
type Orientation struct {
	// Like, n x D, has a vector for each normal to agree with, for example an earlier normal. A zero vector leaves
	// the side of the row to the default rule.
	Like []float64
	// Viewpoint, D, is a point that normals point to, for example the position of the scanner.
	Viewpoint []float64
}

// orientNeighbors is the number of nearest rows whose normals are compared.
const orientNeighbors = 10

func (s Orientation) check(x rows.Data, latent int) error {
	switch {
	case s.Like != nil && s.Viewpoint != nil:
		return fmt.Errorf("denoise: normals agree with others or point to a viewpoint, not both: %w", ErrInput)
	case (s.Like != nil || s.Viewpoint != nil) && latent != x.D-1:
		return fmt.Errorf("denoise: a surface of dimension %d in rows of length %d has no normals to orient: %w", latent, x.D, ErrInput)
	case s.Like != nil && len(s.Like) != x.N*x.D:
		return fmt.Errorf("denoise: %d numbers are no normals of %d rows of length %d: %w", len(s.Like), x.N, x.D, ErrInput)
	case s.Viewpoint != nil && len(s.Viewpoint) != x.D:
		return fmt.Errorf("denoise: a viewpoint of %d numbers does not fit rows of length %d: %w", len(s.Viewpoint), x.D, ErrInput)
	}
	for _, v := range slices.Concat(s.Like, s.Viewpoint) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("denoise: orientation by %v, want finite numbers: %w", v, ErrInput)
		}
	}
	return nil
}

// orient flips the normals of g that do not point to the side that Orientation defines.
func (d *Denoiser) orient(ctx context.Context, g *Geometry, r *Result, side Orientation, o Options) error {
	D := d.prepared.Cloud.D
	var open []int // rows whose side is left to consistency
	toward := make([]float64, D)
	for i := range r.Rows {
		switch {
		case side.Viewpoint != nil:
			floats.SubTo(toward, side.Viewpoint, r.X[i*D:(i+1)*D])
		case side.Like != nil:
			copy(toward, side.Like[i*D:(i+1)*D])
		}
		along := dense.Dot(toward, g.Normals[i*D:(i+1)*D])
		if along < 0 {
			g.flip(i, D)
		}
		if along == 0 && side.Viewpoint == nil {
			open = append(open, i)
		}
	}
	if open == nil {
		return nil
	}
	sides, err := d.sides(ctx, o)
	if err != nil {
		return err
	}
	var s lookup.Search
	for _, i := range open {
		for j := range toward {
			toward[j] = r.X[i*D+j] / d.unit
		}
		nearest := s.Find(sides.index, toward, 1)[0].Row
		if dense.Dot(sides.normals[nearest*D:(nearest+1)*D], g.Normals[i*D:(i+1)*D]) < 0 {
			g.flip(i, D)
		}
	}
	return nil
}

// flip reverses the normal of row i, and the signs of its curvatures.
func (g *Geometry) flip(i, D int) {
	floats.Scale(-1, g.Normals[i*D:(i+1)*D])
	principal := g.Principal[i*(D-1) : i*(D-1)+D-1]
	floats.Scale(-1, principal)
	slices.Reverse(principal)
	g.Curvature[i] = -g.Curvature[i]
}

// orientedPlaces holds denoised rows of the cloud with consistent normals.
type orientedPlaces struct {
	normals []float64
	index   lookup.Index
}

// sides returns the fitted rows, denoised, with consistent normals. They are computed once.
func (d *Denoiser) sides(ctx context.Context, o Options) (*orientedPlaces, error) {
	d.orienting.Lock()
	defer d.orienting.Unlock()
	if d.oriented != nil {
		return d.oriented, nil
	}
	if d.cells != nil {
		p, err := d.cells.sides(ctx, Options{Threads: o.Threads})
		d.oriented = p
		return p, err
	}
	x := d.prepared.Cloud.Data
	x.Weights = nil
	o = Options{Threads: o.Threads}
	r, err := d.denoise(ctx, x, o)
	if err != nil {
		return nil, err
	}
	g, err := d.describeCharts(ctx, x, r, 1, o)
	if err != nil {
		return nil, err
	}
	d.oriented = orientPlaces(g.Normals, r.X, x.D, d.prepared.Cloud.Used)
	return d.oriented, nil
}

// orientPlaces orients the normals of the listed rows. It skips rows without a normal: they were not moved, and would be
// the outermost.
func orientPlaces(normals, x []float64, D int, list []int) *orientedPlaces {
	var some []int
	for _, i := range list {
		if n := normals[i*D : (i+1)*D]; dense.Dot(n, n) > 0 {
			some = append(some, i)
		}
	}
	if some == nil {
		some = list
	}
	p := &orientedPlaces{normals: normals, index: lookup.NewIndex(x, D, some)}
	alignNormals(normals, x, D, some, p.index)
	return p
}

// turn is an edge between rows a < b; its cost grows with the angle between their normals.
type turn struct {
	cost float64
	a, b int
}

// alignNormals makes the normals of neighbouring rows consistent, along a minimum spanning forest, and makes the
// normals of each tree point outwards at its outermost row.
func alignNormals(normals, x []float64, D int, list []int, in lookup.Index) {
	normal := func(i int) []float64 { return normals[i*D : (i+1)*D] }
	var edges []turn
	var s lookup.Search
	for _, i := range list {
		for _, f := range s.Find(in, x[i*D:(i+1)*D], orientNeighbors+1) {
			if f.Row != i {
				edges = append(edges, turn{1 - math.Abs(dense.Dot(normal(i), normal(f.Row))), min(i, f.Row), max(i, f.Row)})
			}
		}
	}
	slices.SortFunc(edges, func(e, f turn) int {
		return cmp.Or(cmp.Compare(e.cost, f.cost), cmp.Compare(e.a, f.a), cmp.Compare(e.b, f.b))
	})
	u := newParity(len(x) / D)
	for _, e := range edges {
		u.join(e.a, e.b, dense.Dot(normal(e.a), normal(e.b)) < 0)
	}
	for _, i := range list {
		if _, flipped := u.find(i); flipped {
			floats.Scale(-1, normal(i))
		}
	}
	pointOutwards(normal, x, D, list, u)
}

// pointOutwards flips the normals of each tree whose normal at the row furthest from the mean of the tree points
// inwards.
func pointOutwards(normal func(int) []float64, x []float64, D int, list []int, u *parity) {
	trees := map[int][]int{}
	for _, i := range list {
		root, _ := u.find(i)
		trees[root] = append(trees[root], i)
	}
	mean, away := make([]float64, D), make([]float64, D)
	for _, tree := range trees {
		clear(mean)
		for _, i := range tree {
			floats.AddScaled(mean, 1/float64(len(tree)), x[i*D:(i+1)*D])
		}
		outermost, far := tree[0], -1.0
		for _, i := range tree {
			if v := rows.Distance(x[i*D:(i+1)*D], mean); v > far {
				outermost, far = i, v
			}
		}
		floats.SubTo(away, x[outermost*D:(outermost+1)*D], mean)
		if dense.Dot(away, normal(outermost)) < 0 {
			for _, i := range tree {
				floats.Scale(-1, normal(i))
			}
		}
	}
}

// parity is a union-find structure that also stores whether two members of a set are on the same side.
type parity struct {
	parent []int
	other  []bool // on the other side than the parent
}

func newParity(n int) *parity {
	p := &parity{parent: make([]int, n), other: make([]bool, n)}
	for i := range p.parent {
		p.parent[i] = i
	}
	return p
}

// find returns the root of the set of i, and whether i and the root are on different sides.
func (p *parity) find(i int) (root int, other bool) {
	for p.parent[i] != i {
		up := p.parent[i]
		p.other[i] = p.other[i] != p.other[up] // false for a root
		p.parent[i] = p.parent[up]
		other = other != p.other[i]
		i = p.parent[i]
	}
	return i, other
}

// join unites the sets of a and b; different says whether a and b are on different sides.
func (p *parity) join(a, b int, different bool) {
	ra, oa := p.find(a)
	rb, ob := p.find(b)
	if ra == rb {
		return
	}
	if rb < ra {
		ra, rb = rb, ra
	}
	p.parent[rb], p.other[rb] = ra, (oa != ob) != different
}
