// Command mutation changes lines that carry a bound, one at a time, and asks the tests whether they notice.
//
//	go run ./lab/mutation -n 200 -seed 1 -o lab/mutation/engine.txt
//
// A mutant is a statement or condition with one thing wrong: a comparison turned, an error term left
// out, a direction swapped, a constant off by one. All mutants that are asked for
// are compiled at once (go test -overlay), each behind a switch of an environment variable. So a
// package's tests are built once. First every test runs alone and writes down which switches it
// passes. Then each mutant runs against the tests that reach it, those of its own package before those
// of others, each with a limit of processor time. A mutant is killed when a test fails or takes far
// longer than it did. What remains has survived.
//
// Which lines carry a bound is a guess by words (see bears): -list lists
// them; docs/reference/mutation.md has the counts. The sample is the same for the same seed and code. Answers are kept in a
// cache, by the text of the mutant's function, and for survivors of all tests. Survivors that do no harm
// are explained in harmless.txt, by the mutant's name.
package main
