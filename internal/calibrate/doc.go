// Package calibrate looks for the value of a quantity at which a cost meets a budget: the
// least costly value whose neighbour is over it, with the proof of both.
//
// It knows nothing of what is asked but this: the cost is an interval, at an accuracy that
// may or may not be reached; it falls, or nearly so, as the quantity moves to its safer side;
// and an evaluation takes far longer than anything here. That the value found meets the
// budget rests on its interval alone; that it is extreme rests on the cost being monotone.
//
// Do not use it for roots of functions that are cheap to evaluate: it spends much thought on
// each evaluation.
package calibrate
