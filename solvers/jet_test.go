package solvers_test

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

// jet is a number with its derivatives of first and second order along n
// coordinates: automatic differentiation, slow and safe.
type jet struct {
	v    float64
	g, h []float64 // n and n x n
}

func constant(v float64, n int) jet { return jet{v, make([]float64, n), make([]float64, n*n)} }

// coordinate is v plus coordinate i.
func coordinate(v float64, i, n int) jet {
	a := constant(v, n)
	a.g[i] = 1
	return a
}

// of returns f(a) for a function with value, first and second derivative at a.
func (a jet) of(value, slope, second float64) jet {
	n := len(a.g)
	r := constant(value, n)
	for i := range n {
		r.g[i] = slope * a.g[i]
		for j := range n {
			r.h[i*n+j] = slope*a.h[i*n+j] + second*a.g[i]*a.g[j]
		}
	}
	return r
}

func (a jet) plus(b jet) jet {
	r := constant(a.v+b.v, len(a.g))
	floats.AddTo(r.g, a.g, b.g)
	floats.AddTo(r.h, a.h, b.h)
	return r
}

func (a jet) times(b jet) jet {
	n := len(a.g)
	r := constant(a.v*b.v, n)
	for i := range n {
		r.g[i] = a.v*b.g[i] + b.v*a.g[i]
		for j := range n {
			r.h[i*n+j] = a.v*b.h[i*n+j] + b.v*a.h[i*n+j] + a.g[i]*b.g[j] + a.g[j]*b.g[i]
		}
	}
	return r
}

func (a jet) scale(c float64) jet { return a.of(c*a.v, c, 0) }
func (a jet) add(c float64) jet   { return a.of(a.v+c, 1, 0) }
func (a jet) minus(b jet) jet     { return a.plus(b.scale(-1)) }
func (a jet) square() jet         { return a.times(a) }
func (a jet) inverse() jet        { return a.of(1/a.v, -1/(a.v*a.v), 2/(a.v*a.v*a.v)) }
func (a jet) sin() jet            { return a.of(math.Sin(a.v), math.Cos(a.v), -math.Sin(a.v)) }
func (a jet) cos() jet            { return a.of(math.Cos(a.v), -math.Sin(a.v), -math.Cos(a.v)) }
func (a jet) inverseRoot() jet {
	r := 1 / math.Sqrt(a.v)
	return a.of(r, -r/(2*a.v), 3*r/(4*a.v*a.v))
}

// sumOfRows is f_0(y) + sum_i row(y, t_i, i) with all derivatives by jets. The
// rows t_i are its last block.
type sumOfRows struct {
	latent.Explorer
	blocks []framework.Block
	// charts are y(v) of every outer block, nil for y + v.
	charts []func(x []float64, v []jet) []jet
	row    func(y [][]jet, t []jet, i int) jet
	tooBig bool // for second derivatives
}

func (p *sumOfRows) Blocks() []framework.Block { return p.blocks }

func (p *sumOfRows) inner() (k, rows, dim int) {
	k = len(p.blocks) - 1
	return k, p.blocks[k].Rows(), p.blocks[k].Manifold.Size()
}

// at returns the outer blocks and row i at coordinates 0, which are those of
// the space around the manifolds if ambient, else those of the charts.
func (p *sumOfRows) at(x framework.Point, i int, ambient bool) (y [][]jet, t []jet) {
	k, _, d := p.inner()
	n := 0
	for _, b := range p.blocks[:k] {
		n += p.coordinates(b, ambient)
	}
	from := 0
	for j, b := range p.blocks[:k] {
		size := p.coordinates(b, ambient)
		if !ambient && p.charts[j] != nil {
			v := make([]jet, size)
			for l := range v {
				v[l] = coordinate(0, from+l, n+d)
			}
			y = append(y, p.charts[j](x[j], v))
		} else {
			z := make([]jet, size)
			for l := range z {
				z[l] = coordinate(x[j][l], from+l, n+d)
			}
			y = append(y, z)
		}
		from += size
	}
	for l := range d {
		t = append(t, coordinate(x[k][i*d+l], n+l, n+d))
	}
	return y, t
}

func (p *sumOfRows) coordinates(b framework.Block, ambient bool) int {
	if ambient {
		return b.Size()
	}
	return b.Dim()
}

func (p *sumOfRows) Evaluate(grad, x framework.Point) (float64, error) {
	k, rows, d := p.inner()
	var cost float64
	for _, g := range grad {
		clear(g)
	}
	for i := range rows {
		y, t := p.at(x, i, true)
		f := p.row(y, t, i)
		cost += f.v
		from := 0
		for j := range grad {
			dst := grad[j]
			size := p.blocks[j].Size()
			if j == k {
				size = d
				if dst != nil {
					dst = dst[i*d : (i+1)*d]
				}
			}
			if dst != nil {
				floats.Add(dst, f.g[from:from+size])
			}
			from += size
		}
	}
	return cost, nil
}

func (p *sumOfRows) ArrowheadShape() (latent.ArrowheadShape, bool) {
	k, rows, d := p.inner()
	n := 0
	for _, b := range p.blocks[:k] {
		n += b.Dim()
	}
	return latent.ArrowheadShape{Block: k, Outer: n, Rows: rows, Dim: d}, !p.tooBig
}

func (p *sumOfRows) AssembleHessian(a *latent.Arrowhead, x framework.Point) (cost, passes float64, err error) {
	n, d, nd := a.Outer, a.Dim, a.Inner()
	clear(a.OuterGrad)
	clear(a.A)
	for i := range a.Rows {
		y, t := p.at(x, i, false)
		f := p.row(y, t, i)
		cost += f.v
		floats.Add(a.OuterGrad, f.g[:n])
		copy(a.InnerGrad[i*d:(i+1)*d], f.g[n:])
		for q := range n {
			row := f.h[q*(n+d) : (q+1)*(n+d)]
			floats.Add(a.A[q*n:(q+1)*n], row[:n])
			copy(a.B[q*nd+i*d:q*nd+(i+1)*d], row[n:])
		}
		for q := range d {
			copy(a.C[(i*d+q)*d:(i*d+q+1)*d], f.h[(n+q)*(n+d)+n:(n+q+1)*(n+d)])
		}
	}
	return cost, 2, nil
}

func (p *sumOfRows) RetractOuter(dst, x framework.Point, v []float64) error {
	k, _, _ := p.inner()
	for j, b := range p.blocks[:k] {
		u := v[:b.Dim()]
		v = v[b.Dim():]
		if p.charts[j] == nil {
			floats.AddTo(dst[j], x[j], u)
			continue
		}
		step := make([]jet, len(u))
		for l := range u {
			step[l] = constant(u[l], 0)
		}
		for l, z := range p.charts[j](x[j], step) {
			dst[j][l] = z.v
		}
	}
	return nil
}

// InnerStep takes steps -|C_i|^-1 g_i.
func (p *sumOfRows) InnerStep(x framework.Point, other []float64) (cost, passes float64, err error) {
	k, rows, d := p.inner()
	for i := range rows {
		local := x[k][i*d : (i+1)*d]
		value := func(t []float64) jet {
			copy(local, t)
			y, z := p.at(x, i, false)
			return p.row(y, z, i)
		}
		best := append([]float64(nil), local...)
		f := value(best)
		if g := value(other[i*d : (i+1)*d]); g.v < f.v {
			f, best = g, other[i*d:(i+1)*d]
		}
		least := f.v
		step, trial := rowStep(f, d), make([]float64, d)
		for t := 1.0; t > 0.05 && least == f.v; t /= 2 {
			if g := value(floats.AddScaledTo(trial, best, t, step)); g.v < least {
				least, best = g.v, trial
			}
		}
		copy(local, best)
		cost += least
	}
	return cost, 3, nil
}

// rowStep returns -|C|^-1 g for the last d coordinates of f.
func rowStep(f jet, d int) []float64 {
	n := len(f.g)
	c := mat.NewSymDense(d, nil)
	for q := range d {
		for r := range q + 1 {
			c.SetSym(q, r, f.h[(n-d+q)*n+n-d+r])
		}
	}
	var eigen mat.EigenSym
	eigen.Factorize(c, true)
	var axes mat.Dense
	eigen.VectorsTo(&axes)
	step := make([]float64, d)
	for k, w := range eigen.Values(nil) {
		axis := mat.Col(nil, k, &axes)
		if w != 0 {
			floats.AddScaled(step, -floats.Dot(axis, f.g[n-d:])/math.Abs(w), axis)
		}
	}
	return step
}
