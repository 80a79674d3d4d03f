package losses

import "github.com/scqm/scqm/framework"

// L2 returns the loss |r|, the Euclidean norm: the negative log-likelihood, up
// to scale, of isotropic noise whose norm decays like exp(-|r|/eta). Smoothed
// over eps it is sqrt(|r|^2 + eps^2) - eps, which is smaller by at most eps.
func L2() framework.Loss {
	return l2{radial{name: "l2", kinked: true, profile: func(t float64) (value, slope, excess float64) {
		return t, 1, -1 / t
	}}}
}

type l2 struct{ radial }

// Smooth implements [framework.Smoother]. An eps up to 1e-100 counts as 0.
func (l l2) Smooth(eps float64) framework.Loss {
	if !(eps > tiny) {
		return l
	}
	return radial{name: l.name, profile: func(t float64) (value, slope, excess float64) {
		s := hypotenuse(t, eps)
		cosine := t / s
		return t / (s + eps) * t, cosine, -cosine * cosine / s
	}}
}

// ProjectDual implements [rowloss.SupportFunction]: |r| is the largest g'r over
// |g| <= 1.
func (l l2) ProjectDual(g []float64, dim int) {
	for i := 0; i+dim <= len(g); i += dim {
		row := g[i : i+dim]
		if length := norm(row); length > 1 {
			for k, v := range row {
				row[k] = v / length
			}
		}
	}
}
