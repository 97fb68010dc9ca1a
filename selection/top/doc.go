// Package top publishes the m best of a random number of private runs, in their order.
//
// It has the conditions of package selection, of which it is the case m > 1: independent
// runs of one mechanism, scores that are paid for, and a number of runs that stays secret;
// but where there are fewer than m runs all are published, and so their number.
//
// Files, each of which uses only those below it:
//
//	run.go    the runs
//	price.go  what they cost
package top
