// Package fourier composes privacy profiles, and answers ε(δ) and δ(ε) of the composition
// with a certified interval.
//
// It holds the question and the choice of the engine. What needs no engine is in internal/closed:
// one run of one mechanism, or few enough losses to list. The contour engine (internal/contour) sums one
// integral of the transforms of all steps; the lattice engine (internal/lattice) composes
// laws above and below each step, for steps without a transform and for what the integral does not
// serve. Both prove what they answer, and a meter (internal/meter) ends every question.
//
// It assumes that the steps were fixed in advance: when the parameters of a step depend on the
// outputs of earlier ones, this accounting does not hold (see rdp.Filter). Use it through
// package accountant, unless you bring profiles of your own.
//
// Files, each using only those below it:
//
//	sum.go       ε(δ) and δ(ε): what is known without an engine, and beside every engine
//	engines.go   the choice of the engine
//	others.go    ε(δ) narrowed by what is proved at other δ
//	mixed.go     plans in which some steps have transforms and others do not
//	laws.go      laws for steps without a transform
//	integral.go  questions to the contour engine
//	lattices.go  questions to the lattice engine
//	state.go     a composition, and what it keeps between questions
//	factors.go   the factors of the integral, and their compositions above and below
//	options.go   accuracy, limits, the transform of the lattices
//	result.go    intervals with their budgets
package fourier
