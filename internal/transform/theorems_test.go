package transform

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

// A setting is a mixture and a point of the plane.
type setting struct {
	name     string
	m        *mixture
	theta, t float64
}

// settings returns n random ones: Poisson-Gaussian in both directions, substitute pairs,
// mixtures of copies. Frequencies are those where |M| is between M(θ) and 1e-6 of it.
func settings(n int, seed uint64) []setting {
	r := rand.New(rand.NewPCG(seed, 1))
	logUniform := func(lo, hi float64) float64 { return lo * math.Pow(hi/lo, r.Float64()) }
	none := math.Inf(-1)
	var out []setting
	for range n {
		q, sigma := logUniform(1e-5, 0.5), logUniform(0.4, 30)
		theta := logUniform(0.01, 3) * max(1, sigma)
		kind := r.IntN(4)
		if kind < 2 && r.IntN(4) == 0 {
			q = 1 - logUniform(1e-6, 0.5)
		}
		if r.IntN(8) == 0 {
			theta = -0.5 * r.Float64()
		}
		var tr Transform
		switch kind {
		case 0, 1:
			tr = poisson(q, sigma)
			if kind == 1 {
				tr = tr.Reverse()
			}
		case 2:
			tr = must(NewGaussianMixture(Pair{Sigma: sigma, LogP0: math.Log1p(-q), LogQ0: math.Log1p(-q), Err0: 8 * u,
				Components: []Component{{1, math.Log(q), none, 0}, {-1, none, math.Log(q), 0}}}))
		case 3:
			tr = must(NewGaussianMixture(Pair{Sigma: 2 * sigma, LogP0: math.Log1p(-q - q*q/4), LogQ0: math.Log1p(-q * q / 8), Err0: 8 * u,
				Components: []Component{{1, math.Log(q), none, 0}, {2, math.Log(q * q / 4), none, 0}, {-2, none, math.Log(q * q / 8), 0}}}))
			if r.IntN(2) == 0 {
				tr = tr.Reverse()
			}
		}
		m := tr.(*mixture)
		// A second difference of K gives the variance of the tilted loss.
		k, slope, _ := m.Real(theta)
		up, _, _ := m.Real(theta + 0.01)
		variance := max(2*(up-k-0.01*slope)/1e-4, 1e-12)
		t := logUniform(0.1, 5) / math.Sqrt(variance)
		out = append(out, setting{fmt.Sprintf("q=%.4g σ=%.4g kind %d θ=%.4g t=%.4g", q, sigma, kind, theta, t), m, theta, min(t, 200)})
	}
	// Bounded losses at large θ.
	for range n / 6 {
		q, sigma := logUniform(1e-4, 0.3), logUniform(0.5, 8)
		m, theta := poisson(q, sigma).Reverse().(*mixture), logUniform(20, 2e4)
		k, slope, _ := m.Real(theta)
		d := 0.001 * theta
		up, _, _ := m.Real(theta + d)
		t := logUniform(0.1, 5) / math.Sqrt(max(2*(up-k-d*slope)/(d*d), 1e-12))
		out = append(out, setting{fmt.Sprintf("bounded q=%.4g σ=%.4g θ=%.4g t=%.4g", q, sigma, theta, t), m, theta, t})
	}
	// Groups of records, whose polynomials have real zeros.
	for range n / 10 {
		q, sigma, records := logUniform(1e-4, 0.6), logUniform(0.4, 30), int(logUniform(2, 65))
		theta := logUniform(0.01, 3) * max(1, sigma/float64(records))
		if r.IntN(8) == 0 {
			theta = -0.5 * r.Float64()
		}
		kind := r.IntN(3)
		m := binomialPair(records, q, sigma, kind == 2).(*mixture)
		if kind == 1 {
			m, theta = m.rev, theta*3
		}
		k, slope, _ := m.Real(theta)
		up, _, _ := m.Real(theta + 0.01)
		t := logUniform(0.1, 5) / math.Sqrt(max(2*(up-k-0.01*slope)/1e-4, 1e-12))
		out = append(out, setting{fmt.Sprintf("records=%d q=%.4g σ=%.4g kind %d θ=%.4g t=%.4g", records, q, sigma, kind, theta, t), m, theta, min(t, 200)})
	}
	// Where M itself is summed: large or tiny M(θ).
	for _, c := range []struct{ q, sigma, theta, t float64 }{{0.999, 0.2, 6, 0.5}, {0.9, 0.2, 8, 1}, {0.95, 0.3, -0.4, 0.4}, {0.999, 0.2, -0.5, 0.3}, {1 - 1e-6, 0.15, -0.45, 0.2}} {
		for _, tr := range []Transform{poisson(c.q, c.sigma), poisson(c.q, c.sigma).Reverse()} {
			out = append(out, setting{fmt.Sprintf("direct %+v", c), tr.(*mixture), c.theta, c.t})
		}
	}
	return out
}

// lineOn returns the line of given nodes, for frequencies up to t.
func lineOn(m *mixture, theta, t float64, level, lo, hi int) *mixtureLine {
	s := m.tilt(theta, level, lo, hi)
	best, logErr := s.stripFor(context.Background(), t, -1e9, 0, s.h)
	return newLine(s, s, best, logErr, t, 1e-15)
}

// in returns M(θ + it) and the bounds of its rounding and of its other errors, in units e^scale, but
// for 1 in the units of M where both are summed by Proposition 3.
func (l *mixtureLine) in(scale, t float64, other *mixtureLine) (re, im, round, rest float64) {
	re, im = l.at(t)
	if l.unit != other.unit {
		re += l.unit
	}
	f := math.Exp(l.scale - scale)
	return re * f, im * f, (l.roundOff.at(t) + l.skip0 + l.skip1*t) * f, l.quadrature(t) * f
}

// exact returns a line whose quadrature and left-out nodes count for nothing.
func exact(s setting) *mixtureLine {
	l, err := s.m.line(context.Background(), nil, s.theta, s.t, 1e-17, maxLineNodes)
	if err != nil {
		return nil
	}
	return l
}

// coarser returns the lines of a setting with steps that are 2^from to 2^6 times as long.
func coarser(s setting, ref *mixtureLine, from int) (lines []*mixtureLine) {
	for level := ref.level - from; level >= max(0, ref.level-6); level-- {
		ratio := s.m.step(ref.level) / s.m.step(level)
		lines = append(lines, lineOn(s.m, s.theta, s.t, level, int(math.Floor(float64(ref.lo)*ratio))-1, int(math.Ceil(float64(ref.hi)*ratio))+1))
	}
	return lines
}

// Theorem 5: sums at coarse steps are off by at most the claimed error, which is more than
// rounding explains; so are sums that stop early (Mills' bound).
func TestTrapezoidAndLeftOut(t *testing.T) {
	slow.Test(t)
	seen := map[string]int{}
	for _, s := range settings(60, 5) {
		ref := exact(s)
		if ref == nil {
			continue
		}
		check := func(what string, l *mixtureLine) {
			gotRe, gotIm, r, rest := l.in(ref.scale, s.t, ref)
			wantRe, wantIm, round, _ := ref.in(ref.scale, s.t, l)
			off := math.Hypot(gotRe-wantRe, gotIm-wantIm)
			if !(off <= (r+rest+round)*(1+1e-9)) {
				t.Errorf("%s, %s: off by %g, bound %g (of rounding %g)", s.name, what, off, r+rest, r)
			}
			if off > 4*(r+round) && !math.IsInf(rest, 1) {
				seen[what]++
				if l.unit == 0 {
					seen[what+", direct"]++
				}
			}
		}
		for _, l := range coarser(s, ref, 2) {
			check("coarse", l)
		}
		n := ref.hi - ref.lo
		for _, part := range []float64{0.02, 0.05, 0.1, 0.2, 0.3} {
			cut := int(part * float64(n))
			check("right", lineOn(s.m, s.theta, s.t, ref.level, ref.lo, ref.hi-cut))
			check("left", lineOn(s.m, s.theta, s.t, ref.level, ref.lo+cut, ref.hi))
		}
	}
	for what, least := range map[string]int{"coarse": 30, "right": 30, "left": 30, "coarse, direct": 5, "right, direct": 4, "left, direct": 4} {
		if seen[what] < least {
			t.Errorf("only %d cases of %q show an error above rounding", seen[what], what)
		}
	}
	t.Log(seen)
}

// Theorem 6: |M(θ+it)| ≤ B_a(t) for every line, and B_a does not increase.
func TestShiftedLines(t *testing.T) {
	slow.Test(t)
	for _, s := range settings(300, 6) {
		l := exact(s)
		if l == nil {
			continue
		}
		re, _, err := l.LogM(s.t)
		if math.IsInf(err, 1) {
			continue
		}
		for i := 0; i < 24; i += 3 {
			line := l.moved.shiftedLine(i)
			if line.a*line.a/(2*l.m.inv2) > 8 {
				continue
			}
			b := l.logB(line, s.t)
			if re-err > b {
				t.Errorf("%s, a = %v: log|M| = %v > log B = %v", s.name, line.a, re, b)
			}
			last := math.Inf(1)
			for k := range 7 {
				b := l.logB(line, s.t*math.Pow(100, float64(k)/6)/10)
				if b > last+1e-9*(1+math.Abs(b)) {
					t.Errorf("%s, a = %v: log B rises from %v to %v", s.name, line.a, last, b)
				}
				last = b
			}
		}
		if d := l.Decay(s.t); re-err > d {
			t.Errorf("%s: log|M| = %v > Decay = %v", s.name, re, d)
		}
	}
}

// What the quadrature of B_a rests on: Im L, from the shares of the means, does not fall with the height as far as rising.
func TestImLossRises(t *testing.T) {
	falls := 0
	for _, s := range settings(200, 31) {
		l := exact(s)
		if l == nil {
			continue
		}
		l.moved.share()
		for i := range l.moved.nodes {
			last, fell := 0.0, false
			for k := range 25 {
				a := l.m.rising() * float64(k) / 20
				if a >= l.m.width() {
					break
				}
				p, q := l.m.turn(&l.moved.nodes[i], l.m.angles(a))
				x := imLoss(p, q, a)
				if slack := p.slack + q.slack + 1e-12; x < last-slack-1e-9*(1+last) {
					fell = true
					if k <= 20 {
						t.Fatalf("%s: Im L falls from %v to %v at a height of %v", s.name, last, x, a)
					}
				}
				last = max(last, x-p.slack-q.slack)
			}
			if fell {
				falls++
			}
		}
	}
	if falls < 100 {
		t.Errorf("Im L falls beyond at %d nodes only", falls)
	}
}

// At high frequencies few nodes tell how far f rises and falls on other lines: the bounds are those of all nodes, a little higher.
func TestMovedNodes(t *testing.T) {
	for _, c := range []struct{ q, sigma, theta, t float64 }{{1e-3, 1, 1.5, 2e4}, {1e-3, 1, 0.5, 2e4}, {1e-2, 1, 1.5, 2e4}, {1e-4, 2, 1, 6e4}, {1e-3, 2, 1, 4e4}} {
		for _, tr := range []Transform{poisson(c.q, c.sigma), poisson(c.q, c.sigma).Reverse()} {
			l := must(tr.Line(t.Context(), c.theta, c.t, 1e-14, 0)).(*mixtureLine)
			name := fmt.Sprintf("%+v, spanQ %v", c, l.m.spanQ)
			if 4*len(l.moved.nodes) > len(l.nodes) {
				t.Errorf("%s: %d of %d nodes for other lines", name, len(l.moved.nodes), len(l.nodes))
			}
			if want := l.nearStrip(c.t, l.best.a); !(l.best.log > want && l.best.log < want+1) {
				t.Errorf("%s: the strip bound is e^%v, the integral e^%v", name, l.best.log, want)
			}
			all := newLine(&l.tilted, &l.tilted, l.best, l.logMoving, c.t, 1e-14)
			for _, at := range []float64{0.03, 0.1, 0.3, 0.7, 1, 1.4} {
				few, most := l.Decay(at*c.t), all.Decay(at*c.t)
				if few < most-1e-9*(1+math.Abs(most)) || few > most+0.01*(1+math.Abs(most)) {
					t.Errorf("%s: few nodes bound |M| at %v·t by e^%v, all of them by e^%v", name, at, few, most)
				}
				if re, _, err := l.LogM(min(at, 1) * c.t); !math.IsInf(err, 1) && re-err > l.Decay(min(at, 1)*c.t) {
					t.Errorf("%s: |M| = e^%v at %v·t, above its bound e^%v", name, re, at, few)
				}
			}
		}
	}
}

// The strip bound of Theorem 5 is above the integral, at any step: a density between
// two nodes is seen, and Im L grows inside a cell.
func TestStripBound(t *testing.T) {
	// At the step σ·4 = 1 the peak of the density at 0 is in the middle of a cell.
	m := poisson(1e-3, 0.25).(*mixture)
	if s, k := m.tilt(0.1, 0, -8, 8), first(m.Real(0.1)); s.logStrip < k {
		t.Errorf("∫f = e^%v, the bound is e^%v", k, s.logStrip)
	} else if s.logStrip > k+3 {
		t.Errorf("∫f = e^%v, the bound e^%v is far", k, s.logStrip)
	}
	low := 0
	for _, s := range settings(60, 8) {
		ref := exact(s)
		if ref == nil {
			continue
		}
		a := ref.best.a
		want := ref.nearStrip(s.t, a)
		for d := 2; d <= 8; d++ {
			level := ref.level - d
			if level < 0 {
				continue
			}
			ratio := s.m.step(ref.level) / s.m.step(level)
			c := s.m.tilt(s.theta, level, int(math.Floor(float64(ref.lo)*ratio))-1, int(math.Ceil(float64(ref.hi)*ratio))+1)
			g := c.strip(s.t, a)
			if g.log < want-1e-9 {
				t.Errorf("%s: at level %d the strip bound is e^%v, the integral e^%v", s.name, level, g.log, want)
			}
			if c.nearStrip(s.t, a) < want {
				low++
			}
			part := (c.hi - c.lo) / 4
			for _, cut := range []*tilted{s.m.tilt(s.theta, level, c.lo, c.hi-part), s.m.tilt(s.theta, level, c.lo+part, c.hi)} {
				if g := cut.strip(s.t, a); g.log < want-1e-9 {
					t.Errorf("%s: at level %d with nodes left out the strip bound is e^%v, the integral e^%v", s.name, level, g.log, want)
				}
			}
		}
	}
	if low == 0 {
		t.Error("the nodes alone are always a bound")
	}
}

// curvature returns about K”(s).
func curvature(t Transform, s float64) float64 {
	_, a, _ := t.Real(s * 0.999)
	_, b, _ := t.Real(s * 1.001)
	return (b - a) / (0.002 * s)
}

func first(k, _, _ float64) float64 { return k }

// The quadrature and left-out parts of log B: at coarse steps and with nodes cut off B is
// still a bound, which its sum alone is not.
func TestShiftedLineErrors(t *testing.T) {
	need := map[string]int{}
	for _, s := range settings(40, 9) {
		moved := exact(s)
		if moved == nil {
			continue
		}
		ref := newLine(&moved.tilted, &moved.tilted, moved.best, moved.logMoving, s.t, 1e-15)
		check := func(what string, l *mixtureLine) {
			for _, i := range []int{2, 5, 8} {
				line := ref.moved.shiftedLine(i)
				if line.a*line.a/(2*ref.m.inv2) > 8 {
					continue
				}
				sum := func(l *mixtureLine) (float64, float64) { // with and without its errors
					c := l.moved.newShiftedLine(line.a)
					upper := l.logB(c, s.t)
					all := newScaledSum(l.moved.scale)
					for j, f := range c.log {
						all.add(f - s.t*c.turn[j])
					}
					return upper, all.log()
				}
				_, want := sum(ref)
				upper, bare := sum(l)
				if upper < want-1e-12*(1+math.Abs(want)) {
					t.Errorf("%s, %s, a = %v: log B = %v, below its integral %v", s.name, what, line.a, upper, want)
				}
				if bare < want-1e-10*(1+math.Abs(want)) {
					need[what]++
				}
			}
		}
		check("moved", moved)
		for _, l := range coarser(s, ref, 2) {
			check("coarse", l)
		}
		n := ref.hi - ref.lo
		for _, part := range []float64{0.05, 0.15, 0.3} {
			check("right", lineOn(s.m, s.theta, s.t, ref.level, ref.lo, ref.hi-int(part*float64(n))))
			check("left", lineOn(s.m, s.theta, s.t, ref.level, ref.lo+int(part*float64(n)), ref.hi))
		}
	}
	for _, what := range []string{"coarse", "right", "left"} {
		if need[what] < 10 {
			t.Errorf("only %d cases of %q need the errors of B", need[what], what)
		}
	}
}

// The errors of parameters: K at rates and σ moved by their stated errors is within
// the error of K, which is not far above what it has to be.
func TestParameterErrors(t *testing.T) {
	const e = 1e-7
	for _, c := range []struct{ q, sigma, s float64 }{{0.01, 1, 4}, {0.3, 2, 5}, {0.9, 1, 2}, {1e-6, 0.7, 3}, {0.999, 3, 4}, {0.999, 0.2, 8}} {
		for _, reverse := range []bool{false, true} {
			direction := func(t Transform) Transform {
				if reverse {
					return t.Reverse()
				}
				return t
			}
			for _, which := range []struct {
				name     string
				dq, dsig float64
			}{{"rate", e, 0}, {"sigma", 0, e}} {
				k, _, err := direction(must(NewPoissonGaussian(c.q, which.dq, c.sigma, which.dsig))).Real(c.s)
				far := 0.0
				for _, sign := range []float64{-1, 1} {
					o, _, _ := direction(poisson(c.q*(1+sign*which.dq), c.sigma*(1+sign*which.dsig))).Real(c.s)
					far = max(far, math.Abs(o-k))
				}
				if !(far <= err*(1+1e-3)) || err > 50*far {
					t.Errorf("%+v reverse %v: an error %g of %s moves K by %g, bound %g", c, reverse, e, which.name, far, err)
				}
				// A frequency at which |M| is well below M(θ).
				at := 1.5 / math.Sqrt(max(1e-4, curvature(direction(poisson(c.q, c.sigma)), c.s)))
				l := must(direction(must(NewPoissonGaussian(c.q, which.dq, c.sigma, which.dsig))).Line(context.Background(), c.s, at, 1e-15, 0))
				re, im, err := l.LogM(at)
				far = 0
				for _, sign := range []float64{-1, 1} {
					o := must(direction(poisson(c.q*(1+sign*which.dq), c.sigma*(1+sign*which.dsig))).Line(context.Background(), c.s, at, 1e-15, 0))
					a, b, _ := o.LogM(at)
					far = max(far, math.Hypot(a-re, math.Remainder(b-im, 2*math.Pi)))
				}
				if !(far <= err*(1+1e-3)) || err > 200*far {
					t.Errorf("%+v + %vi reverse %v: an error %g of %s moves log M by %g, bound %g", c, at, reverse, e, which.name, far, err)
				}
			}
		}
	}
}
