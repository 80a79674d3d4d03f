// Package selection chooses the settings of a fit: [LearnLoss] the loss, and [Suggest] the
// numbers of dimensions.
//
// Begin with [Suggest]. The package only uses the exported API of models/scqm.
package selection
