// Package rows holds the data of models: N rows of length D with weights. It validates and merges rows, and scales
// them so that squares neither overflow nor underflow. It computes their mean, geometric median, principal components
// and span.
//
// Begin with [Data], the input of models. The rest is for authors of models.
package rows
