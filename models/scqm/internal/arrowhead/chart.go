package arrowhead

import (
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Chart defines tangent coordinates of c, Q and Theta in the frame of a sheet: gamma for c, [Omega; K] for Q, and
// dTheta; see [Hessian]. There are P = D + Dm - m(m+1)/2 + qs coordinates. Its terms list the features that each
// coordinate adds to the rows of e.
type Chart struct {
	F     *sheet.Sheet
	Nf    int    // 1 + m + q features
	P     int    // coordinates
	terms []term // of all coordinates, in order
	first []int  // terms of coordinate p: first[p] to first[p+1]
	qFrom int    // coordinates of Q: qFrom to thetaFrom
	Frame *Frame
}

// NewChart lists the coordinates for a sheet. slides has the meaning that it has in listTerms.
func NewChart(f *sheet.Sheet, slides bool) *Chart {
	a := &Chart{F: f, Nf: 1 + f.M + f.Q, Frame: newFrame(f)}
	a.listTerms(slides)
	return a
}

// term is the derivative of one row of e by a coordinate: sign times a feature.
type term struct {
	Row, Feature int
	Sign         float64
}

// listTerms enumerates the coordinates: gamma, Omega above the diagonal, K, and Theta. If slides is false it leaves out
// coordinates that do not change the sheet: rotations within U or V, and shifts of a flat sheet along itself.
func (a *Chart) listTerms(slides bool) {
	f := a.F
	coordinate := func(terms ...term) {
		a.first = append(a.first, len(a.terms))
		a.terms = append(a.terms, terms...)
	}
	for r := range f.D {
		if slides || f.S > 0 || r >= f.Latent {
			coordinate(term{r, 0, 1})
		}
	}
	a.qFrom = len(a.first)
	for k := range f.M {
		for l := k + 1; l < f.M; l++ {
			if slides || k < f.Latent && l >= f.Latent {
				coordinate(term{k, 1 + l, 1}, term{l, 1 + k, -1})
			}
		}
	}
	for r := f.M; r < f.D; r++ {
		for k := range f.M {
			coordinate(term{r, 1 + k, 1})
		}
	}
	for b := range f.Q {
		for k := range f.S {
			coordinate(term{f.Latent + k, 1 + f.M + b, 1})
		}
	}
	a.P = len(a.first)
	a.first = append(a.first, len(a.terms))
}

// OuterDim returns the number of outer coordinates of a fit. If slides is false, it leaves out coordinates that do not
// change a flat sheet: along them the Hessian is singular, and Newton steps would be unbounded.
func OuterDim(f sheet.Shape, slides bool) int {
	n := f.D + f.D*f.M - f.M*(f.M+1)/2 + f.Q*f.S
	if f.S == 0 && !slides {
		n -= f.Latent * (f.Latent + 1) / 2
	}
	return n
}

func (a *Chart) TermsOf(p int) []term { return a.terms[a.first[p]:a.first[p+1]] }

// addMove adds the second-order term of the outer move to the upper triangle of A, from the moments gh = sum g h'.
func (a *Chart) addMove(dst, gh []float64) {
	f := a.F
	thetaFrom := a.P - f.Q*f.S
	for i := a.qFrom; i < thetaFrom; i++ {
		for _, u := range a.TermsOf(i) {
			for j := i; j < thetaFrom; j++ {
				for _, v := range a.TermsOf(j) {
					if u.Row == v.Row { // - sym(sum g_Q z') between the columns
						k, l := u.Feature-1, v.Feature-1
						dst[i*a.P+j] -= u.Sign * v.Sign * (gh[k*a.Nf+1+l] + gh[l*a.Nf+1+k]) / 2
					}
				}
			}
			if k := u.Feature - 1 - f.Latent; k >= 0 { // this column of Q carries Theta's column k
				for b := range f.Q {
					dst[i*a.P+thetaFrom+b*f.S+k] += u.Sign * gh[u.Row*a.Nf+1+f.M+b]
				}
			}
		}
	}
}

// Features writes the features h = [1; z; phi] of a row with coordinates tau.
func (a *Chart) Features(h, tau []float64) {
	f := a.F
	h[0] = 1
	f.Coordinates(h[1:1+f.M], h[1+f.M:], tau)
}

// Jacobian writes dh/dtau: rows 0, I, 2 (A_k tau)' and those of dphi/dtau.
func (a *Chart) Jacobian(dh, tau []float64) {
	f := a.F
	d := f.Latent
	clear(dh)
	for i := range d {
		dh[(1+i)*d+i] = 1
	}
	curved, l := dh[(1+d)*d:(1+f.M)*d], dh[(1+f.M)*d:]
	b := 0
	for i := range d {
		for j := i; j < d; j++ {
			l[b*d+i] += tau[j]
			l[b*d+j] += tau[i]
			for k, t := range f.Theta[b*f.S : (b+1)*f.S] {
				curved[k*d+i] += t * tau[j]
				curved[k*d+j] += t * tau[i]
			}
			b++
		}
	}
}
