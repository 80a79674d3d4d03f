package dense

import "gonum.org/v1/gonum/mat"

// Owned is a matrix for which its maker has no more use: who is given it may keep its entries, and
// change them.
type Owned struct{ *mat.Dense }
