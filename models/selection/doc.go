// Package selection chooses what a fit is given: [LearnLoss] the loss and [Suggest] the
// numbers of dimensions. It uses nothing of models/scqm that other packages could not.
package selection
