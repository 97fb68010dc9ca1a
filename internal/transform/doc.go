// Package transform holds transforms of privacy losses. For one direction (P, Q) of a mechanism
// with privacy loss L = log dP/dQ it is the function
//
//	M(z) = E_P[e^{zL}; −∞ < L < ∞],
//
// which package contour multiplies over the steps of a composition and integrates. Every value
// comes with a proved error bound.
//
// Do not use it to answer questions about one mechanism run once: the tails of its profile do that
// in closed form. Package pld is better for a loss on a lattice, or with an atom that carries most
// of its mass. The transform of such a loss does not decay.
package transform
