// Package pld turns privacy profiles into discrete privacy-loss distributions that bound them. The
// upper law is pessimistic, the lower law optimistic, and both have an error of second order in the
// lattice step.
//
// A law here is a positive measure on losses. Its hockey-stick profile is h(α) = ∫ (1 − αe^{−l})₊
// dm(l). Convolution with any positive measure preserves h_m ≤ h_m' pointwise, so a law above
// (below) a profile stays above (below) it under composition. Masses need not sum to 1:
// floating-point errors are always moved to the safe side.
//
// Use it to build what package fourier composes. For the δ of a single run read the profile itself
// (profiles.LogDelta): it is more accurate than any lattice.
package pld
