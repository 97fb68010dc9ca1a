package transform

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
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
	return out
}

// lineOn returns the line of given nodes, for frequencies up to t.
func lineOn(m *mixture, theta, t float64, level, lo, hi int) *mixtureLine {
	s := m.tilt(theta, level, lo, hi)
	logErr, best, _ := s.strips(t, -1e9)
	return newLine(s, best, logErr, t, 1e-15, maxLineNodes)
}

// value returns e^−scale·M − unit of a line at frequency t, and the parts of its error.
func (l *mixtureLine) value(t float64) (re, im, round, rest float64) {
	k, phase, _ := l.LogM(t)
	mod := math.Exp(k - l.scale)
	return mod * math.Cos(phase), mod * math.Sin(phase), l.roundOff.at(t) + l.skip0 + l.skip1*t, l.quadrature(l.logMoving, t)
}

// exact returns a line whose quadrature and left-out nodes count for nothing.
func exact(s setting) *mixtureLine {
	l, err := s.m.line(s.theta, s.t, 1e-17, maxLineNodes)
	if err != nil {
		return nil
	}
	return l
}

// Theorem 5: sums at coarse steps are off by at most the claimed error, which is more than
// rounding explains; so are sums that stop early (Mills' bound).
func TestTrapezoidAndLeftOut(t *testing.T) {
	seen := map[string]int{}
	for _, s := range settings(60, 5) {
		ref := exact(s)
		if ref == nil {
			continue
		}
		_, _, round, _ := ref.value(s.t)
		if ref.scale != 0 {
			continue
		}
		check := func(what string, l *mixtureLine) {
			if l.scale != 0 {
				return
			}
			// Unit and scale alike: compare the sums themselves, as LogM gives up where M is
			// smaller than its error.
			gotRe, gotIm := l.sum(s.t)
			wantRe, wantIm := ref.sum(s.t)
			off := math.Hypot(gotRe-wantRe, gotIm-wantIm)
			_, _, r, rest := l.value(s.t)
			if !(off <= (r+rest+round)*(1+1e-9)) {
				t.Errorf("%s, %s: off by %g, bound %g (of rounding %g)", s.name, what, off, r+rest, r)
			}
			if off > 4*(r+round) && !math.IsInf(rest, 1) {
				seen[what]++
			}
		}
		for d := 2; d <= 6; d++ {
			level := ref.level - d
			if level < 0 {
				continue
			}
			ratio := s.m.step(ref.level) / s.m.step(level)
			check("coarse", lineOn(s.m, s.theta, s.t, level, int(math.Floor(float64(ref.lo)*ratio))-1, int(math.Ceil(float64(ref.hi)*ratio))+1))
		}
		n := ref.hi - ref.lo
		for _, part := range []float64{0.02, 0.05, 0.1, 0.2} {
			cut := int(part * float64(n))
			check("right", lineOn(s.m, s.theta, s.t, ref.level, ref.lo, ref.hi-cut))
			check("left", lineOn(s.m, s.theta, s.t, ref.level, ref.lo+cut, ref.hi))
		}
	}
	for _, what := range []string{"coarse", "right", "left"} {
		if seen[what] < 30 {
			t.Errorf("only %d cases of %q show an error above rounding", seen[what], what)
		}
	}
	t.Log(seen)
}

// Theorem 6: |M(θ+it)| ≤ B_a(t) for every line, and B_a does not increase.
func TestShiftedLines(t *testing.T) {
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
			line := l.shiftedLine(i)
			if line.a*line.a/(2*l.m.inv2) > 8 {
				continue
			}
			b, _ := l.logB(line, s.t)
			if re-err > b {
				t.Errorf("%s, a = %v: log|M| = %v > log B = %v", s.name, line.a, re, b)
			}
			last := math.Inf(1)
			for k := range 7 {
				b, _ := l.logB(line, s.t*math.Pow(100, float64(k)/6)/10)
				if k > 0 && s.t*math.Pow(100, float64(k)/6)/10 > 2*s.t && math.IsInf(last, 1) {
					break
				}
				if b > last+1e-9*(1+math.Abs(b)) && s.t*math.Pow(100, float64(k)/6)/10 <= 2*s.t {
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
