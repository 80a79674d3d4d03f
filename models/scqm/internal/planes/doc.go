// Package planes finds the tangent plane from which a sheet starts, whether the sheet is curved, and in how many
// directions. All three follow from the regression of the principal scores off a plane on the products of the scores
// in the plane.
package planes
