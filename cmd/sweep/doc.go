// Package sweep asks one question about many plans: the plans of a grid, or a file with a plan on
// each line. It returns the answers in the order of the plans, keeps a bounded number of plans at a
// time, uses every core, and its answers depend on the plans and the question alone: not on the
// number of cores, nor on where an earlier run was stopped.
//
// Use it where there are thousands of plans. Do not use it for one plan: an accountant.Accountant
// answers about it, and for the curve of one plan against its length there is StepsCurve.
//
// Plans that differ in their counts alone share a running total: the longer one is the shorter
// one with more runs. Those that share it are chosen inside of windows of the sequence
// of plans, which begin at fixed places, so that a run that goes on in the middle of a window
// has the same totals with the same history as one that did not stop.
package sweep
