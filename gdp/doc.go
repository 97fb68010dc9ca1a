// Package gdp keeps budgets of Gaussian differential privacy: a mechanism is μ-GDP if no
// test tells neighbouring data sets apart better than N(0, 1) from N(μ, 1) (Dong, Roth and
// Su, JRSS-B 2022).
//
// Use its Filter for Gaussian noise whose scale, or whether it is added at all, depends on
// earlier outputs: it is exact there, where the Rényi filter of package rdp is not. Do not
// use it for a plan that is fixed in advance (package accountant) nor for anything but
// continuous Gaussian noise on the whole data set.
//
// Files, each of which uses only those below it:
//
//	filter.go  Filter: adaptive Gaussian steps
//	budget.go  Within: μ of a budget in ε and δ
package gdp
