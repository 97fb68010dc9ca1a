// Package rdp accounts for privacy by Rényi divergences: curves of single mechanisms, their
// composition, and their conversion to (ε, δ).
//
// Use it where only a Rényi bound is known: private aggregation of teachers, sampling without
// replacement of a general mechanism, zero-concentrated mechanisms. Use its Filter where the
// parameters of a step depend on the outputs of earlier steps. Do not use it where the plan is
// fixed and the mechanisms have privacy profiles. The Fourier accountant is then tighter, by 5 to
// 77 % on the training runs of docs/reference/rdp.md, because a Rényi curve loses information in
// its conversion.
//
// Every value is an upper bound in floating point too: evaluations are rounded outward by the error
// bound derived at each function.
//
// # Gaussian differential privacy
//
// A mechanism is μ-GDP if no test tells neighbouring data sets apart better than N(0, 1) from N(μ,
// 1) (Dong, Roth and Su, JRSS-B 2022). A [GaussianFilter] keeps a budget of μ for Gaussian noise
// whose scale, or whether it is added at all, depends on earlier outputs. It is exact there, where
// the Rényi [Filter] is not. Do not use it for anything but steps on the whole data set that are
// μ-GDP: Gaussian, Laplace and whole-number noise.
package rdp
