// Package planes finds from principal scores the tangent plane from which a sheet
// starts, whether it is curved, and in how many directions: all three follow from the
// regression of the scores off a plane on the products of the scores in it.
package planes
