// Package besttest finds how well the best test tells two distributions apart at given
// false-positive rates. It works from certified values of their privacy profile.
//
// A test that says "P" on the set S has the false-positive rate Q(S) and the true-positive rate
// P(S). For one direction with h(x) = sup_S P(S) − x·Q(S) = δ(log x),
//
//	1 − f(α) = sup{P(S): Q(S) ≤ α} = inf over x > 0 of h(x) + αx
//
// (Neyman and Pearson; the duality of Dong, Roth and Su 2022, section 2.3), over all real ε = log
// x. Where x < 1, h is read off the reverse pair: h(x) = 1 − x + x·δ_rev(−log x).
//
// A finite grid of x proves both ends. Upper: the infimum is at most its value at any x. So each
// grid point with the upper end of its δ bounds the power of every attacker. Lower: g(x) = h(x) +
// αx is convex, as h is a supremum of lines. Beyond two points a convex function is above the line
// through them: for x > x₁ > x₀
//
//	g(x) ≥ g(x₁) + (g(x₁) − g(x₀))·(x − x₁)/(x₁ − x₀),
//
// which only falls when g(x₁) is replaced by its lower end and g(x₀) by its upper end; likewise
// from the right. The greater of the two lines bounds g between grid points from below. The least
// of these over all gaps bounds the infimum, the power that the best test of this pair has at
// least. The grid is refined where that bound is least until the two ends are close.
//
// It assumes that the answers of its sums are certified intervals of δ(ε), and that the second sum
// is that of the reverse pair. It returns intervals of the power and of the false-negative rate,
// with warnings where they are wider than asked.
package besttest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Pair is one direction (P, Q) of the composition, looked at as the convex
// function h(x) = sup_S P(S) − x·Q(S) in two halves: x ≥ 1, and x ≤ 1 as −c(x) =
// h(x) − 1 = −x·(1 − δ_rev(−log x)), so that either end of the trade-off curve
// keeps its digits.
type Pair struct {
	half     [2]half
	want     float64
	Warnings []string // of all questions so far
	work     float64  // of one δ
	left     float64  // of the work of all
	// The smallest and the largest false-positive rate that will be asked for.
	fewest, most float64
}

// New returns a pair: first is the sum of its profiles and second that of their reverses. Intervals
// are to have this relative width; work is what one δ may take, and left what all of them may.
// alphas are the false-positive rates that will be asked for.
func New(first, second *fourier.Sum, want, work, left float64, alphas []float64) *Pair {
	p := &Pair{half: [2]half{{sum: first}, {sum: second, below: true}}, want: want, work: work, left: left, fewest: 1}
	for _, alpha := range alphas {
		p.fewest, p.most = min(p.fewest, alpha), max(p.most, alpha)
	}
	return p
}

// A half is the values of h where x ≥ 1, or of h − 1 where x ≤ 1, by ascending x.
type half struct {
	sum   *fourier.Sum
	below bool // x ≤ 1
	knots []knot
}

// A knot is a value of h, or of h − 1: lo ≤ h(x) ≤ hi. t is |log x|.
type knot struct{ t, x, lo, est, hi float64 }

// add evaluates δ at |ε| = t; knots ascend in x.
func (p *Pair) add(ctx context.Context, h *half, t float64) error {
	before := h.sum.Spent()
	defer func() { p.left -= h.sum.Spent() - before }()
	// A δ too small to matter at any false-positive rate asked for need not be
	// known any better.
	if small := p.small(h, t); small > 0 && h.sum.Proves(ctx, t, small) {
		return p.insert(h, t, fourier.Result{Upper: small})
	}
	// A quarter of what is left of all work, so that no knot goes without.
	h.sum.LimitWork(max(min(p.work, p.left/4), 1))
	r, err := h.sum.Delta(ctx, t)
	if err != nil {
		return err
	}
	return p.insert(h, t, r)
}

// small is a δ that moves no value of h(x) + αx, or of h(x) − 1 + αx, by more than
// a thousandth of the width wanted: next to αx, or to x·(1 − α).
func (p *Pair) small(h *half, t float64) float64 {
	if h.below {
		return 1e-3 * p.want * (1 - p.most)
	}
	return min(1e-3*p.want*p.fewest*math.Exp(t), 1)
}

// insert adds what is known of δ at |ε| = t.
func (p *Pair) insert(h *half, t float64, r fourier.Result) error {
	if !(r.Lower >= 0 && r.Lower <= r.Upper && r.Upper <= 1) {
		return fmt.Errorf("internal error: δ(%v) in [%v, %v]; please report the plan", t, r.Lower, r.Upper)
	}
	p.warn(r.Warnings...)
	k := knot{t: t, x: math.Exp(t), lo: r.Lower, est: r.Estimate, hi: r.Upper}
	if h.below {
		x := math.Exp(-t)
		k = knot{t: t, x: x, lo: -x * (1 - r.Lower), est: -x * (1 - r.Estimate), hi: -x * (1 - r.Upper)}
	}
	i, _ := slices.BinarySearchFunc(h.knots, k.x, func(at knot, x float64) int { return cmp.Compare(at.x, x) })
	h.knots = slices.Insert(h.knots, i, k)
	return nil
}

// warn adds warnings, each once.
func (p *Pair) warn(warnings ...string) {
	for _, w := range warnings {
		if !slices.Contains(p.Warnings, w) {
			p.Warnings = append(p.Warnings, w)
		}
	}
}

// maxLooks bounds the evaluations of δ for one false-positive rate and half.
const maxLooks = 48

// least returns bounds on the least value of g(x) = h(x) + αx over one half,
// and inside, whether g is certainly larger at x = 1 than somewhere in the half:
// then, by convexity, it is larger still in the other half.
func (p *Pair) least(ctx context.Context, h *half, alpha float64) (r fourier.Range, inside bool, err error) {
	if len(h.knots) == 0 {
		if h.below {
			h.knots = []knot{{t: math.Inf(1)}} // x = 0: c = 0 exactly
		}
		for _, t := range []float64{0, 1, 0.5, 0.25} {
			if err := p.add(ctx, h, t); err != nil {
				return r, false, err
			}
		}
	}
	for look := 0; ; look++ {
		g := make([]knot, len(h.knots))
		best := fourier.Range{Upper: math.Inf(1), Estimate: math.Inf(1)}
		for i, k := range h.knots {
			// Each value is good to 4 units of the last place of its terms,
			// the error of x = e^±t among them.
			slack := 4 * xmath.U * (math.Abs(k.lo) + math.Abs(k.hi) + alpha*k.x)
			g[i] = knot{t: k.t, x: k.x, lo: k.lo + alpha*k.x - slack, est: k.est + alpha*k.x, hi: k.hi + alpha*k.x + slack}
			best.Upper = min(best.Upper, g[i].hi)
			best.Estimate = min(best.Estimate, g[i].est)
		}
		one := 0
		if h.below {
			one = len(g) - 1
		}
		inside = g[one].lo >= best.Upper
		best.Lower = math.Inf(1)
		at := -1
		for i := 0; i+1 < len(g); i++ {
			// h falls, so that it is at least its value at the right end.
			floor := max(between(g, i), h.knots[i+1].lo+alpha*g[i].x*(1-4*xmath.U)-8*xmath.U*math.Abs(h.knots[i+1].lo))
			if floor < best.Lower {
				best.Lower, at = floor, i
			}
		}
		if last := len(g) - 1; !h.below {
			// Right of the last knot, where h ≥ 0.
			floor := max(between(g, last), alpha*g[last].x*(1-4*xmath.U))
			if floor < best.Lower {
				best.Lower, at = floor, last
			}
		}
		best.Lower = min(best.Lower, best.Upper)
		best.Estimate = min(max(best.Estimate, best.Lower), best.Upper)
		width := best.Upper - best.Lower
		stop := func() (fourier.Range, bool, error) {
			if width > max(4*p.want*math.Abs(best.Upper), 1e-12) {
				p.warn(fmt.Sprintf("the search for the best test at a false-positive rate of %v ended at a width of %.2g: the interval is wider than asked", alpha, width))
			}
			return best, inside, nil
		}
		if width <= 1.5*p.want*math.Abs(best.Upper) || look == maxLooks || p.left < 1 {
			return stop()
		}
		var t float64
		switch {
		case !h.below && at == len(g)-1:
			t = min(2*g[at].t, -xmath.Log(alpha)+1)
		case h.below && at == 0:
			t = 2 * g[1].t
			if t > 700 {
				return stop()
			}
		default:
			t = (g[at].t + g[at+1].t) / 2
			if math.Abs(g[at].t-g[at+1].t) < minGap {
				return stop()
			}
		}
		if err := p.add(ctx, h, t); err != nil {
			return r, false, err
		}
	}
}

// minGap is the least distance that two knots can come to have, in log x: half of
// a gap of at least 1e-5 is more than 1e-6.
const minGap = 1e-5

// between bounds a convex function from below between knots i and i+1, or right
// of the last one, by the lines through the knots on either side.
func between(g []knot, i int) float64 {
	line := func(from, near int) (at func(x float64) float64, slope float64, ok bool) {
		if from < 0 || from >= len(g) || near >= len(g) {
			return nil, 0, false
		}
		a, b := g[from], g[near]
		slope = (b.lo - a.hi) / (b.x - a.x)
		// Knots are at least 1e-6·x apart and their x are good to 2 units in the
		// last place, so that x − b.x over b.x − a.x is good to 8·2⁻⁵³/1e-6 <
		// 1e-8, relative to 1 + itself.
		return func(x float64) float64 {
			r := math.Abs((x - b.x) / (b.x - a.x))
			return b.lo + slope*(x-b.x) - 1e-8*(math.Abs(b.lo)+math.Abs(a.hi))*(1+r)
		}, slope, true
	}
	left, sl, okL := line(i-1, i)
	if i == len(g)-1 {
		if okL && sl >= 0 {
			return left(g[i].x)
		}
		return math.Inf(-1)
	}
	right, sr, okR := line(i+2, i+1)
	x0, x1 := g[i].x, g[i+1].x
	switch {
	case okL && !okR:
		return min(left(x0), left(x1))
	case !okL && okR:
		return min(right(x0), right(x1))
	case !okL:
		return math.Inf(-1)
	}
	// The greater of two lines is convex: its least value is at an end, or where
	// they cross. At any point of the interval either line alone is a bound, so
	// that an inexact crossing point x still bounds: left of it by whichever
	// line falls towards it.
	v := min(max(left(x0), right(x0)), max(left(x1), right(x1)))
	if sl < 0 && sr > 0 || sl > 0 && sr < 0 { // whose product may be too small for float64
		x := (g[i+1].lo - g[i].lo + sl*x0 - sr*x1) / (sl - sr)
		if x > x0 && x < x1 {
			v = min(v, left(x), right(x))
		}
	}
	return v
}

// Test returns the power of the best test at a false-positive rate, and its
// false-negative rate.
func (p *Pair) Test(ctx context.Context, alpha float64) (power, typeII fourier.Range, err error) {
	if len(p.half[0].knots) == 0 {
		if _, _, err := p.least(ctx, &p.half[0], 0.25); err != nil {
			return power, typeII, err
		}
	}
	// Where the trade-off curve has slope −1, α is near (1 − δ(0))/2.
	first := 0
	if 2*alpha > 1-p.half[0].knots[0].est {
		first = 1
	}
	var sides [2]fourier.Range
	var have [2]bool
	for i := range 2 {
		j := (first + i) % 2
		r, inside, err := p.least(ctx, &p.half[j], alpha)
		if err != nil {
			return power, typeII, err
		}
		sides[j], have[j] = r, true
		if inside {
			have[1-j] = false
			break
		}
	}
	// Values of x ≥ 1 are the power itself, those of x ≤ 1 minus the
	// false-negative rate. The test that ignores the data has power α.
	power, typeII = fourier.Range{Lower: 1, Estimate: 1, Upper: 1}, fourier.Range{}
	if have[0] {
		power, typeII = sides[0], sides[0].From(1)
	}
	if have[1] {
		f := sides[1].From(0)
		power, typeII = power.Min(f.From(1)), typeII.Max(f)
	}
	outward := func(r fourier.Range, lo, hi float64) fourier.Range {
		// The last subtraction is good to a unit in the last place of 1.
		r.Lower = min(max(r.Lower*(1-0x1p-50), lo), hi)
		r.Upper = max(min(r.Upper*(1+0x1p-50), hi), lo)
		r.Estimate = min(max(r.Estimate, r.Lower), r.Upper)
		return r
	}
	return outward(power, alpha, 1), outward(typeII, 0, xmath.Up(1-alpha, 1)), nil
}
