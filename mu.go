package accountant

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A GDP says how much Gaussian differential privacy a plan has, at a tolerance.
type GDP struct {
	// Mu is the least μ for which every test with a false-positive rate x has at most
	// the power that it could have under μ-GDP, plus Tolerance.
	Mu        Range
	Tolerance float64
	// Regret is the most by which μ-GDP, at Mu.Upper, overstates δ at any ε (which is the
	// power of tests at any false-positive rate): at most that is lost by speaking of μ.
	Regret   float64
	Warnings []string
}

// GDP returns μ at a tolerance τ: inf{μ : δ(ε) ≤ δ_μ(ε) + τ for all real ε}, in both
// directions, as a certified interval. τ is in [1e-100, 1); it may be 0 for Gaussian noise
// on the whole data set alone. Without a tolerance no plan with sampled Gaussian noise has a
// smaller μ than without its sampling: far out, where nobody looks, sampling is invisible.
//
// Proof. Where ε < 0, δ(ε) is 1 − e^ε + e^ε·δ'(−ε) with δ' of the other direction, and so is
// δ_μ(ε) of δ_μ(−ε): the condition at −ε for the other direction implies it, as e^ε·τ ≤ τ.
// Lower end: at each ε ≥ 0, δ_μ(ε) ≥ δ(ε) − τ. Upper end: on a grid with δ ≤ τ at its last point, where
// δ falls, the chord in e^ε of the upper ends is above δ (which is convex there), and a
// tangent of δ_μ, Φ(a) − e^ε·Φ(b) with a, b = ±μ/2 − t/μ, below δ_μ; both are affine in
// e^ε, so that it is enough to compare them at both ends of a step (Dong, Roth and Su,
// JRSS-B 2022, section 2.3, for the duality of tests and profiles).
//
// A mass of infinite loss above τ has no μ, which is an error.
func (a *Accountant) GDP(ctx context.Context, tolerance float64) (GDP, error) {
	out := GDP{Tolerance: tolerance}
	exact, gaussian := a.gaussianMu()
	if tolerance == 0 && gaussian {
		out.Mu = exact
		return out, nil
	}
	if !(tolerance >= 1e-100 && tolerance < 1) {
		if tolerance == 0 {
			return out, fault.New("tolerance", "0 is for Gaussian noise on the whole data set alone; a sampled plan has no smaller μ without a tolerance")
		}
		return out, fault.New("tolerance", "%v is not in [1e-100, 1)", tolerance)
	}
	c := &gdpCurve{a: a, tolerance: tolerance}
	end, err := a.Epsilon(ctx, tolerance)
	if err != nil {
		return out, err
	}
	if end.Upper > gdpMaxEpsilon {
		return out, fault.New("tolerance", "%v is below the mass of losses above %v: %w", tolerance, float64(gdpMaxEpsilon), errNoMu)
	}
	last := max(0, end.Upper)
	var grid []float64
	for i := range gdpPoints + 1 {
		grid = append(grid, last*float64(i)/gdpPoints)
	}
	if last == 0 {
		grid = []float64{0}
	}
	if err := c.add(ctx, grid); err != nil {
		return out, err
	}
	// δ at the last point may be above τ by what an interval is wide.
	for i := 0; c.points[len(c.points)-1].Upper > tolerance; i++ {
		if i > 20 {
			return out, fault.New("tolerance", "%v is smaller than what can be proved of δ here", tolerance)
		}
		last += max(1e-9, 1e-6*last) * math.Ldexp(1, i)
		if err := c.add(ctx, []float64{last}); err != nil {
			return out, err
		}
	}
	for round := 0; ; round++ {
		out.Mu = c.bounds()
		if gaussian {
			out.Mu.Upper = min(out.Mu.Upper, exact.Upper)
		}
		more := c.refine((out.Mu.Lower + out.Mu.Upper) / 2)
		if round == gdpRounds || len(more) == 0 || out.Mu.Upper-out.Mu.Lower <= gdpAccuracy*out.Mu.Upper {
			break
		}
		if err := c.add(ctx, more); err != nil {
			return out, err
		}
	}
	if math.IsInf(out.Mu.Upper, 1) {
		return out, fault.New("tolerance", "%v: %w", tolerance, errNoMu)
	}
	out.Mu.Estimate = (out.Mu.Lower + out.Mu.Upper) / 2
	out.Regret = c.regret(out.Mu.Upper)
	out.Warnings = c.warnings
	return out, nil
}

// errNoMu is of a plan that no μ describes at a tolerance.
var errNoMu = errors.New("no μ is large enough")

// Where to look, and how finely; none of these proves anything.
const (
	gdpPoints     = 64
	gdpRounds     = 5
	gdpAccuracy   = 1e-5
	gdpMaxEpsilon = 600
	gdpMaxMu      = 2e3
)

// gaussianMu returns √Σμ² if all that was added is Gaussian noise on the whole data set: as an
// upper end that of what dominates, as a lower end that of what is attained.
func (a *Accountant) gaussianMu() (Range, bool) {
	if len(a.aimed) > 0 { // which is apart from what is added, and sampled
		return Range{}, false
	}
	lower, upper := 0.0, 0.0
	for _, r := range a.added {
		d := r.m.Directions[0]
		g, ok := d.Upper.(profiles.Gaussian)
		if !ok {
			return Range{}, false
		}
		upper += float64(r.count) / g.NoiseMultiplier() / g.NoiseMultiplier()
		if g, ok := d.Lower.(profiles.Gaussian); ok {
			lower += float64(r.count) / g.NoiseMultiplier() / g.NoiseMultiplier()
		}
	}
	// Nine roundings of each term, and one for each sum; the root halves them.
	slack := float64(len(a.added)+12) * xmath.U
	out := Range{Lower: math.Sqrt(lower) * (1 - slack), Upper: math.Sqrt(upper) * (1 + slack)}
	out.Estimate = (out.Lower + out.Upper) / 2
	return out, true
}

// A gdpCurve holds points of the profile, the worse direction at each, ascending in ε ≥ 0.
type gdpCurve struct {
	a         *Accountant
	tolerance float64
	points    []CurvePoint
	warnings  []string
}

func (c *gdpCurve) add(ctx context.Context, epsilons []float64) error {
	points, err := c.a.DeltaCurve(ctx, epsilons)
	if err != nil {
		return err
	}
	for _, p := range points {
		for _, w := range p.Warnings {
			if !slices.Contains(c.warnings, w) {
				c.warnings = append(c.warnings, w)
			}
		}
		p.Lower, p.Upper = max(0, p.Lower), min(1, p.Upper)
		c.points = append(c.points, p)
	}
	slices.SortFunc(c.points, func(p, q CurvePoint) int {
		switch {
		case p.At < q.At:
			return -1
		case p.At > q.At:
			return 1
		}
		return 0
	})
	return nil
}

// bounds returns the best interval that the points prove.
func (c *gdpCurve) bounds() Range {
	lower := 0.0
	for _, p := range c.points {
		// The δ of the Gaussian mechanism grows with μ.
		want := xmath.Down(p.Lower-c.tolerance, 1)
		below := func(mu float64) bool {
			_, up := gaussianDelta(mu, p.At)
			return up < want
		}
		if want > 0 && below(max(lower, 1e-9)) {
			lower = lastMu(max(lower, 1e-9), below)
		}
	}
	if c.points[0].Upper <= c.tolerance {
		return Range{} // μ = 0 will do
	}
	upper := math.Inf(1)
	// Whatever passes is an upper bound; those that pass are about an interval.
	fails := func(mu float64) bool { return len(c.failing(mu, true)) > 0 }
	if !fails(gdpMaxMu) {
		low, high := max(lower, 1e-9), gdpMaxMu
		for range 60 {
			mid := math.Sqrt(low * high)
			if high-low <= 1e-9*high {
				break
			}
			if fails(mid) {
				low = mid
			} else {
				high = mid
			}
		}
		upper = high
	}
	return Range{Lower: lower, Upper: upper}
}

// lastMu returns a μ for which a property holds that small ones have and large ones lack.
func lastMu(low float64, holds func(float64) bool) float64 {
	high := float64(gdpMaxMu)
	for range 60 {
		mid := math.Sqrt(low * high)
		if mid <= low || mid >= high {
			break
		}
		if holds(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// failing returns the steps of the grid, by their first point, on which the points do not
// prove δ ≤ δ_μ + τ; only the first if one is enough.
func (c *gdpCurve) failing(mu float64, one bool) (steps []int) {
	for i := 1; i < len(c.points); i++ {
		p, q := c.points[i-1], c.points[i]
		proved := false
		for _, t := range []float64{0.5, 0.25, 0.75} {
			at := p.At + t*(q.At-p.At)
			if tangentBelow(mu, at, p.At)+c.tolerance >= xmath.Up(p.Upper, 1) && tangentBelow(mu, at, q.At)+c.tolerance >= xmath.Up(q.Upper, 1) {
				proved = true
				break
			}
		}
		if !proved {
			steps = append(steps, i-1)
			if one {
				break
			}
		}
	}
	return steps
}

// refine returns points that halve the steps which do not prove that mu is an upper bound.
func (c *gdpCurve) refine(mu float64) (more []float64) {
	if !(mu > 0 && mu < gdpMaxMu) {
		mu = 1
	}
	for _, i := range c.failing(mu, false) {
		p, q := c.points[i].At, c.points[i+1].At
		for _, t := range []float64{0.25, 0.5, 0.75} {
			if x := p + t*(q-p); x > p && x < q {
				more = append(more, x)
			}
		}
	}
	return more
}

// tangentBelow returns at e^ε the tangent of δ_μ, as a function of e^ε, at e^t, rounded
// down: Φ(a) − e^ε·Φ(b) with a, b = ±μ/2 − t/μ.
//
// a and b are within 3u·s, s = μ/2 + t/μ; as the hazard of the normal law is below 1 + |x|, and
// log Φ is accurate to a few u times 1 + |x|², so are both terms to 32u·(1 + s² + ε).
func tangentBelow(mu, t, epsilon float64) float64 {
	s := mu/2 + t/mu
	slack := 32 * xmath.U * (1 + s*s + epsilon)
	x := math.Exp(xmath.LogNormalTail(t/mu-mu/2) - slack)
	y := math.Exp(epsilon + xmath.LogNormalTail(t/mu+mu/2) + slack)
	return xmath.Down(x-y, 1)
}

// gaussianDelta returns bounds of δ_μ(ε).
func gaussianDelta(mu, epsilon float64) (lower, upper float64) {
	g, err := profiles.NewGaussian(1 / mu)
	if err != nil {
		return 0, 1
	}
	l, e := g.LogDelta(epsilon)
	// The profile's μ is within 2u of mu, and log δ changes by at most (1+s²)·that, with
	// s = ε/μ + μ, twice over.
	s := epsilon/mu + mu
	e += 16 * xmath.U * (1 + s*s)
	return math.Exp(l - e), math.Exp(l + e)
}

// regret returns a bound of sup δ_μ − δ over ε ≥ 0. On a step δ_μ is at most its chord in
// e^ε. δ, convex there and falling with a slope of at least −1, is at least the line through
// the two points before it, or after it, drawn with the ends that make it lower.
func (c *gdpCurve) regret(mu float64) float64 {
	n := len(c.points)
	_, worst := gaussianDelta(mu, c.points[n-1].At) // beyond the grid
	x := make([]float64, n)
	above := make([]float64, n)
	for i, p := range c.points {
		x[i] = math.Exp(p.At)
		_, above[i] = gaussianDelta(mu, p.At)
	}
	for i := 0; i+1 < n; i++ {
		// Lines from the left and from the right, as value at x[i] and slope.
		left, slopeL := c.points[i].Lower, -1.0
		if i > 0 && x[i] > x[i-1] {
			slopeL = max(slopeL, (c.points[i].Lower-c.points[i-1].Upper)/(x[i]-x[i-1]))
		}
		right, slopeR := c.points[i+1].Lower, 0.0
		if i+2 < n && x[i+2] > x[i+1] {
			slopeR = min(0, (c.points[i+2].Upper-c.points[i+1].Lower)/(x[i+2]-x[i+1]))
		}
		width := x[i+1] - x[i]
		l := func(t float64) float64 { return left + slopeL*t*width }
		r := func(t float64) float64 { return right - slopeR*(1-t)*width }
		chord := func(t float64) float64 { return above[i] + t*(above[i+1]-above[i]) }
		gap := func(t float64) float64 { return chord(t) - max(l(t), r(t), c.points[i+1].Lower) }
		worst = max(worst, gap(0), gap(1))
		// The lower of affine functions is largest at an end or where two of them cross.
		for _, f := range [][2]func(float64) float64{{l, r}, {l, func(float64) float64 { return c.points[i+1].Lower }}} {
			d0, d1 := f[0](0)-f[1](0), f[0](1)-f[1](1)
			if t := d0 / (d0 - d1); t > 0 && t < 1 {
				worst = max(worst, gap(t))
			}
		}
	}
	return min(1, max(0, worst)*(1+1e-9)+1e-14)
}
