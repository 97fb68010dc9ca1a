// Package campaign attacks the accountant with random plans,
//
//	go run ./lab/campaign/run -seed 1 -n 100000
//
// and reports each plan whose answer contradicts something that must hold, shrunk, as a plan file.
// Plans are drawn over mechanisms, sampling schemes, relations, counts, users, δ down to 1e-300,
// accuracies and work limits. An answer is held against
//
//   - itself: ends in order, no NaN, as narrow as asked or a warning, within the deadline;
//   - the truth to hundreds of bits, where the plan has one in closed form;
//   - every data set of a tiny sampler;
//   - the other engine, and laws that relate it to the answer to another plan.
//
// It assumes only that the two ends of an interval claim to enclose the truth. So two intervals
// about the same number intersect, and an order of two numbers is one of a lower end and an upper
// end. The truth is independent code over math/big. The same seed draws the same plans and the same
// checks, on any number of cores; -only repeats one.
//
// Do not take the number of checks for a proof: it says what was tried.
package campaign
