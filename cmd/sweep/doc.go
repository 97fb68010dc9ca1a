// Package sweep asks one question about many plans: the plans of a grid, or a file with a plan on
// each line. Answers come in the order of the plans. It keeps a bounded number of plans at a time
// and uses every core. Answers depend on the plans and the question alone, not on the number of
// cores or on earlier interruptions.
//
// Use it where there are thousands of plans. Do not use it for one plan: an accountant.Accountant
// answers about that, and StepsCurve gives the curve of one plan against its length.
//
// Plans that differ in their counts alone share a running total, because the longer one is the
// shorter one with more runs. They share it inside of windows of the sequence, which begin at fixed
// places. So a run that goes on in the middle of a window has the same totals as one that did not
// stop.
package sweep
