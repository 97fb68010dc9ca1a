// Package query answers questions about a table with a row for each record of a person: counts, sums, means and
// quantiles of groups, with exact noise that one budget pays for.
//
// What a person contributes is bounded first, by that person's rows and coins alone. From the bounds follow the
// sensitivities, from the budget and the weights the noise of each measure (accountant.Calibrate). The plan that is
// priced is part of the answer, so that a ledger can hold it. Relation: add-remove of one person.
//
// Do not print what a Table holds: it is the data.
package query
