package subsample

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

// must-gap.md §4, every row (five digits, quadrature to 1e-5): A (others at 0), B
// (others at x'), the best common position z of the others (reached at that z)
// and the best of all positions, R6 with all stages, Theorem 5. Ours: the two
// pairs, the best of 41 positions by quadrature here, the upper profile, and
// Theorem 5.
//
// For MUST.WW the table's R6 shares in proportion to π_j; the upper profile has
// the best shares (TestStagedSharesBest) and is lower.
func TestTinyCasesEveryRow(t *testing.T) {
	for _, c := range []struct {
		s                               FixedSize
		sigma, eps                      float64
		a, b, constant, free, r6, bound float64
	}{
		{must(NewWithReplacement(2, 2)), 1, 0, 0.57995, 0.55713, 0.57995, 0.57997, 0.57997, 0.57997},
		{must(NewWithReplacement(2, 2)), 1, 0.1, 0.55885, 0.54561, 0.56072, 0.56072, 0.56757, 0.56864},
		{must(NewWithReplacement(2, 2)), 1, 0.5, 0.47334, 0.50073, 0.50415, 0.50415, 0.51926, 0.52338},
		{must(NewWithReplacement(2, 2)), 1, 1, 0.36934, 0.44757, 0.44800, 0.44800, 0.46163, 0.46758},
		{must(NewWithReplacement(2, 2)), 1, 2, 0.19715, 0.35350, 0.35350, 0.35350, 0.35870, 0.36402},
		{must(NewWithReplacement(2, 2)), 3, 0.1, 0.21816, 0.22103, 0.22109, 0.22109, 0.22210, 0.22270},
		{must(NewWithReplacement(2, 2)), 3, 0.25, 0.16887, 0.18065, 0.18065, 0.18065, 0.18065, 0.18092},
		{must(NewWithReplacement(2, 2)), 3, 1, 0.02752, 0.05568, 0.05568, 0.05568, 0.05568, 0.06228},
		{must(NewWithReplacement(4, 2)), 3, 0.1, 0.08947, 0.09726, 0.09726, 0.09726, 0.09729, 0.09759},
		{must(NewWithReplacement(4, 2)), 3, 1, 0.00029, 0.00685, 0.00685, 0.00685, 0.00685, 0.01049},
		{must(NewWithReplacement(3, 3)), 1, 0.5, 0.44139, 0.47516, 0.47859, 0.47859, 0.49424, 0.49957},
		{must(NewWithReplacement(3, 3)), 3, 0.5, 0.09998, 0.12863, 0.12863, 0.12863, 0.12863, 0.12938},
		{must(NewWithReplacement(3, 3)), 3, 2, 0.00064, 0.01293, 0.01293, 0.01293, 0.01293, 0.02391},
		{must(NewMustOW(4, 2, 3)), 1, 0.1, 0.33922, 0.34223, 0.34903, 0.34904, 0.36088, 0.36176},
		{must(NewMustOW(4, 2, 3)), 1, 1, 0.17804, 0.29254, 0.29254, 0.29254, 0.30387, 0.30721},
		{must(NewMustOW(4, 2, 3)), 3, 0.1, 0.14612, 0.15609, 0.15609, 0.15609, 0.15766, 0.15810},
		{must(NewMustOW(4, 2, 3)), 3, 0.5, 0.04601, 0.09011, 0.09011, 0.09011, 0.09011, 0.09171},
		{must(NewMustOW(4, 2, 3)), 3, 1, 0.00731, 0.04665, 0.04665, 0.04665, 0.04665, 0.05293},
		{must(NewMustOW(5, 3, 3)), 1, 0.5, 0.19909, 0.27123, 0.27123, 0.27123, 0.28132, 0.28530},
		{must(NewMustOW(5, 3, 3)), 3, 0.5, 0.02366, 0.05565, 0.05565, 0.05565, 0.05565, 0.05753},
		{must(NewMustOW(5, 3, 3)), 3, 1, 0.00186, 0.02205, 0.02205, 0.02205, 0.02205, 0.02842},
		{must(NewMustWW(3, 2, 3)), 1, 0.5, 0.32964, 0.38735, 0.38893, 0.38896, 0.40849, 0.41140},
		{must(NewMustWW(3, 2, 3)), 3, 0.05, 0.22115, 0.22241, 0.22365, 0.22365, 0.22682, 0.22724},
		{must(NewMustWW(3, 2, 3)), 3, 0.5, 0.09194, 0.14571, 0.14571, 0.14571, 0.14571, 0.14678},
		{must(NewMustWW(3, 2, 3)), 3, 1, 0.02634, 0.09213, 0.09213, 0.09213, 0.09356, 0.09799},
	} {
		b := gaussian(c.sigma)
		d := ok(c.s.Apply(b, profiles.Substitute)).Directions[0]
		upper := deltaOf(d.Upper, c.eps)
		const digits = 3e-5 // half a digit and the quadrature
		for name, x := range map[string][2]float64{
			"A":         {deltaOf(ok(c.s.PaperPairNotABound(b)), c.eps), c.a},
			"B":         {deltaOf(ok(c.s.Attack(b)), c.eps), c.b},
			"Theorem 5": {deltaOf(ok(c.s.Theorem5(b)), c.eps), c.bound},
			"best z":    {bestCommon(c.s, c.sigma, c.eps), c.constant},
		} {
			if math.Abs(x[0]-x[1]) > digits {
				t.Errorf("%v sigma %v eps %v: %s is %.6f, want %v", c.s, c.sigma, c.eps, name, x[0], x[1])
			}
		}
		if c.free > upper+digits {
			t.Errorf("%v sigma %v eps %v: a data set has %v, above the bound %v", c.s, c.sigma, c.eps, c.free, upper)
		}
		if c.s.(fixedSize).kind == mustWW && upper > c.r6+digits || c.s.(fixedSize).kind != mustWW && math.Abs(upper-c.r6) > digits {
			t.Errorf("%v sigma %v eps %v: upper profile %.6f, want %v", c.s, c.sigma, c.eps, upper, c.r6)
		}
	}
}

// bestCommon is the largest divergence of a data set whose other records all
// contribute z, x = 1 against x' = −1: mixtures of N(u(1−z)) and N(−u(1+z)).
func bestCommon(s FixedSize, sigma, eps float64) float64 {
	law := s.Multiplicity()
	mix := func(shift float64) func(float64) float64 {
		return func(x float64) float64 {
			d := 0.0
			for u, l := range law.LogP {
				y := (x - float64(u)*shift) / sigma
				d += math.Exp(l-y*y/2) / (sigma * math.Sqrt(2*math.Pi))
			}
			return d
		}
	}
	best := 0.0
	for i := range 41 {
		z := -1 + float64(i)/40
		best = max(best, hockey(mix(1-z), mix(-1-z), math.Exp(eps), -6-8*sigma, 6+8*sigma))
	}
	return best
}

// must-gap.md §3, the table's R6: three stages, the last of which takes the rest
// at its own threshold. It explains why the compositions of must-gap.md §6 lie a
// little above ours, which run all stages: MUST.OW at the paper's setting.
func TestThreeStages(t *testing.T) {
	_, _, ow, _, base := paperSetting()
	inner := copies.Binomial(200, 1./118, 117./118)
	p := make([]float64, 45)
	for u := range p {
		p[u] = math.Exp(inner.LogP[u])
	}
	upper := ok(ow.Apply(base, profiles.Substitute)).Directions[0].Upper
	for _, c := range []struct{ eps, table float64 }{
		{0.001, 3.4605e-3}, {0.01, 1.96786240e-3}, {0.05, 6.53941050e-4}, {0.1, 3.40402975e-4}, {0.5, 5.56583436e-5},
	} {
		inside := 1 + math.Expm1(c.eps)*10000/118
		three, all := 0.0118*stages(p, 0.5, inside, 3), 0.0118*stages(p, 0.5, inside, 100)
		digits := 3e-9
		if c.eps == 0.001 {
			digits = 2e-5 // five are given
		}
		if math.Abs(three/c.table-1) > digits {
			t.Errorf("eps %v: three stages have %v, want %v", c.eps, three, c.table)
		}
		if got := deltaOf(upper, c.eps); math.Abs(got/all-1) > 1e-9 || !(got <= three*(1+1e-9)) {
			t.Errorf("eps %v: the upper profile has %v, all stages %v, three %v", c.eps, got, all, three)
		}
	}
}

// stages is R6 in the words of must-gap.md §3, stopped after most stages.
func stages(p []float64, theta, alpha float64, most int) float64 {
	tail := func(x float64) float64 { return 0.5 * math.Erfc(x/math.Sqrt2) }
	ratio := func(u int, t float64) float64 { x := float64(u) * theta; return math.Exp(x*t - x*x/2) }
	sum, done := 0.0, 0
	for stage := 1; done < len(p)-1; stage++ {
		best, at, atC := math.Inf(1), 0, 0.0
		c := 0.0
		if stage == 1 {
			c = (alpha - 1) * p[0]
		}
		for i := done + 1; i < len(p); i++ {
			c += alpha * p[i]
			lo, hi := -50.0, 80.0
			for range 100 {
				mid, s := (lo+hi)/2, 0.0
				for u := done + 1; u <= i; u++ {
					s += p[u] * ratio(u, mid)
				}
				if s > c {
					hi = mid
				} else {
					lo = mid
				}
			}
			if hi <= best*(1+1e-13) {
				best, at, atC = hi, i, c
			}
		}
		last := at
		if stage == most { // the rest at this threshold, whatever demand it leaves unused
			last, atC = len(p)-1, 0
			for u := done + 1; u <= last; u++ {
				atC += p[u] * ratio(u, best)
			}
		}
		for u := done + 1; u <= last; u++ {
			sum += p[u] * tail(best-float64(u)*theta)
		}
		sum -= atC * tail(best)
		done = last
	}
	return sum
}
