// Package influence is the infinitesimal jackknife: how the minimum of an
// objective moves, to first order, when a row is left out. It takes about P^3
// operations for P outer coordinates and n P^2 for n rows.
package influence
