package dense

import "gonum.org/v1/gonum/mat"

// Owned is a matrix that its creator no longer uses. The function that receives it may keep and change its entries.
type Owned struct{ *mat.Dense }
