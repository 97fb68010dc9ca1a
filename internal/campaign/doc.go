// Command campaign attacks the accountant with random plans,
//
//	go run ./internal/campaign -seed 1 -n 100000
//
// and reports each plan whose answer contradicts something that must hold, shrunk, as a plan
// file. Plans are drawn over mechanisms, sampling schemes, relations, counts, persons, δ down to
// 1e-300, accuracies and work limits. An answer is held against
//
//   - itself: ends in order, no NaN, as narrow as asked or a warning, within the deadline;
//   - the truth to hundreds of bits, where the plan has one in closed form (truth.go);
//   - every data set of a tiny sampler (tiny.go);
//   - the other engine, and laws that relate it to the answer to another plan (laws.go).
//
// It assumes nothing of the accountant but that the two ends of an interval claim to enclose the
// truth, so that two intervals about the same number intersect and an order of two numbers is
// one of a lower end and an upper end. The truth is independent code over math/big. The same
// seed draws the same plans and the same checks, on any number of cores; -only repeats one.
//
// Do not take the number of checks for a proof: it says what was tried.
//
// Files, each of which uses only those below it:
//
//	main.go      flags, and the exit status
//	parts.go     a long campaign, which goes on after an end
//	report.go    the table of what was tried
//	run.go       all cases, on all cores
//	shrink.go    a smaller plan that fails likewise
//	check.go     one case: the plan, its answer, the checks
//	laws.go      answers to two plans that must agree, or lie in order
//	tiny.go      the samplers of up to five records, enumerated
//	truth.go     plans whose cost is known in closed form
//	laplace.go   sums of Laplace losses, exactly
//	finite.go    lists of outcomes, exactly
//	ask.go       a question, and what asks it
//	generate.go  random plans
//	draw.go      random mechanisms and samplings
//	plan.go      plans as data that can be changed, and their text
package main
