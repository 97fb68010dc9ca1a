// Command mutation changes lines that carry a bound, one at a time, and asks the tests whether they notice.
//
//	go run ./lab/mutation -n 200 -seed 1 -o lab/mutation/engine.txt
//
// A mutant is a statement or condition with one thing wrong: a comparison turned, an error term left
// out, a direction swapped, + for −, a constant off by one, an early return gone. All mutants that are asked for
// are compiled at once (go test -overlay), each behind a switch that an environment variable turns
// on, so that a package's tests are built once. First every test runs alone and
// writes down which switches it passes; then each mutant runs against the tests that reach it: those of its own
// package before those of others, first those that have killed most for their time, each with a limit of processor time. It is killed when a test fails
// or takes far longer than it did; what remains has survived.
//
// Which lines carry a bound is a guess by words (see bears): engine.txt lists
// the functions; docs/reference/mutation.md has the counts. The sample is the same for the same seed and code. Answers are kept in a
// cache, by the text of the mutant's function, and for survivors of all tests. Survivors that do no harm
// are explained in harmless.txt, by the mutant's name.
package main
