// Package rdp accounts for privacy by Rényi divergences: curves of single
// mechanisms, their composition, and their conversion to (ε, δ).
//
// Use it where only a Rényi bound is known (private aggregation of teachers,
// sampling without replacement of a general mechanism, zero-concentrated
// mechanisms), and, through Filter, where the parameters of a step depend on the
// outputs of earlier steps. Do not use it where the plan is fixed and the
// mechanisms have privacy profiles: the Fourier accountant is then tighter (by 5
// to 77 % on the training runs of docs/rdp.md), because a Rényi curve loses
// information when it is turned into (ε, δ).
//
// Every value is an upper bound in floating point too: evaluations are rounded
// outward by the error bound derived at each function.
//
// Files, each of which uses only those below it:
//
//	filter.go           the filter for adaptive steps
//	of.go               the curve of a mechanism on a sample
//	convert.go          curves to ε and δ
//	envelope.go         the Gaussian on a batch of fixed size
//	sampled.go          any curve on a sample
//	discrete.go         discrete noise, and pairs of discrete laws
//	extremes.go         the larger or smaller of curves
//	poisson_laplace.go  Laplace noise on a Poisson sample
//	poisson_gaussian.go Gaussian noise on a Poisson sample
//	panel.go            a quadrature rule and its error
//	integer_orders.go   sums over integer orders, and what lies between them
//	mechanisms.go       closed forms
//	moment.go           what the sums and integrals share, rounded up
//	grid.go             a curve by its values
//	curve.go            what a curve is
package rdp
