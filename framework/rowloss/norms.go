package rowloss

import "github.com/scqm/scqm/framework"

// SupportFunction is a loss that is a norm: of a row if it is [framework.Radial], of every entry if it is
// [framework.Separable]. A norm is the support function of the ball of its dual norm: loss(r) = max g'r over |g| <=
// 1, or over |g_k| <= 1. The maximisers g are the subgradients of the loss at r, and any g in the ball is an
// e-subgradient with e = loss(r) - g'r.
//
// A separable loss may also be the support function of another interval, lo <= g_k <= hi with lo < 0 < hi.
//
// Smoothed over eps it is sqrt(t^2 + eps^2) - eps for the norm t. For an interval it is half of its length times
// that, plus its middle times r, plus the constant that makes the minimum 0.
type SupportFunction interface {
	framework.Loss
	framework.Smoother
	// ProjectDual moves every row of g to the nearest point of the ball.
	ProjectDual(g []float64, dim int)
}

// PowerSum is the loss sum_k |r_k|^p for a power p between 1 and 2. It has a gradient everywhere, and infinite second
// derivatives at zero entries. Smoothed over eps it is sum_k (r_k^2 + eps^2)^(p/2) - eps^p.
type PowerSum interface {
	framework.Loss
	framework.Smoother
	// Power returns p.
	Power() float64
}
