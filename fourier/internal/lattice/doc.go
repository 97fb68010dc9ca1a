// Package lattice is the engine that serves every composition: it composes two laws of each step on
// a lattice, one provably above the step's profile and one provably below it.
//
// The laws are exponentially tilted before the transform, so that a window of a
// few standard deviations serves every δ with full relative accuracy, and δ is
// read by Plancherel against the closed-form transform of the payoff: no inverse
// transform, and a further ε costs microseconds. Where no tilt brings the mass to ε, laws are
// convolved one by one. Discretisation, truncation, aliasing and round-off are bounded and
// widen the interval. docs/theory/accuracy.md has the proofs, section by section.
//
// It assumes two runs or more; package closed has what is known without an engine. It returns
// an interval that is proved whatever happens, with a warning where it is wider than asked.
// Do not use it where the steps have transforms: the contour engine answers to 1e-9 for what
// a thousandth costs here.
package lattice
