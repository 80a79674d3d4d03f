// Package rows is what models know of their data before they are fitted: N rows
// of length D with weights, which are validated, merged, brought to a unit in
// which squares neither overflow nor vanish, and summed up by mean, geometric
// median, principal components and the span of the rows.
//
// Begin with [Data], which is what models are given. The rest is for who writes a
// model.
package rows
