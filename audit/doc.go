// Package audit turns the scores of an attack into a lower bound on what a mechanism
// costs, with a confidence level: what was run is not (ε, δ)-differentially private for any
// smaller ε, unless chance played a trick that is at most 1 − confidence likely.
//
// An attack gives a score to each of many records (or runs), higher where it believes
// that the record took part; the auditor knows which did. Two designs are known, and they
// must not be mixed up:
//
//   - ManyRuns: each score is from a run of its own. The runs with the record are
//     independent of each other, and so are those without it.
//   - OneRun: all scores are from one run, in which each of many canaries took part or
//     not by its own fair coin.
//
// Use it to look for defects (noise that is missing, clipping that does not clip), as a
// certified budget of package accountant is only about the plan that was written down.
// Do not use it in place of a certificate: an attack that finds nothing proves nothing.
//
// Relation: the two data sets are those with the record and without it, in the sense that
// the experiment gives to "without": left out, or replaced.
package audit
