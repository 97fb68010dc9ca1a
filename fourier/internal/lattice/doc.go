// Package lattice is the engine that serves every composition. It composes two laws of each step on
// a lattice, one proved to be above the step's profile and one below it.
//
// The laws are exponentially tilted before the transform. A window of a few standard deviations
// then serves every δ with full relative accuracy. δ is read by Plancherel against the closed-form
// transform of the payoff, so there is no inverse transform, and a further ε costs microseconds.
// Where no tilt brings the mass to ε, laws are convolved one by one. Discretisation, truncation,
// aliasing and round-off are bounded and widen the interval. docs/theory/accuracy.md and
// the ends of the files have the proofs.
//
// It assumes two runs or more; package closed has what is known without an engine. It always
// returns a proved interval, with a warning where that is wider than asked. Do not use it where the
// steps have transforms: package contour answers to 1e-9 for a thousandth of the cost.
package lattice
