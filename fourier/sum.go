// The questions ε(δ) and δ(ε): what is known without an engine, and the bounds that hold
// whatever an engine answers.
//
// They assume steps that were fixed in advance. They return certified intervals, or an error for bad
// input and for a cancelled context.

package fourier

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/closed"
	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// epsilon is Epsilon without the elementary bounds (elementary.go).
func (s *Sum) epsilon(ctx context.Context, delta float64) (Result, error) {
	if err := meter.Cancelled(ctx); err != nil {
		return Result{}, err
	}
	if !(delta >= 0 && delta <= 1) {
		return Result{}, fault.New("delta", "%v is not in [0, 1]", delta)
	}
	logDelta := xmath.Log(delta)
	if delta == 1 {
		return exactly(math.Inf(-1)), nil
	}
	logInf, infErr, top := s.steps.Ends()
	// δ(ε) ≥ 1 − e^ε of any two laws. The largest loss of a law from below, which lacks mass, may be smaller.
	if delta == 0 {
		top = max(top, 0)
	} else {
		top = max(top, xmath.Up(math.Log1p(-delta), 2))
	}
	switch {
	case s.steps.Lossless():
		// δ(ε) = 1 − e^ε below 0, and 0 from 0 on.
		x := math.Log1p(-delta)
		if delta == 0 {
			return exactly(x), nil
		}
		return checked(Result{Lower: xmath.Down(x, 2), Estimate: x, Upper: xmath.Up(x, 2)})
	case logDelta < logInf-infErr:
		return exactly(math.Inf(1)), nil
	case math.IsInf(logDelta, -1):
		lo, hi := s.steps.Supremum(top)
		if lo = max(lo, 0); lo == hi {
			return exactly(hi), nil
		}
		r := Result{Lower: lo, Estimate: lo + (hi-lo)/2, Upper: hi, Budget: Budget{RoundOff: hi - lo}}
		return warned(r, s.wide(r))
	}
	if more := max(math.Exp(logInf+max(4*infErr, 1e-9)), xmath.Up(delta, 1)); logDelta <= logInf+infErr && more < 1 {
		// Rounding hides whether δ is reached at any finite ε. A larger δ is reached
		// no later.
		r, err := s.epsilon(ctx, more)
		r.Upper, r.Estimate = math.Inf(1), math.Inf(1)
		if err != nil {
			return r, err
		}
		return warned(r, true)
	}
	floor := xmath.Down(math.Log1p(-delta), 2) // δ(ε) ≥ 1 − e^ε
	var r Result
	if !s.affords(ctx) {
		r = s.untold(floor, top)
	} else if p := s.single(); p != nil {
		lo, hi := closed.Epsilon(p, logDelta, floor, top)
		move := p.Support().LossErr
		r = Result{Lower: lo - move, Estimate: lo + (hi-lo)/2, Upper: hi + move, Budget: Budget{RoundOff: hi - lo + 2*move}}
	} else {
		var err error
		if r, err = s.askEpsilon(ctx, logDelta, logInf, floor, top); err != nil {
			return Result{}, err
		}
	}
	r.Upper = min(top, xmath.Up(r.Upper, 2))
	r.Lower = max(floor, xmath.Down(r.Lower, 2))
	if logDelta <= logInf+infErr {
		r.Upper = math.Inf(1)
	}
	return warned(r, s.wide(r))
}

// farthest is an ε up to which nothing overflows. Beyond it, δ is at most that at farthest, and at least that of infinite losses.
const farthest = 1e100

// delta is Delta without the elementary bounds.
func (s *Sum) delta(ctx context.Context, eps float64) (Result, error) {
	if err := meter.Cancelled(ctx); err != nil {
		return Result{}, err
	}
	if math.IsNaN(eps) || math.IsInf(eps, 0) {
		return Result{}, fault.New("epsilon", "%v is not a finite number", eps)
	}
	logInf, infErr, top := s.steps.Ends()
	if s.steps.Lossless() {
		if eps >= 0 {
			return exactly(0), nil
		}
		x := -math.Expm1(eps)
		return checked(Result{Lower: xmath.Down(x, 2), Estimate: x, Upper: min(1, xmath.Up(x, 2))})
	}
	if logInf == 0 { // an infinite loss is certain, or all but that
		r := exactly(1)
		if !s.steps.Certain() {
			r.Lower = xmath.Down(1, 1)
		}
		return r, nil
	}
	if eps < -1e9 { // δ(ε) ≥ 1 − e^ε
		return checked(Result{Lower: xmath.Down(1, 1), Estimate: 1, Upper: 1})
	}
	move := s.steps.LossErr()
	// No two laws have less; a list of losses from below, whose masses were made a little smaller, may.
	least, leastUp := 0.0, 0.0
	if eps < 0 {
		least, leastUp = xmath.Down(-math.Expm1(eps), 2), min(1, xmath.Up(-math.Expm1(eps), 2))
	}
	if eps-move >= top {
		r := Result{Lower: xmath.ExpDown(logInf - infErr), Estimate: math.Exp(logInf), Upper: min(1, xmath.ExpUp(logInf+infErr))}
		r.Lower, r.Upper = max(r.Lower, least), max(r.Upper, leastUp)
		return warned(r, s.wideDelta(r))
	}
	if eps > farthest {
		r, err := s.delta(ctx, farthest)
		if err != nil {
			return Result{}, err
		}
		r.Lower = min(r.Lower, xmath.ExpDown(logInf-infErr))
		r.Estimate = r.Lower
		return warned(r, s.wideDelta(r))
	}
	var r Result
	if !s.affords(ctx) {
		r = s.untold(0, 1)
	} else if p := s.single(); p != nil {
		lo, v, hi := closed.Delta(p, eps, max(move, p.Support().LossErr))
		r = Result{Lower: xmath.ExpDown(lo), Estimate: math.Exp(v), Upper: xmath.ExpUp(hi)}
		r.Budget.RoundOff = r.Upper - r.Lower
	} else {
		var err error
		if r, err = s.askDelta(ctx, eps, logInf); err != nil {
			return Result{}, err
		}
	}
	r.Lower = max(r.Lower, least)
	// ε is below some loss, as far as is known: δ may be too small for a float64, and is not 0.
	r.Upper = max(r.Upper, math.SmallestNonzeroFloat64)
	if eps < top && !math.IsInf(top, 1) {
		// No finite loss is above top: δ(ε) ≤ p∞ + 1 − e^{ε−top}.
		x := xmath.Log(-math.Expm1(xmath.Down(eps-top, 1)))
		r.Upper = min(r.Upper, xmath.ExpUp(xmath.LogAdd(logInf+infErr, x)+4*xmath.U))
	}
	r.Upper = min(max(r.Upper, leastUp), 1)
	return warned(r, s.wideDelta(r))
}

// Proves reports whether a Chernoff bound alone shows δ(eps) ≤ delta. It costs
// far less than Delta; false says nothing, as it may once ctx is done.
func (s *Sum) Proves(ctx context.Context, eps, delta float64) bool {
	if !(delta > 0) || math.IsInf(eps, 0) || math.IsNaN(eps) || len(s.steps) == 0 {
		return false
	}
	if !s.affords(ctx) {
		return false
	}
	if _, _, top := s.steps.Ends(); eps-s.steps.LossErr() < top {
		if proved, ok := s.chernoff(eps-s.steps.LossErr(), xmath.Log(delta)); ok {
			return proved
		}
	}
	return s.lattices.Proves(s.newMeter(ctx), eps, delta, s.opts.Relative)
}
