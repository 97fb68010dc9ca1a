package closed

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A Step is a profile that is composed Count times. Support is the profile's own, asked once;
// Count is at least 1, and exact as a float64.
type Step struct {
	Profile profiles.Profile
	Support profiles.Support
	Count   int64
}

// Steps are a composition. Their order does not matter, and no two need be different.
type Steps []Step

// Ends returns bounds that hold without any transform: the log-probability of
// an infinite loss with its error, and the largest finite total loss (+Inf if
// unbounded), rounded up.
func (s Steps) Ends() (logInf, infErr, top float64) {
	var infinite xmath.Union
	var sum xmath.Sum
	for _, e := range s {
		n := float64(e.Count)
		// Tails are good to a few u of 2 + |log p|, and so is log(1 − p) of them.
		infinite.Add(e.Support.LogPInf, n, 8*xmath.U*(2-e.Support.LogPInf))
		if math.IsInf(e.Support.Max, 1) {
			top = math.Inf(1)
		} else if !math.IsInf(e.Support.Max, -1) {
			sum.AddProduct(n, e.Support.Max+e.Support.LossErr)
		}
	}
	if !math.IsInf(top, 1) {
		top = xmath.Up(sum.Value(), 2)
		if x, ok := s.exactTop(); ok {
			top = x
		}
	}
	logInf, infErr = infinite.Log()
	return logInf, infErr, top
}

// exactTop is the largest total loss where no rounding is in it: of declared
// losses of one kind, whose sum is a float64.
func (s Steps) exactTop() (top float64, ok bool) {
	if len(s) != 1 {
		return 0, false
	}
	e := s[0]
	d, ok := e.Profile.(*profiles.Discrete)
	if !ok || len(d.Atoms()) == 0 || e.Support.LossErr != 0 {
		return 0, false
	}
	n := float64(e.Count)
	top = n * e.Support.Max
	return top, math.FMA(n, e.Support.Max, -top) == 0
}

// LossErr is the total displacement of losses that rounding can cause.
func (s Steps) LossErr() float64 {
	x := 0.0
	for _, e := range s {
		x += float64(e.Count) * e.Support.LossErr
	}
	// A sum of n positive products rounds by (n + 1)u of itself at most; 1e-12 covers 4000 kinds.
	return x * (1 + max(1e-12, 2*xmath.U*float64(len(s)+1)))
}

// Lossless reports whether every loss is 0, or there is no step at all.
func (s Steps) Lossless() bool {
	for _, e := range s {
		x := &e.Support
		if x.Max != 0 || x.Min != 0 || !math.IsInf(x.LogPInf, -1) || !math.IsInf(x.LogQInf, -1) {
			return false
		}
	}
	return true
}

// Certain reports whether some loss is infinite, whatever happens: no rounding is in that.
func (s Steps) Certain() bool {
	for _, e := range s {
		if e.Support.LogPInf == 0 && math.IsInf(e.Support.Max, -1) {
			return true
		}
	}
	return false
}

// Supremum returns bounds of ε(0), the largest total loss, whose upper one is top of Ends. From below
// the losses are taken as much too small as rounding may have made them too
// large (Support.Max is rounded up by a few ulps, at most 16).
func (s Steps) Supremum(top float64) (lower, upper float64) {
	if math.IsInf(top, 0) {
		return top, top
	}
	if _, ok := s.exactTop(); ok {
		return top, top
	}
	var low xmath.Sum
	for _, e := range s {
		if !math.IsInf(e.Support.Max, -1) {
			low.AddProduct(float64(e.Count), e.Support.Max-e.Support.LossErr-16*xmath.U*math.Abs(e.Support.Max))
		}
	}
	return xmath.Down(low.Value(), 2), top
}

// Above returns a loss x, for which each step gives up that share of its largest one, and a lower bound of log P(L > x): all
// losses may be next to their largest at once. δ(ε) ≥ P(L > x)(1 − e^{ε−x}) says where δ is still reached.
func (s Steps) Above(share float64) (x, logP float64) {
	var loss, log xmath.Sum
	for _, e := range s {
		n, a := float64(e.Count), e.Support.Max
		if math.IsInf(a, -1) {
			a = 0 // what there is, is infinite
		}
		// Max is rounded up by a few ulps, at most 16.
		a -= (share+16*xmath.U)*math.Abs(a) + math.SmallestNonzeroFloat64
		t := e.Profile.Tails(a, 0)
		if !(t.P-t.Err > math.Inf(-1)) {
			return a, math.Inf(-1)
		}
		loss.AddProduct(n, a)
		loss.AddProduct(n, -e.Support.LossErr)
		log.AddProduct(n, t.P-t.Err)
	}
	return xmath.Down(loss.Value(), 4), xmath.Down(log.Value(), 4) // the difference rounds once, the sums twice
}
