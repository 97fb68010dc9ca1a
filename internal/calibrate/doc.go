// Package calibrate looks for the value of a quantity at which a cost meets a budget. It returns
// the least costly value whose neighbour is over it, with the proof of both.
//
// It knows only this of the cost. The cost is an interval, at an accuracy that may or may not be
// reached. It falls, or nearly so, as the quantity moves to its safer side. An evaluation takes far
// longer than anything here. That the value found meets the budget rests on its interval alone.
// That it is extreme rests on the cost being monotone.
//
// Do not use it for roots of functions that are cheap to evaluate: each evaluation is chosen with
// much computation.
package calibrate
