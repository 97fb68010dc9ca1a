// Package pate is private aggregation of teacher ensembles: the noisy
// aggregators that label a query from the votes of teachers, what those labels
// cost in Rényi differential privacy, and how to publish that cost.
//
// Use it when N models were trained on disjoint parts of the private data and
// their votes on public queries were (or will be) aggregated by [GNMax],
// [Confident], [Interactive] or [LNMax]. [Account] adds up the cost of a vote
// table ([ballots.Votes]); [Ledger.ExactEpsilon] composes the exact laws,
// [Ledger.Publish] turns a cost that depends on the votes into an upper bound that may be
// published, and [Ledger.NewSensitivity] with [Sanitize] into an estimate, the paper's way.
//
// Do not use it when the teachers share training examples (one example may then
// change several votes), and do not feed a data-dependent cost into the Fourier
// accountant: it is a Rényi bound for one data set.
//
// # What a data-dependent cost is
//
// Two data sets are neighbours when one training example is changed; then one
// teacher may change its vote, on every query at once. A data-dependent cost at
// order λ bounds D_λ(M(D) ‖ M(D')) and its reverse (by [Theorem6] not the reverse) for the data
// set D that cast the votes and each of its neighbours D'. It says nothing about other data
// sets, and it is itself a function of private data.
//
// All of it follows Papernot, Song, Mironov, Raghunathan, Talwar and
// Erlingsson, "Scalable Private Learning with PATE" (ICLR 2018), cited below as
// PATE 2018, with the corrections told in docs/guide/pate.md.
package pate
