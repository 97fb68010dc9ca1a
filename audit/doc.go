// Package audit turns the scores of an attack into a lower bound on what a mechanism costs. What
// was run is not (ε, δ)-differentially private for any smaller ε, unless something happened whose
// probability is at most 1 − confidence.
//
// An attack gives a score to each of many records (or runs), higher where it believes that the
// record took part. The auditor knows which did. There are two designs, which must not be mixed up:
//
//   - ManyRuns: each score is from a run of its own. The runs with the record are
//     independent of each other, and so are those without it.
//   - OneRun: all scores are from one run, in which each of many canaries took part or
//     not by its own fair coin.
//
// Use it to look for defects, such as noise that is missing or clipping that does not clip. A
// certified budget of package accountant is only about the plan that was written down. Do not use
// it in place of a certificate: an attack that finds nothing proves nothing.
//
// Relation: the data sets with the record and without it. The experiment says what "without" means:
// left out, or replaced. Proofs end the file of each bound.
package audit
