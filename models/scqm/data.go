package scqm

import "github.com/scqm/scqm/models/rows"

// Data are N rows of length D, row-major, with optional weights.
type Data = rows.Data

// ErrInput reports data or settings that cannot be used.
var ErrInput = rows.ErrInput
