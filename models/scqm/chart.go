package scqm

// chart is tangent coordinates of c, Q and Theta in the frame of a sheet; see
// [arrow].
type chart struct {
	f     *sheet
	nf    int         // 1 + m + q features
	p     int         // coordinates
	terms []arrowTerm // of all coordinates, in order
	first []int       // terms of coordinate p: first[p] to first[p+1]
	qFrom int         // coordinates of Q: qFrom to thetaFrom
	frame *frame
}

// newChart lists coordinates for a sheet; slides as for listTerms.
func newChart(f *sheet, slides bool) *chart {
	a := &chart{f: f, nf: 1 + f.m + f.q, frame: newFrame(f)}
	a.listTerms(slides)
	return a
}

// arrowTerm says that a coordinate puts sign times a feature into a row of e.
type arrowTerm struct {
	row, feature int
	sign         float64
}

// listTerms enumerates the coordinates: gamma, Omega above the diagonal, K, and
// Theta. Without slides it leaves out those along which the sheet stays where it
// is: turns of U or V in themselves, and shifts of a flat sheet along itself.
func (a *chart) listTerms(slides bool) {
	f := a.f
	coordinate := func(terms ...arrowTerm) {
		a.first = append(a.first, len(a.terms))
		a.terms = append(a.terms, terms...)
	}
	for r := range f.D {
		if slides || f.s > 0 || r >= f.d {
			coordinate(arrowTerm{r, 0, 1})
		}
	}
	a.qFrom = len(a.first)
	for k := range f.m {
		for l := k + 1; l < f.m; l++ {
			if slides || k < f.d && l >= f.d {
				coordinate(arrowTerm{k, 1 + l, 1}, arrowTerm{l, 1 + k, -1})
			}
		}
	}
	for r := f.m; r < f.D; r++ {
		for k := range f.m {
			coordinate(arrowTerm{r, 1 + k, 1})
		}
	}
	for b := range f.q {
		for k := range f.s {
			coordinate(arrowTerm{f.d + k, 1 + f.m + b, 1})
		}
	}
	a.p = len(a.first)
	a.first = append(a.first, len(a.terms))
}

// arrowOuter is the number of outer coordinates.
func arrowOuter(f shape) int { return f.D + f.D*f.m - f.m*(f.m+1)/2 + f.q*f.s }

func (a *chart) termsOf(p int) []arrowTerm { return a.terms[a.first[p]:a.first[p+1]] }

// addMove adds to the upper triangle of A what the second order of the move
// contributes, from the moments gh = sum g h'.
func (a *chart) addMove(dst, gh []float64) {
	f := a.f
	thetaFrom := a.p - f.q*f.s
	for i := a.qFrom; i < thetaFrom; i++ {
		for _, u := range a.termsOf(i) {
			for j := i; j < thetaFrom; j++ {
				for _, v := range a.termsOf(j) {
					if u.row == v.row { // - sym(sum g_Q z') between the columns
						k, l := u.feature-1, v.feature-1
						dst[i*a.p+j] -= u.sign * v.sign * (gh[k*a.nf+1+l] + gh[l*a.nf+1+k]) / 2
					}
				}
			}
			if k := u.feature - 1 - f.d; k >= 0 { // this column of Q carries Theta's column k
				for b := range f.q {
					dst[i*a.p+thetaFrom+b*f.s+k] += u.sign * gh[u.row*a.nf+1+f.m+b]
				}
			}
		}
	}
}

// features writes h = [1; z; phi] of a latent row.
func (a *chart) features(h, tau []float64) {
	f := a.f
	h[0] = 1
	f.coordinates(h[1:1+f.m], h[1+f.m:], tau)
}

// slopes writes dh/dtau: rows 0, I, 2 (A_k tau)' and those of dphi/dtau.
func (a *chart) slopes(dh, tau []float64) {
	f := a.f
	d := f.d
	clear(dh)
	for i := range d {
		dh[(1+i)*d+i] = 1
	}
	bent, l := dh[(1+d)*d:(1+f.m)*d], dh[(1+f.m)*d:]
	b := 0
	for i := range d {
		for j := i; j < d; j++ {
			l[b*d+i] += tau[j]
			l[b*d+j] += tau[i]
			for k, t := range f.theta[b*f.s : (b+1)*f.s] {
				bent[k*d+i] += t * tau[j]
				bent[k*d+j] += t * tau[i]
			}
			b++
		}
	}
}
