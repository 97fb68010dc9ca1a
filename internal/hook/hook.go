// Package hook has what a profile, or the laws of a mechanism, may say besides what package profiles
// requires of it: optional methods, which make answers sharper or cheaper. Who asks a profile does
// without them where they are missing.
package hook

import "github.com/dpaccountant/accountant/internal/transform"

// LogDeltaer is implemented by profiles that know δ(ε) without cancellation.
type LogDeltaer interface {
	// LogDelta returns log δ(ε) and a bound on the absolute error of it.
	LogDelta(eps float64) (logDelta, err float64)
}

// A TailDifferencer knows the difference of its two tails without cancellation.
// With losses much below 1 it is much below either tail, and a lattice far finer
// than rounding of the tails would allow can be had.
type TailDifferencer interface {
	// LogTailDifference returns log(P(L > ε) − Q(L > ε)), which is also
	// log(Q(L ≤ ε) − P(L ≤ ε)), and a bound on its absolute error, as Tails has it
	// for all arguments within tol of ε. The error is +Inf where nothing is known.
	LogTailDifference(eps, tol float64) (logDiff, err float64)
}

// A Costly profile is one whose tails take much longer than those of a closed form.
type Costly interface {
	// Cost returns about what the tails at one ε take on top of those of a closed form, in the unit of limits of
	// work, about 40 ns. It decides where a limit ends a question, and proves nothing.
	Cost() float64
}

// Cost returns what a profile says of it as a Costly one; 0 where it does not.
func Cost(profile any) float64 {
	if c, ok := profile.(Costly); ok {
		return c.Cost()
	}
	return 0
}

// A SelfReverser is a profile that can be its own reverse.
type SelfReverser interface {
	// SelfReverse reports whether (Q, P) has the same profile as (P, Q).
	SelfReverse() bool
}

// A Transformer is a profile whose privacy loss has a transform with proved errors, so
// that compositions of it need no lattice.
type Transformer interface {
	// Transform returns the transform; nil if this profile has none.
	Transform() transform.Transform
}

// TransformOf returns the transform of a profile, nil if it has none.
func TransformOf(profile any) transform.Transform {
	if t, ok := profile.(Transformer); ok {
		return t.Transform()
	}
	return nil
}

// A NearlyTransformer is a profile with cheap transforms of losses close to its own: it is
// dominated by upper and dominates lower, and their δ(ε) are within mass of its own, a run,
// at every ε. Take mass well below δ over the number of runs.
type NearlyTransformer interface {
	Transformer
	TransformsWithin(mass float64) (upper, lower transform.Transform)
}

// TransformsOf returns transforms of losses above and below that of a profile, with δ(ε) within mass
// of its own: its exact one twice, if it has one. They are nil if there is none.
func TransformsOf(profile any, mass float64) (upper, lower transform.Transform) {
	if t := TransformOf(profile); t != nil {
		return t, t
	}
	if n, ok := profile.(NearlyTransformer); ok {
		return n.TransformsWithin(mass)
	}
	return nil, nil
}

// An Adaptive is Laws of runs on which more is reached at each ε by an adversary that adapts to what ran before than on
// fixed data. One of a total may be the last.
type Adaptive interface {
	// Gain is about how much more ε that is for so many runs. It decides which one is the last, and proves nothing.
	Gain(runs int64) float64
}

// A Chooser is a mechanism that chooses by noise whose scale is in proportion to 1/ε: calibration turns that as it turns the
// noise multiplier of others.
type Chooser interface{ Chooses() }

// A GaussianLike is the profile of Gaussian noise of a multiplier for other noise, which it dominates.
type GaussianLike interface {
	NoiseMultiplier() float64
	GaussianLike()
}

// A LaplaceLike is the profile of Laplace noise of a multiplier for a mechanism that adds no such noise to a sum.
type LaplaceLike interface {
	NoiseMultiplier() float64
	LaplaceLike()
}
