package dense

import "gonum.org/v1/gonum/mat"

// Owned is a matrix that its maker no longer uses. The receiver may keep its entries, and change them.
type Owned struct{ *mat.Dense }
