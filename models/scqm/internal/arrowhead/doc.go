// Package arrowhead computes second derivatives of the objective in tangent coordinates of c, Q and Theta. As each
// row of Tau is coupled only to these, the Hessian is an arrowhead matrix, which a Schur complement reduces to the
// outer blocks.
package arrowhead
