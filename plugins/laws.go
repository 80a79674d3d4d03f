package plugins

import (
	"strings"

	"github.com/scqm/scqm/framework/frameworktest"
)

// meanings maps each law to an explanation for the author of a plugin that violates it.
var meanings = map[string]string{
	"name":                    "the loss must have a name, and take rows of the length that it declares",
	"finite":                  "values and gradients of ordinary rows must be finite, of the right size, and at least 0",
	"not negative":            "values must be at least 0",
	"residuals kept":          "the residuals must not be changed",
	"deterministic":           "the same rows must always give the same bits",
	"parts":                   "values must not depend on whether gradients are wanted too, nor gradients on values",
	"in place":                "results must be the same where they replace the residuals",
	"batch equals single":     "the results of a row must not depend on other rows of the batch, nor on its place there",
	"empty batch":             "a batch may be empty",
	"concurrent":              "calls at the same time must not disturb each other",
	"gradient slope":          "the gradients are not the derivatives of the values",
	"convex":                  "the loss is not convex; if that is meant, declare it: NonConvex: true in Go, convex = False in Python",
	"zero residual":           "a row of zeros must give finite results; where there is a kink, any subgradient, such as 0",
	"non-finite residuals":    "a residual that is NaN or infinite must not change the results of other rows",
	"large residuals":         "very large residuals must not give NaN",
	"tiny residuals":          "very small residuals must give finite results",
	"Hessian slope":           "the Hessian products are not the derivatives of the gradients",
	"Hessian symmetric":       "the Hessian is not symmetric",
	"Hessian in place":        "Hessian products must be the same where they replace the directions",
	"radial form":             "the profile at the squared norm of a row is not the loss of the row",
	"radial slopes":           "the derivatives of the profile are not its derivatives",
	"rotation":                "rotated residuals must give the same loss and rotated gradients, if the loss is radial",
	"separable form":          "the profiles of the entries of a row do not add up to its loss",
	"separable slopes":        "the derivatives of the profile are not its derivatives",
	"weights":                 "weights must be finite and at least 0",
	"majorizer":               "the quadratic that the weights stand for lies below the loss somewhere: the weights are too small",
	"smoothing":               "the smoothed loss must be a loss that differs from the loss by at most a multiple of eps",
	"smoothed gradient slope": "the gradients of the smoothed loss are not the derivatives of its values",
	"smoothed Hessian slope":  "the Hessian products of the smoothed loss are not the derivatives of its gradients",
	"large batch":             "a row must give the same bits in a large batch",
	"other process":           "a second process, which gets arrays as bytes, must give the same bits",
	"end":                     "the plugin must end when it is asked to",
}

// explain adds the explanations of meanings to the laws that a plugin violates.
func explain(name string, verdicts []frameworktest.Verdict) {
	for i, v := range verdicts {
		meaning, ok := meanings[v.Law]
		if v.OK || !ok {
			continue
		}
		measured := strings.NewReplacer("plugins: "+name+": evaluate: ", "", "\n", "; ").Replace(v.Detail)
		verdicts[i].Detail = meaning + " (" + measured + ")"
	}
}
