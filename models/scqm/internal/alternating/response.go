package alternating

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Response holds sums over rows that describe how the tau_i follow a change of the sheet. Moments hold them
// fixed, which makes a majorizer far above the cost of a curved sheet, with short steps. To first order the
// projection of a row absorbs the tangential part of a change, so that for a change dB of B = [c, U h, V Theta'
// h^2], f(tau) = B [1; y], the cost changes by
//
//	sum_i w_i (|dB y_i|^2 - y_i' dB' Q P_i Q' dB y_i),  P = E (E'E)^-1 E',
//
// with the Jacobian E of z = [tau; Theta' phi], as tangents lie in the span of Q. Only m x m entries of dB take
// part. Sums is S = sum_i w_i P_i x y_i y_i', of m(m+1)/2 blocks k x k, k = 1 + d + q; [Response.Apply]
// multiplies by it.
//
// They take m^2 k^2 / 2 operations for a row.
type Response struct {
	f    *sheet.Sheet
	k    int
	Sums []float64

	e, factor, column, p []float64
	outer                []float64 // k x k: w y y'
}

// NewResponse returns the response of no rows, for the shape of a sheet.
func NewResponse(f *sheet.Sheet) *Response {
	k := 1 + f.Latent + forms(f)
	return &Response{
		f: f, k: k, Sums: make([]float64, ResponseLen(f)),
		e: make([]float64, f.M*f.Latent), factor: make([]float64, f.Latent*f.Latent),
		column: make([]float64, f.Latent), p: make([]float64, f.M*(f.M+1)/2), outer: make([]float64, k*k),
	}
}

// mostResponding is the largest m k for which the response is used: above, it takes longer than the rest of a
// sweep.
const mostResponding = 96

// ResponseLen is the number of sums; 0 for shapes above mostResponding.
func ResponseLen(f *sheet.Sheet) int {
	k := 1 + f.Latent + forms(f)
	if f.M*k > mostResponding {
		return 0
	}
	return f.M * (f.M + 1) / 2 * k * k
}

// add adds a row at tau, with its regressors [1; y] and those times its weight.
func (r *Response) add(tau, y, wy []float64) {
	if len(r.Sums) == 0 {
		return
	}
	r.project(tau)
	k := r.k
	for i, v := range wy {
		floats.ScaleTo(r.outer[i*k:(i+1)*k], v, y)
	}
	for a, p := range r.p {
		floats.AddScaled(r.Sums[a*k*k:(a+1)*k*k], p, r.outer)
	}
}

// project writes the upper triangle of P, row by row.
func (r *Response) project(tau []float64) {
	d, m := r.f.Latent, r.f.M
	r.f.Jacobian(r.e, tau)
	for i := range d {
		for j := range i + 1 {
			var sum float64
			for a := range m {
				sum += r.e[a*d+i] * r.e[a*d+j]
			}
			r.factor[i*d+j], r.factor[j*d+i] = sum, sum
		}
	}
	dense.FactorCholesky(r.factor, d, 0, 0) // E'E has no eigenvalue below 1
	at := 0
	for a := range m {
		copy(r.column, r.e[a*d:(a+1)*d])
		dense.SolveCholesky(r.column, r.factor, d)
		for b := a; b < m; b++ {
			var sum float64
			for j, v := range r.column {
				sum += v * r.e[b*d+j]
			}
			r.p[at] = sum
			at++
		}
	}
}

// Apply adds S b to dst, both m x k.
func (r *Response) Apply(dst, b []float64) {
	k, m, at := r.k, r.f.M, 0
	if len(r.Sums) == 0 {
		return
	}
	for i := range m {
		for j := i; j < m; j++ {
			block := r.Sums[at : at+k*k]
			addProduct(dst[i*k:(i+1)*k], block, b[j*k:(j+1)*k])
			if i != j {
				addProduct(dst[j*k:(j+1)*k], block, b[i*k:(i+1)*k])
			}
			at += k * k
		}
	}
}

// addProduct adds the product of a k x k matrix and a vector.
func addProduct(dst, a, x []float64) {
	k := len(x)
	for i := range dst {
		var sum float64
		for j, v := range x {
			sum += a[i*k+j] * v
		}
		dst[i] += sum
	}
}

// Turn rotates the sums to another frame, whose axes in the old one are the rows of turn (m x m): P becomes r P
// r'.
func (r *Response) Turn(turn []float64) {
	m, kk := r.f.M, r.k*r.k
	if len(r.Sums) == 0 {
		return
	}
	whole := make([]float64, m*m*kk)
	at := 0
	for i := range m {
		for j := i; j < m; j++ {
			copy(whole[(i*m+j)*kk:], r.Sums[at:at+kk])
			copy(whole[(j*m+i)*kk:(j*m+i+1)*kk], r.Sums[at:at+kk])
			at += kk
		}
	}
	half := make([]float64, m*m*kk) // turn P
	for i := range m {
		for l := range m {
			for j := range m {
				floats.AddScaled(half[(i*m+j)*kk:(i*m+j+1)*kk], turn[i*m+l], whole[(l*m+j)*kk:(l*m+j+1)*kk])
			}
		}
	}
	clear(r.Sums)
	at = 0
	for i := range m {
		for j := i; j < m; j++ {
			for l := range m {
				floats.AddScaled(r.Sums[at:at+kk], turn[j*m+l], half[(i*m+l)*kk:(i*m+l+1)*kk])
			}
			at += kk
		}
	}
}
