// Package closed answers what needs no engine: one run of one mechanism, whose tails are
// known; compositions with so few different losses that they can be listed; and, of every
// composition, the ends of its loss.
//
// It assumes profiles whose tails keep their promises (profiles.Profile). Every bound that it
// returns holds in floating point as well.
//
// Do not use it to choose an engine: fourier does.
package closed
