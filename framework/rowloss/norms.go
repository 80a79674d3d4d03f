package rowloss

import "github.com/scqm/scqm/framework"

// SupportFunction is a loss that is a norm, of a row where it is [framework.Radial] and of
// every entry where it is [framework.Separable], and so the support function of the ball
// of its dual norm: loss(r) = max g'r over |g| <= 1, or over |g_k| <= 1. The g
// that attain it are the subgradients of the loss at r, and any g in the ball is
// an e-subgradient with e = loss(r) - g'r.
//
// By entry it may also be that of another interval, lo <= g_k <= hi with lo < 0 < hi.
//
// Rounded over eps it is sqrt(t^2 + eps^2) - eps of the norm t; of an interval half of its length times
// that, plus its middle times r, plus what makes the least value 0.
type SupportFunction interface {
	framework.Loss
	framework.Smoother
	// ProjectDual moves every row of g to the nearest point of the ball.
	ProjectDual(g []float64, dim int)
}

// PowerSum is the loss sum_k |r_k|^p of a power p between 1 and 2, which has a
// gradient everywhere and infinite second derivatives where entries are 0. Rounded
// over eps it is sum_k (r_k^2 + eps^2)^(p/2) - eps^p.
type PowerSum interface {
	framework.Loss
	framework.Smoother
	// Power returns p.
	Power() float64
}
