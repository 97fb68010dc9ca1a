// Package query answers questions about a table with one row for each record of a person. It
// publishes counts, sums, means and quantiles of groups, with exact noise for one budget.
//
// What a person contributes is bounded first, by that person's rows and coins alone. The bounds
// give the sensitivities; the budget and the weights give the noise of each measure
// (accountant.Calibrate). The plan that is priced is part of the answer, so that a ledger can hold
// it. Relation: add-remove of one person.
//
// Do not print what a Table holds: it is the data.
package query

// How a query is answered.
//
// The counts of all groups are one vector, to which a person adds at most √partitions · per-partition (the norm of
// order 2); the sums of one column another, times the larger end of the clamp. A mean is a noisy sum about the
// middle of the clamp over the noisy count. A quantile is read from noisy counts of equal cells of the clamp. Values
// are rounded to 2^−24 of the clamp, so that sums are exact; noise is an exact draw of the normal law, rounded to a
// grid that does not depend on the data (profiles.AddGaussian). Groups are chosen by truncated geometric selection
// (choice, Theorem 5) of the number of persons in each, with half of δ. Where persons are not told
// apart, ⌊rows / per-person⌋ takes the place of that number: a person changes it by at most one, in at most
// per-person groups.
