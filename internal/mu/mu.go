// Package mu finds the least μ of Gaussian differential privacy that describes a privacy profile at
// a tolerance τ, from certified values of the profile.
//
// Proof. Where ε < 0, δ(ε) is 1 − e^ε + e^ε·δ'(−ε) with δ' of the other direction. δ_μ(ε) depends
// on δ_μ(−ε) in the same way. So the condition at −ε for the other direction implies it, as e^ε·τ ≤
// τ.
//
// Lower end: at each ε ≥ 0, δ_μ(ε) ≥ δ(ε) − τ.
//
// Upper end: take a grid with δ ≤ τ at its last point, where δ falls. The chord in e^ε of the upper
// ends is above δ, which is convex there. A tangent of δ_μ, Φ(a) − e^ε·Φ(b) with a, b = ±μ/2 − t/μ,
// is below δ_μ. Both are affine in e^ε, so it is enough to compare them at both ends of a step.
// (Dong, Roth and Su, JRSS-B 2022, section 2.3, for the duality of tests and profiles.)
//
// It assumes that the values are certified, the worse of the two directions at each ε. It returns
// an interval, whose upper end is proved on the grid that was asked for.
package mu

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A Point is a certified value of the profile: Lower ≤ δ(At) ≤ Upper.
type Point struct{ At, Lower, Upper float64 }

// An Answer is an interval of the least μ, and Regret the most by which δ of μ = Upper
// overstates δ at any ε.
type Answer struct{ Lower, Upper, Regret float64 }

// ErrNone is of a profile that no μ describes at a tolerance.
var ErrNone = errors.New("no μ is large enough")

// ErrUnproved is of a profile that is known too widely for a tolerance, such as after little work.
var ErrUnproved = errors.New("smaller than what can be proved of δ here")

// ErrEnough is returned by what Find asks for several more values when none are to be had: what the others prove is the answer.
var ErrEnough = errors.New("no more values of the profile are to be had")

// MaxEpsilon and MaxMu bound the losses and the μ that are looked at.
const (
	MaxEpsilon = 600
	MaxMu      = 2e3
)

// Where to look, and how finely; none of these proves anything.
const (
	gridPoints = 64 // on which the regret rests; μ has a part of them first, and more where it needs them
	firstShare = 4
	rounds     = 6
	accuracy   = 1e-5
	gain       = 0.05 // of the width that is left; what theory leaves open, no more points close
)

// Find looks for μ at a tolerance. ask returns certified values of δ; end is an upper bound of ε
// at δ = tolerance, most one of μ that is known otherwise.
func Find(tolerance, end, most float64, ask func(epsilons []float64) ([]Point, error)) (out Answer, err error) {
	if end > MaxEpsilon {
		return out, fault.New("tolerance", "%v is below the mass of losses above %v: %w", tolerance, float64(MaxEpsilon), ErrNone)
	}
	c := &curve{ask: ask, tolerance: tolerance}
	last := max(0, end)
	var grid, others []float64
	for i := range gridPoints + 1 {
		if x := last * float64(i) / gridPoints; i%firstShare == 0 && (i == 0 || last > 0) {
			grid = append(grid, x)
		} else if last > 0 {
			others = append(others, x)
		}
	}
	if err := c.add(grid); err != nil {
		return out, err
	}
	// δ at the last point may be above τ by what an interval is wide.
	for i := 0; c.points[len(c.points)-1].Upper > tolerance; i++ {
		if i > 20 {
			return out, fault.New("tolerance", "%v is %w", tolerance, ErrUnproved)
		}
		last += max(1e-9, 1e-6*last) * math.Ldexp(1, i)
		if err := c.add([]float64{last}); err != nil {
			return out, err
		}
	}
	width := math.Inf(1)
	for round := 0; ; round++ {
		out.Lower, out.Upper = c.bounds()
		out.Upper = min(out.Upper, most)
		more := c.refine((out.Lower + out.Upper) / 2)
		if round == rounds || len(more) == 0 || out.Upper-out.Lower <= accuracy*out.Upper || round > 1 && !(out.Upper-out.Lower < (1-gain)*width) {
			break
		}
		width = out.Upper - out.Lower
		if err := c.add(more); err == ErrEnough {
			break
		} else if err != nil {
			return out, err
		}
	}
	if math.IsInf(out.Upper, 1) {
		return out, fault.New("tolerance", "%v: %w", tolerance, ErrNone)
	}
	others = slices.DeleteFunc(others, func(x float64) bool { // refine may have had it
		return slices.ContainsFunc(c.points, func(p Point) bool { return math.Abs(p.At-x) < 1e-9*x })
	})
	if err := c.add(others); err == nil {
		out.Lower, out.Upper = c.bounds()
		out.Upper = min(out.Upper, most)
	} else if err != ErrEnough {
		return out, err
	}
	out.Regret = c.regret(out.Upper)
	return out, nil
}

// A curve holds points of the profile, ascending in ε ≥ 0.
type curve struct {
	ask       func(epsilons []float64) ([]Point, error)
	tolerance float64
	points    []Point
}

func (c *curve) add(epsilons []float64) error {
	points, err := c.ask(epsilons)
	if err != nil {
		return err
	}
	for _, p := range points {
		c.points = append(c.points, Point{p.At, max(0, p.Lower), min(1, p.Upper)})
	}
	slices.SortFunc(c.points, func(p, q Point) int { return cmp.Compare(p.At, q.At) })
	// δ is convex in e^ε: a value that little work has proved is not to stand in the way of those beside it.
	x, up := make([]float64, len(c.points)), make([]float64, len(c.points))
	for i, p := range c.points {
		x[i], up[i] = p.At, p.Upper
	}
	hull := xmath.LowerHull(x, up)
	for k := 1; k < len(hull); k++ {
		l, r := hull[k-1], hull[k]
		for i := l + 1; i < r; i++ {
			share := math.Expm1(x[i]-x[r]) / math.Expm1(x[l]-x[r])
			c.points[i].Upper = min(up[i], xmath.Up(share*up[l]+(1-share)*up[r], 8))
		}
	}
	return nil
}

// bounds returns the best interval that the points prove.
func (c *curve) bounds() (lower, upper float64) {
	for _, p := range c.points {
		// The δ of the Gaussian mechanism grows with μ.
		want := xmath.Down(p.Lower-c.tolerance, 1)
		below := func(mu float64) bool {
			return gaussianDelta(mu, p.At) < want
		}
		if want > 0 && below(max(lower, 1e-9)) {
			lower, _ = xmath.BisectLog(max(lower, 1e-9), MaxMu, 60, below)
		}
	}
	if c.points[0].Upper <= c.tolerance {
		return 0, 0 // μ = 0 will do
	}
	upper = math.Inf(1)
	// Whatever passes is an upper bound; those that pass are about an interval.
	fails := func(mu float64) bool { return len(c.failing(mu, true)) > 0 }
	if !fails(MaxMu) {
		// 36 halvings narrow the widest range, e^28, to 4e-10.
		_, upper = xmath.BisectLog(max(lower, 1e-9), MaxMu, 36, fails)
	}
	return lower, upper
}

// failing returns the steps of the grid, by their first point, on which the points do not
// prove δ ≤ δ_μ + τ; only the first if one is enough.
func (c *curve) failing(mu float64, one bool) (steps []int) {
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
func (c *curve) refine(mu float64) (more []float64) {
	if !(mu > 0 && mu < MaxMu) {
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

// gaussianDelta returns δ_μ(ε), rounded up.
func gaussianDelta(mu, epsilon float64) float64 {
	g, err := profiles.NewGaussian(1 / mu)
	if err != nil {
		return 1
	}
	l, e := g.LogDelta(epsilon)
	// The profile's μ is within 2u of mu, and log δ changes by at most (1+s²)·that, with
	// s = ε/μ + μ, twice over.
	s := epsilon/mu + mu
	e += 16 * xmath.U * (1 + s*s)
	return math.Exp(l + e)
}

// regret returns a bound of sup δ_μ − δ over ε ≥ 0. On a step δ_μ is at most its chord in
// e^ε. δ, convex there and falling with a slope of at least −1, is at least the line through
// the two points before it, or after it, drawn with the ends that make it lower.
func (c *curve) regret(mu float64) float64 {
	n := len(c.points)
	worst := gaussianDelta(mu, c.points[n-1].At) // beyond the grid
	x := make([]float64, n)
	above := make([]float64, n)
	for i, p := range c.points {
		x[i] = math.Exp(p.At)
		above[i] = gaussianDelta(mu, p.At)
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
