// Options and answers of Optimize.

package darrm

// Options of Optimize.
type Options struct {
	// Free drops the rule that clearer majorities are answered at least as
	// truthfully. The optimum gains 4.05 % of the objective at 3 mechanisms, ε = 2
	// and allowance 1, the most seen, and nothing or little where ε is small; it
	// loses its shape.
	Free bool
	// Progress, if set, is called after each round of the linear program with the
	// excess of its worst constraint; 0 or less is the end.
	Progress func(round int, excess float64)
}

// A Result is an optimised noise function with its proof.
type Result struct {
	Gamma Gamma
	// Value is the objective of Gamma and Best that of the noise-free majority;
	// for TrueError they are one minus the average error.
	Value, Best float64
	Certificate Certificate
	// Bound is at least the objective of every noise function that Optimize looks
	// for, and Gap how far Value may be below the largest one: Bound − Value. A
	// linear program solved to its end leaves a Gap of rounding errors; one that was
	// not says by Gap what that can have cost. The privacy of Gamma is certified
	// whatever the Gap.
	Bound, Gap float64
	// Rounds and Rows count the linear programs solved and the corner constraints
	// they needed; zero if none was.
	Rounds, Rows int
}
