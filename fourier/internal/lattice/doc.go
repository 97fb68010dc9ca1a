// Package lattice is the engine that serves every composition: it composes two laws of each step on
// a lattice, one provably above the step's profile and one provably below it.
//
// The laws are exponentially tilted before the transform, so that a window of a
// few standard deviations serves every δ with full relative accuracy, and δ is
// read by Plancherel against the closed-form transform of the payoff: no inverse
// transform, and a further ε costs microseconds. Where no tilt brings the mass to ε, laws are
// convolved one by one. Discretisation, truncation, aliasing and round-off are bounded and
// widen the interval. docs/accuracy.md has the proofs, section by section.
//
// It assumes two runs or more; package closed has what is known without an engine. It returns
// an interval that is proved whatever happens, with a warning where it is wider than asked.
// Do not use it where the steps have transforms: the contour engine answers to 1e-9 for what
// a thousandth costs here.
//
// Files, each using only those below it:
//
//	ask.go          a question: transforms, laws one by one, transforms again
//	epsilon.go      what the refinement must know about ε(δ)
//	delta.go        and about δ(ε)
//	doubling.go     both questions, by laws convolved one by one
//	refine.go       the refinement: pass after pass until the width is reached
//	convergence.go  whether finer steps still help
//	pass.go         one pass: all laws at one step, composed above and below
//	laws.go         the laws of each step, made once and kept
//	fit.go          how a step is adapted to atoms
//	target.go       where to compute, and the step that the error law wants
//	anchors.go      atoms that a lattice should meet
//	bounds.go       upper bounds that need no transform
//	series.go       where to compute after rare big losses
//	window.go       the tilt and the length, together
//	cumulant.go     the cumulant of coarse laws, its saddle point
//	answer.go       an interval with its budget; a question on its way
//	sum.go          the composition, and what is kept for each step
//	compose.go      a composition by a fast Fourier transform
//	direct.go       a composition by sums at the frequencies that count
//	read.go         δ and its errors from a composition
//	composition.go  the product of transforms at the frequencies that count
//	spectrum.go     one tilted law, summed at any frequency
//	convolve.go     the convolution of two measures, rounded outward
//	measure.go      a law off the lattice, with masses as numbers
//	whole.go        two checks of laws
//	transform.go    the Fourier transform
package lattice
