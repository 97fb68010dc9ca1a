// ε(δ) narrowed by what is proved at other δ.

package fourier

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// worthOthers is the relative width of an interval from which on a larger δ may have a better lower
// end: its own ε is smaller than this one, mostly by more than that. No bound depends on it.
const worthOthers = 1e-3

// fromOthers narrows an interval of ε(δ), which does not increase with δ, by what is
// proved at others: a lower end at a larger δ, an upper end at a smaller one. One
// that is far too wide is worth asking for the former.
func (s *Sum) fromOthers(m *meter.Meter, r Result, logDelta, logInf, floor, top float64) (Result, error) {
	tight := func(r Result) bool {
		return r.Upper-r.Lower <= max(max(20*s.opts.Relative, worthOthers)*math.Abs(r.Upper), 20*s.opts.Absolute)
	}
	if !tight(r) {
		for _, part := range []float64{0.9, 0.75, 0.5, 0.25} {
			larger := part * logDelta
			if !(larger > logInf+1) || larger > -2 {
				continue
			}
			// The floor of δ is none of a larger one.
			least := xmath.Down(math.Log1p(-xmath.ExpUp(larger)), 2)
			q, err := s.latticeEpsilon(m, s.opts.Relative, larger, logInf, least, top)
			if err != nil {
				return Result{}, err
			}
			s.proved = append(s.proved, fact{larger, q.Lower, q.Upper})
			if tight(q) || m.Work <= 0 {
				break
			}
		}
	}
	for _, f := range s.proved {
		if f.logDelta >= logDelta {
			r.Lower = max(r.Lower, f.lower)
		}
		if f.logDelta <= logDelta {
			r.Upper = min(r.Upper, f.upper)
		}
	}
	if r.Upper-r.Lower <= max(s.opts.Relative*min(math.Abs(r.Lower), math.Abs(r.Upper)), s.opts.Absolute) {
		r.Warnings = nil
	}
	r = r.Narrowed()
	const kept = 64
	if len(s.proved) >= kept {
		s.proved = slices.Delete(s.proved, 0, kept/2)
	}
	s.proved = append(s.proved, fact{logDelta, r.Lower, r.Upper})
	return r, nil
}
