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

// Epsilon returns inf{ε : δ(ε) ≤ delta}, which may be negative. delta is in
// [0, 1]. A cancelled context is returned as an error, soon.
func (s *Sum) Epsilon(ctx context.Context, delta float64) (Result, error) {
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
		if lo == hi {
			return exactly(hi), nil
		}
		r := Result{Lower: lo, Estimate: lo + (hi-lo)/2, Upper: hi, Budget: Budget{RoundOff: hi - lo}}
		return warned(r, s.wide(r))
	}
	if more := math.Exp(logInf + max(4*infErr, 1e-9)); logDelta <= logInf+infErr && more < 1 {
		// Rounding hides whether δ is reached at any finite ε. A larger δ is reached
		// no later.
		r, err := s.Epsilon(ctx, more)
		r.Upper, r.Estimate = math.Inf(1), math.Inf(1)
		if err != nil {
			return r, err
		}
		return warned(r, true)
	}
	floor := xmath.Down(math.Log1p(-delta), 2) // δ(ε) ≥ 1 − e^ε
	var r Result
	if p := s.single(); p != nil {
		lo, hi := closed.Epsilon(p, logDelta, floor, top)
		move := p.Support().LossErr
		r = Result{Lower: lo - move, Estimate: lo + (hi-lo)/2, Upper: hi + move, Budget: Budget{RoundOff: hi - lo + 2*move}}
	} else {
		var err error
		if r, err = s.composeEpsilon(ctx, logDelta, logInf, floor, top); err != nil {
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

// Delta returns δ(eps), for any real eps. A cancelled context is returned as an
// error, soon.
func (s *Sum) Delta(ctx context.Context, eps float64) (Result, error) {
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
	move := s.steps.LossErr()
	if eps-move >= top {
		r := Result{Lower: xmath.ExpDown(logInf - infErr), Estimate: math.Exp(logInf), Upper: min(1, xmath.ExpUp(logInf+infErr))}
		return warned(r, s.wideDelta(r))
	}
	var r Result
	if p := s.single(); p != nil {
		lo, v, hi := closed.Delta(p, eps, max(move, p.Support().LossErr))
		r = Result{Lower: xmath.ExpDown(lo), Estimate: math.Exp(v), Upper: xmath.ExpUp(hi)}
		r.Budget.RoundOff = r.Upper - r.Lower
	} else {
		var err error
		if r, err = s.composeDelta(ctx, eps, logInf); err != nil {
			return Result{}, err
		}
	}
	// No two laws have less; a list of losses from below, whose masses were made a little smaller, may.
	least := max(0, xmath.Down(-math.Expm1(eps), 2))
	r.Lower = max(r.Lower, least)
	r.Upper = min(max(r.Upper, least), 1)
	if eps < top && !math.IsInf(top, 1) {
		// No finite loss is above top: δ(ε) ≤ p∞ + 1 − e^{ε−top}.
		x := xmath.Log(-math.Expm1(xmath.Down(eps-top, 1)))
		r.Upper = min(r.Upper, xmath.ExpUp(xmath.LogAdd(logInf+infErr, x)+4*xmath.U))
	}
	return warned(r, s.wideDelta(r))
}

// Proves reports whether a Chernoff bound alone shows δ(eps) ≤ delta. It costs
// far less than Delta; false says nothing, as it may once ctx is done.
func (s *Sum) Proves(ctx context.Context, eps, delta float64) bool {
	if !(delta > 0) || math.IsInf(eps, 0) || math.IsNaN(eps) || len(s.steps) == 0 {
		return false
	}
	if _, _, top := s.steps.Ends(); eps-s.steps.LossErr() < top {
		if proved, ok := s.chernoff(eps-s.steps.LossErr(), xmath.Log(delta)); ok {
			return proved
		}
	}
	return s.lattices.Proves(s.newMeter(ctx), eps, delta, s.opts.Relative)
}
