// Package pate is private aggregation of teacher ensembles: noisy aggregators that label a query
// from the votes of teachers. It computes what those labels cost in Rényi differential privacy, and
// publishes that cost.
//
// Use it when N models were trained on disjoint parts of the private data and their votes on public
// queries are aggregated. The aggregators are [NewGNMax], [NewConfident], [NewInteractive] and [NewLNMax].
// [Account] adds up the cost of a vote table ([ballots.Votes]), and [Ledger.ExactEpsilon] composes
// the exact laws. [Ledger.Publish] turns a cost that depends on the votes into an upper bound that
// may be published. [Ledger.NewSensitivity] with [Sanitize] makes an estimate, the paper's way.
//
// Do not use it when the teachers share training examples: one example may then change several
// votes. Do not feed a data-dependent cost into the Fourier accountant: it is a Rényi bound for one
// data set.
//
// # What a data-dependent cost is
//
// Two data sets are neighbours when one training example is changed; then one teacher may change
// its vote, on every query at once. A data-dependent cost at order λ bounds D_λ(M(D) ‖ M(D')) and
// its reverse for the data set D that cast the votes and each neighbour D'. (The bound by
// [Theorem6] leaves out the reverse.) It says nothing about other data sets, and it is itself a
// function of private data.
//
// The source is Papernot, Song, Mironov, Raghunathan, Talwar and Erlingsson, "Scalable Private
// Learning with PATE" (ICLR 2018), cited below as PATE 2018. Departures from it stand below the
// package clause. Proofs stand in the file of each bound, and docs/guide/pate.md shows the use.
package pate

// Departures from the paper and its code: there, and here.
//
//	Algorithm 4, line 19 | sums over d classes | over all m
//	array of the check | sensitivity at distance exactly d | the maximum within d; otherwise sums are not β-smooth (ratio 1.189 > e^0.1 for maxima 8, 28 → 9, 29 of 30, T = 16, σ1 = 2, λ = 10)
//	q0 | a fixed bound, below the crossing for σ ≲ 1.3 or λ ≳ 4σ | the crossing itself
//	B_L, B_U | through e^{log q}, an error below −745 | in log space
//	order grid | 100.5 followed by 100 … 500 | any ascending list; 1.5, 2, …, 100 by default
//	informal Theorem 6 | λ ≤ μ1, μ2 | λ ≤ μ1 suffices
//	conversion | ε = RDP + log(1/δ)/(λ−1) | the improved one; that one as Classic
