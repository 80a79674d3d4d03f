// Package selection chooses what a fit is given: [LearnLoss] the loss, and [Suggest] the
// numbers of dimensions.
//
// Begin with [Suggest]. The package uses nothing of models/scqm that others could not.
package selection
