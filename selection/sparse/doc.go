// Package sparse holds the searches of Liu and Talwar (STOC 2019) that find a threshold
// or the first good mechanism of a stream: sparse vector with exact probabilities
// ([Vector]) and with sampled ones ([Sampled]), the search for a threshold
// ([ThresholdSearch]), the selection near 2ε that is built on it ([TwoStage]), and the
// exponential mechanism with dummy classes ([DummyExponential]).
//
// Do not use it to choose the best of several private candidates: [selection.Best] costs
// less and needs no threshold. What is here shows what approaching 2ε takes; the numbers
// of calls are out of reach for all but toy parameters, and Run refuses beyond a limit.
//
// Every mechanism that is searched among must be pure, ε₁-DP, with fresh randomness for
// each call. Noise is exact: no outcome depends on how a float64 rounds it. Methods that
// draw take a source of randomness, which must be as secret as the data; nil is the
// operating system's.
//
// Files, each of which uses only those below it:
//
//	twostage.go    a search for a threshold, then the first outcome above it
//	threshold.go   a threshold that a mechanism reaches often enough
//	sampled.go     the first mechanism of a stream, by sampling each
//	vector.go      the first mechanism of a stream, by its probability
//	dummy.go       one of several scores, or a dummy
//	limits.go      calls, ranges, noise and generators
package sparse
