// Package adaptive searches when the next candidate depends on what was found before: the
// target charging of Cohen, Lyu, Nelson, Sarlós and Stemmer (NeurIPS 2023). A call runs any
// ε-DP candidate, chosen in view of all answers so far, and publishes its outcome if the
// score reaches a threshold, or else only that it did not. The search ends after a number of
// outcomes; calls without one cost nothing by themselves.
//
// Do not use it where the candidates are known in advance: [selection.Best] is cheaper by
// far. Candidates must be pure; one with a δ > 0 has no price here. The score is part of the
// outcome and so of ε. The number of calls and every threshold may be published.
//
// Files, each of which uses only those below it:
//
//	search.go  the calls
//	cost.go    what they cost
package adaptive
