package profiletest

import (
	"context"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/profiles"
)

// checkTransform: a profile that has a transform has that of the loss whose tails it
// gives.
func checkTransform(t *testing.T, p profiles.Profile) {
	t.Helper()
	tr := hook.TransformOf(p)
	if tr == nil {
		return
	}
	lo, hi := tr.Strip()
	pInf, qInf := tr.Infinite()
	support := p.Support()
	if want := math.Exp(support.LogPInf); math.Abs(pInf-want) > 1e-12*want {
		t.Errorf("transform: P(L=+∞) = %v, the support says %v", pInf, want)
	}
	if want := math.Exp(support.LogQInf); math.Abs(qInf-want) > 1e-12*want {
		t.Errorf("transform: Q(L=−∞) = %v, the support says %v", qInf, want)
	}
	for _, c := range []struct{ s, inf float64 }{{0, pInf}, {-1, qInf}} {
		if k, _, err := tr.Real(c.s); !(math.Abs(k-math.Log1p(-c.inf)) <= err+1e-15*c.inf) {
			t.Errorf("transform: log M(%v) = %v ± %v, want %v", c.s, k, err, math.Log1p(-c.inf))
		}
	}
	// Real points of every size: from where M is next to 1 to where it is large.
	_, kl, _ := tr.Real(0)
	_, back, _ := tr.Reverse().Real(0)
	sharp := false
	for s := 1e-3; s < 1e7 && s < hi/2; s *= 4 {
		k, slope, err := tr.Real(s)
		if math.IsInf(err, 1) || k > 8 {
			break
		}
		checkReverse(t, tr, s)
		checkSlopeOf(t, tr, s, slope)
		sharp = checkMoment(t, p, s, k, err, pInf, qInf, math.Sqrt(math.Abs(kl))) || sharp
		if k > 1e-3 {
			checkLine(t, tr, s)
		}
	}
	// Rare large losses lie in wide cells.
	if !sharp && kl < 1 && max(kl, back) < 3*min(kl, back) && len(support.Atoms) == 0 {
		t.Errorf("transform: no M(s) is checked to 20 %%")
	}
	for _, s := range []float64{-0.25, -0.5, -0.8, -1.4} {
		if s > lo {
			checkReverse(t, tr, s)
		}
	}
}

// checkReverse: M_rev(−1−s) = M(s).
func checkReverse(t *testing.T, tr transform.Transform, s float64) {
	t.Helper()
	k, slope, err := tr.Real(s)
	r, back, rErr := tr.Reverse().Real(-1 - s)
	// −1−s itself rounds.
	if tol := err + rErr + 4e-16*(1+math.Abs(s))*math.Abs(slope); !(math.Abs(k-r) <= tol) {
		t.Errorf("transform: log M(%v) = %v, the reverse has %v at −1−s (tolerance %g)", s, k, r, tol)
	}
	if !(math.Abs(slope+back) <= 1e-6*math.Abs(slope)+1e-12) {
		t.Errorf("transform: K'(%v) = %v, the reverse has %v", s, slope, back)
	}
}

// checkSlopeOf: K is convex, so that its slope is between those of chords.
func checkSlopeOf(t *testing.T, tr transform.Transform, s, slope float64) {
	t.Helper()
	const d = 1e-3
	k, _, e := tr.Real(s)
	left, _, e1 := tr.Real(s * (1 - d))
	right, _, e2 := tr.Real(s * (1 + d))
	tol := 1e-9*math.Abs(slope) + (e+e1+e2)/(s*d)
	if l, r := (k-left)/(s*d), (right-k)/(s*d); slope < l-tol || slope > r+tol {
		t.Errorf("transform: K'(%v) = %v is not between those of its chords, %v and %v", s, slope, l, r)
	}
}

// checkMoment: M(s) − 1 = E_P[φ(L)] − p∞ + s(q∞ − p∞) with φ(l) = e^{sl} − 1 − sl +
// s(e^{−l} − 1 + l), which is 0 at 0 and grows to both sides. The tails give the masses of
// cells, whose ends bound φ. It reports whether the bounds are close to each other.
func checkMoment(t *testing.T, p profiles.Profile, s, k, err, pInf, qInf, size float64) (sharp bool) {
	t.Helper()
	phi := func(l float64) float64 { return ex(s*l) + s*ex(-l) }
	const ratio = 1.04
	support := p.Support()
	least, most := 0.0, 0.0
	first := 1e-2 * min(1, 1/s, size)
	for _, sign := range []float64{1, -1} {
		tail := func(l float64) (mass, rel, logQ float64) { // of losses beyond sign·l
			if sign > 0 {
				x := p.Tails(l, 0)
				return math.Exp(x.P) - pInf, x.Err, x.Q
			}
			x := p.Tails(math.Nextafter(-l, math.Inf(-1)), 0)
			return math.Exp(x.PC), x.ErrC, x.QC
		}
		m, e, _ := tail(0)
		from := 0.0
		for to := first; m > 0; to *= ratio {
			next, e2, logQ := tail(to)
			mass := max(0, m-next)
			slack := m*e + next*e2 + 1e-16*pInf
			least += max(0, mass-slack) * phi(sign*from)
			if v := phi(sign * to); mass+slack > 0 {
				most += (mass + slack) * v
			}
			// Beyond the last loss a tail less its part at infinity may be a rounding, for ever.
			if end := max(sign*support.Min, sign*support.Max); to > end || sign > 0 && next < 1e-300 || sign < 0 && logQ < -60 {
				if to <= end && sign > 0 && s*to > 500 {
					most = math.Inf(1) // e^{sl} makes something of masses below all float64
				}
				break
			}
			m, e, from = next, e2, to
		}
	}
	d := math.Expm1(k) + pInf - s*(qInf-pInf)
	tol := math.Exp(k)*err*2 + 1e-9*math.Abs(d) + 1e-14*(1+s)*(pInf+qInf)
	if !(d >= least-tol && d <= most+tol) {
		t.Errorf("transform: M(%v) − 1 of finite losses is %v, the tails say between %v and %v", s, d, least, most)
	}
	return most < 1.2*least
}

// ex returns e^v − 1 − v.
func ex(v float64) float64 {
	if math.Abs(v) < 1e-4 {
		return v * v / 2 * (1 + v/3)
	}
	return math.Expm1(v) - v
}

// checkLine: log M on a line starts at the real point, has the symmetry of a real
// loss, and is below its bound at every smaller frequency.
func checkLine(t *testing.T, tr transform.Transform, theta float64) {
	t.Helper()
	k, slope, err := tr.Real(theta)
	up, _, _ := tr.Real(theta * 1.01)
	down, _, _ := tr.Real(theta * 0.99)
	width := math.Sqrt(max(1e-12*slope*slope, (up+down-2*k)/(1e-4*theta*theta))) // standard deviation of the tilted loss
	tMax := 6 / width
	l, e := tr.Line(context.Background(), theta, tMax, 1e-12*max(1e-3, k), 1<<15)
	if e != nil {
		return
	}
	re, im, err0 := l.LogM(0)
	if !(math.Abs(re-k) <= err+err0) || math.Abs(im) > err0 {
		t.Errorf("transform: LogM(%v + 0i) = %v + %vi ± %v, log M = %v ± %v", theta, re, im, err0, k, err)
	}
	var ts, res []float64
	for i := range 13 {
		at := tMax * float64(i) / 12
		re, im, e := l.LogM(at)
		if math.IsNaN(re) || math.IsNaN(im) || math.IsNaN(e) {
			t.Errorf("transform: LogM(%v + %vi) = %v + %vi ± %v", theta, at, re, im, e)
		}
		if re-min(e, 1) > k+err && !math.IsInf(e, 1) {
			t.Errorf("transform: log|M(%v + %vi)| = %v is above log M(θ) = %v", theta, at, re, k)
		}
		ts = append(ts, l.Decay(at))
		if math.IsInf(e, 1) {
			res = append(res, math.Inf(-1))
		} else {
			res = append(res, re-e)
		}
	}
	// A bound from t on may lie above that from a smaller t on, which another shifted line gives: each must hold.
	for i := range ts {
		for j := i; j < len(res); j++ {
			if res[j] > ts[i]+1e-14*math.Abs(ts[i]) {
				t.Errorf("transform: log|M| = %v at θ = %v, step %d of 12 to %v, above Decay = %v of step %d", res[j], theta, j, tMax, ts[i], i)
			}
		}
	}
}
