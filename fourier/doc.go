// Package fourier composes privacy profiles, and answers ε(δ) and δ(ε) of the composition with a
// certified interval.
//
// It holds the question and the choice of the method. What needs no engine is in internal/closed:
// one run of one mechanism, or few enough losses to list. Package internal/contour sums one
// integral of the transforms of all steps. Package internal/lattice composes laws above and below
// each step, for steps without a transform and for what the integral does not serve. Both prove
// what they answer, and a work budget (internal/meter) ends every question.
//
// It assumes that the steps were fixed in advance. When the parameters of a step depend on the
// outputs of earlier ones, this accounting does not hold (see rdp.Filter). Use it through package
// accountant, unless you bring profiles of your own.
package fourier
