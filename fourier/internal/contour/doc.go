// Package contour computes δ(ε) and ε(δ) of a composition from the transforms of its steps. Every error is proved.
//
// Let M(z) = Π M_i(z)^{T_i} be the transform of the total privacy loss. Then δ(ε) is the integral
// of M(z)e^{−zε}/(z(z+1)) over a vertical line of the complex plane. The integral is summed at
// equidistant frequencies up to a last one. That adds the values of the same integral at ε ± λ, ε ±
// 2λ, …, which are bounded. A table of log M at the frequencies answers any number of questions.
// docs/theory/contour.md explains all this from the beginning. The proofs are in the files.
//
// Do not use it for one run of one mechanism, whose tails are known in closed form. Do not use it
// for transforms that do not decay, of losses with an atom that carries most of the mass: the answer is a *NotServed error. Laws on
// one lattice are served all the same, by an FFT each.
package contour
