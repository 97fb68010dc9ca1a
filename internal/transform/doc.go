// Package transform holds transforms of privacy losses: for one direction (P, Q)
// of a mechanism with privacy loss L = log dP/dQ, the function
//
//	M(z) = E_P[e^{zL}; −∞ < L < ∞],
//
// which the contour engine multiplies over the steps of a composition and
// integrates. Every value comes with a proved error bound.
//
// Do not use it to answer questions about one mechanism run once: the tails of
// its profile do that in closed form. A loss on a lattice, or with an atom that
// carries most of its mass, is better served by package pld: its transform does
// not decay.
package transform
