package selection

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// repeats returns how often a test repeats: few, or all with SLOW=2.
func repeats(few, all int) int {
	if slow.All() {
		return all
	}
	return few
}

// near fails unless got is within tol of want, relative to max(1, |want|).
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*max(1, math.Abs(want))) {
		t.Errorf("%s = %.17g, want %.17g (difference %g)", what, got, want, got-want)
	}
}

// relNear fails unless got is within a relative tol of want.
func relNear(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Abs(want)) {
		t.Errorf("%s = %.17g, want %.17g (relative %g)", what, got, want, got/want-1)
	}
}

// upper fails unless got is in [want, want(1+tol)] up to the rounding of the
// printed reference, refErr relative.
func upper(t *testing.T, what string, got, want, refErr, tol float64) {
	t.Helper()
	if !(got >= want*(1-refErr) && got <= want*(1+tol)) {
		t.Errorf("%s = %.17g, want in [%.17g, +%g relative]", what, got, want, tol)
	}
}

// bestLaw returns the law of the best of K runs by enumeration: the base's
// masses in ascending order of score; the first entry is "no outcome".
func bestLaw(l Law, q []float64) []float64 {
	out := []float64{l.PMF(0)}
	cum, last := 0.0, l.PMF(0)
	for i, x := range q {
		cum += x
		v := 1.0
		if i < len(q)-1 {
			v = l.PGF(cum)
		}
		out = append(out, v-last)
		last = v
	}
	return out
}

// firstLaw returns the law of the first outcome above a threshold: "no outcome"
// first, then the accepted ones, whose masses are given.
func firstLaw(l Law, accepted []float64) []float64 {
	p1 := 0.0
	for _, x := range accepted {
		p1 += x
	}
	out := []float64{l.PGF(1 - p1)}
	for _, x := range accepted {
		out = append(out, x*l.Hit(p1)/p1)
	}
	return out
}

func maxDivergence(p, q []float64) float64 {
	d := 0.0
	for i := range p {
		if p[i] > 0 {
			d = max(d, math.Log(p[i]/q[i]))
		}
	}
	return d
}

func hockeyStick(p, q []float64, eps float64) float64 {
	d := 0.0
	for i := range p {
		d += max(0, p[i]-math.Exp(eps)*q[i])
	}
	return d
}

func renyi(p, q []float64, lambda float64) float64 {
	s := 0.0
	for i := range p {
		if p[i] > 0 {
			s += math.Exp(lambda*math.Log(p[i]) + (1-lambda)*math.Log(q[i]))
		}
	}
	return math.Log(s) / (lambda - 1)
}

// exactBound is the profile of a pair of discrete distributions, both ways.
func exactBound(p, q []float64) Bound {
	return func(eps float64) float64 {
		d := max(hockeyStick(p, q, eps), hockeyStick(q, p, eps))
		return min(0, math.Log(d*(1+1e-15)))
	}
}

func exactCurve(p, q []float64) rdp.Curve {
	return rdp.Func(func(lambda float64) float64 {
		if math.IsInf(lambda, 1) {
			return max(maxDivergence(p, q), maxDivergence(q, p))
		}
		return max(0, renyi(p, q, lambda), renyi(q, p, lambda))
	})
}

func gaussianBound(sigma float64) Bound { return profileBound(must(profiles.NewGaussian(sigma))) }

// profileBound is the larger one of the two directions of p.
func profileBound(p profiles.Profile) Bound {
	return CandidateOf(profiles.NewBounds("candidate", profiles.AddRemove, p)).Bound()
}

func gaussianCurve(sigma float64) rdp.Curve {
	return rdp.Func(func(lambda float64) float64 { return lambda / (2 * sigma * sigma) })
}
