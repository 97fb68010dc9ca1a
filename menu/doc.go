// Package menu has the exact price of full adaptivity over a declared menu of mechanism types. An
// analyst chooses, from all outputs so far, which type runs next, and may stop. Each type has a
// cost in whole units. A type may run only if what is spent and its cost are within the budget,
// which is checked before it runs.
//
// R_b(α), the largest hockey-stick divergence that such an analyst reaches with b units, satisfies
//
//	R_0(α) = (1 − α)₊,  R_b(α) = max(R_{b−1}(α), max over types i with c_i ≤ b of E_{P_i}[R_{b−c_i}(αe^{−L})]).
//
// The recursion runs on a lattice of losses with laws above and below each type (package pld), and
// encloses R_b. The upper end holds for every analyst. The lower end is reached by an analyst whose
// types are attained by the same two data sets. docs/theory/adaptive.md has the theorems. Their
// proofs, and those of every error term, are there or end the files.
//
// A plan that is fixed in advance costs less and is a question for the root package. Do not report
// R_s at the units s that were spent when somebody stopped, because s depends on outputs. Only the
// budget, or levels fixed beforehand, are a guarantee.
package menu
