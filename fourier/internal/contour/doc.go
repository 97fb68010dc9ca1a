// Package contour computes δ(ε) and ε(δ) of a composition from the transforms of
// its steps, without a lattice, with every error proved.
//
// With M(z) = Π M_i(z)^{T_i} the transform of the total privacy loss, δ(ε) is the
// integral of M(z)e^{−zε}/(z(z+1)) over a vertical line of the complex plane
// (inversion.go). The integral is summed at equidistant frequencies, which adds
// the values of the same integral at ε ± λ, ε ± 2λ, … (aliasing.go), up to a last
// frequency, and in floating point (certificate.go). The values of log M at the
// frequencies are a table (table.go) from which any number of questions can be
// answered; plan.go chooses its line and period; epsilon.go and delta.go ask them.
// docs/theory/contour.md explains all this from the beginning.
//
// Do not use it for one run of one mechanism, whose tails are known in closed
// form, nor for losses on a lattice or with an atom that carries most of the mass:
// their transforms do not decay, and the answer is a *NotServed error.
package contour
