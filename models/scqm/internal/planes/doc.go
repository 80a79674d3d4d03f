// Package planes tells from the principal scores of some rows in which plane a sheet
// starts, whether it bends, and in how many directions: all three follow from the
// regression of the scores off a plane on the products of those in it.
package planes
