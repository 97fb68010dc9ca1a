// Intervals without a story.

package fourier

// A Range is a certified interval of a number, with a best guess.
type Range struct{ Lower, Estimate, Upper float64 }

// Max returns the interval of the larger of two numbers.
func (r Range) Max(s Range) Range {
	return Range{max(r.Lower, s.Lower), max(r.Estimate, s.Estimate), max(r.Upper, s.Upper)}
}

// Min returns the interval of the smaller of two numbers.
func (r Range) Min(s Range) Range {
	return Range{min(r.Lower, s.Lower), min(r.Estimate, s.Estimate), min(r.Upper, s.Upper)}
}

// From returns the interval of x less the number.
func (r Range) From(x float64) Range { return Range{x - r.Upper, x - r.Estimate, x - r.Lower} }
