// Package closed answers what needs no engine. That is one run of one mechanism, whose tails are
// known, compositions with few enough different losses to list, and the ends of the loss of every
// composition.
//
// It assumes profiles whose tails keep their promises (profiles.Profile). Every bound that it
// returns holds in floating point as well.
//
// Do not use it to choose an engine: fourier does.
package closed
