package scqm

import "gonum.org/v1/gonum/mat"

// ResidualParts returns, for each residual, n x D, the fraction of the noise variance that the fit leaves in it. tau
// are the coordinates of the rows, n x d. The fraction is 1 minus the diagonal of the projector onto the tangent space,
// times the fraction left after fitting the shared parameters. [losses.EstimatePower] and [losses.Choose] use it.
func (m *Model) ResidualParts(tau []float64) []float64 {
	f := m.sheet()
	n := len(tau) / f.Latent
	// c, the frame without the rotations that tau takes up, and Theta.
	s := m.curvedColumns()
	common := float64(f.D + (f.D-f.Latent)*(f.Latent+s) + f.Latent*(f.Latent+1)/2*s)
	rest := max(0.01, 1-common/float64(n*(f.D-f.Latent)))
	parts := make([]float64, n*f.D)
	e, gram := mat.NewDense(f.M, f.Latent, nil), mat.NewSymDense(f.Latent, nil)
	var factor mat.Cholesky
	across, solved := mat.NewVecDense(f.Latent, nil), mat.NewVecDense(f.Latent, nil)
	for i := range n {
		f.Jacobian(e.RawMatrix().Data, tau[i*f.Latent:(i+1)*f.Latent])
		gram.SymOuterK(1, e.T())
		tangent := factor.Factorize(gram)
		for j := range f.D {
			lost := 0.0
			if tangent {
				across.Zero()
				for k := range f.M {
					across.AddScaledVec(across, f.Axis(k)[j], e.RowView(k))
				}
				if factor.SolveVecTo(solved, across) == nil {
					lost = mat.Dot(across, solved)
				}
			}
			parts[i*f.D+j] = max(0.01, (1-lost)*rest)
		}
	}
	return parts
}

// curvedColumns counts the directions of V in which the sheet has nonzero curvature.
func (m *Model) curvedColumns() int {
	used := make([]bool, m.Curvature)
	for i, v := range m.Theta {
		used[i%m.Curvature] = used[i%m.Curvature] || v != 0
	}
	count := 0
	for _, u := range used {
		if u {
			count++
		}
	}
	return count
}
