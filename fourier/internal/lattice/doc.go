// Package lattice serves every composition by laws. It makes two laws of each step on
// a lattice: one is proved to be above the step's profile, one below it. Package contour composes each side. Finer laws
// follow until the interval is narrow.
//
// Where no tilt brings the mass to ε, laws are convolved one by one. docs/theory/accuracy.md and
// the ends of the files have the proofs.
//
// It assumes two runs or more; package closed has what is known without an engine. It always
// returns a proved interval, with a warning where that is wider than asked. Do not use it where the
// steps have transforms: package contour answers to 1e-9 for a thousandth of the cost.
package lattice
