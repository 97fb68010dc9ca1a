// Package lp solves small dense linear programs to which rows may be added after a
// solve: the shape of every cutting-plane method. With rows read as columns of the dual
// it is that of every column generation.
//
// Use it when the rows are many but only few of them matter: generate those. New is for
// variables in a box (probabilities are), NewAt for programs whose first vertex is known.
// Do not use it for sparse programs with thousands of variables.
//
// The method is a bounded-variable revised dual simplex, in the view of the active set. A vertex is
// the solution of n active constraints, whose multipliers stay non-negative while violated
// constraints enter one by one. A box gives the first vertex, each variable at the bound that its
// cost favours. That vertex is dual feasible, so there is no first phase.
//
// gonum's optimize/convex/lp.Simplex is not called. It takes the standard form only, and starts
// afresh after each added row, some 30 times slower at 100 variables. On a degenerate program of
// package darrm it stops at a singular basis short of the optimum. Tests use it as a second
// opinion.
package lp
