package adaptive

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// bruteExcess integrates the integrand over the plane by the midpoint rule.
func bruteExcess(g triangle, a, b, h float64) float64 {
	z1 := (g.s*g.s + g.r*g.r - g.t*g.t) / (2 * g.r)
	z2 := math.Sqrt(max(0, g.s*g.s-z1*z1))
	sum := 0.0
	for y := -8.0; y < 8; y += h {
		x := b * math.Exp(g.r*y-g.r*g.r/2)
		if x > 1 {
			break
		}
		for w := -8.0; w < 8; w += h {
			if v := 1 - x - a*math.Exp(z1*y+z2*w-g.s*g.s/2); v > 0 {
				sum += v * math.Exp(-(y*y+w*w)/2)
			}
		}
	}
	return sum * h * h / (2 * math.Pi)
}

func TestExcessAgainstBruteForce(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 25 {
		s, r := 0.1+2*rnd.Float64(), 0.1+2*rnd.Float64()
		lo, hi := math.Abs(s-r), math.Sqrt(s*s+r*r)
		g := triangle{s, lo + (hi-lo)*rnd.Float64(), r}
		a, b := 3*rnd.Float64()*rnd.Float64(), 1+rnd.Float64()*rnd.Float64()
		got := math.Exp(g.excess(math.Log(a), math.Log(b)))
		want := bruteExcess(g, a, b, 0.01)
		// The midpoint rule at a kink: step², here against cubature at half the step.
		tol := 4*math.Abs(bruteExcess(g, a, b, 0.02)-want) + 1e-7
		if got < want-tol || got > want*(1+2*excessGoal)+tol {
			t.Errorf("%+v a=%v b=%v: %v, want %v ± %v (rel %v)", g, a, b, got, want, tol, got/want-1)
		}
	}
}

func TestExcessClosedForms(t *testing.T) {
	delta := func(theta, eps float64) float64 { // H_α(N(θ,1) ‖ N(0,1)); in float64 the difference has no 12 digits
		t, e := oracle.F(theta), oracle.F(eps)
		x, h := oracle.Div(e, t), oracle.Div(t, oracle.F(2))
		d, _ := oracle.Sub(oracle.NormalTail(oracle.Sub(x, h)), oracle.Mul(oracle.Exp(e), oracle.NormalTail(oracle.Add(x, h)))).Float64()
		return d
	}
	for _, theta := range []float64{0.01, 0.5, 2, 20} {
		for _, eps := range []float64{0, 1e-3, 0.1, 1} {
			for _, a := range []float64{0, 1e-3, 0.3, 5} {
				check := func(name string, g triangle, want float64) {
					got := math.Exp(g.excess(math.Log(a), eps))
					if want < 1e-290 {
						if got > 1e-280 {
							t.Errorf("%s θ=%v ε=%v a=%v: %v, want 0", name, theta, eps, a, got)
						}
						return
					}
					// Without z exactly: the laws of a family have no more than
					// 3e-4 to spare at α = 1 and noise 1.
					above := 2 * excessGoal
					if a == 0 {
						above = 1e-9
					}
					if got < want*(1-1e-13) || got > want*(1+above) {
						t.Errorf("%s θ=%v ε=%v a=%v: %v, want %v (%v)", name, theta, eps, a, got, want, got/want-1)
					}
				}
				// z = x': the weights add.
				check("z=x'", triangle{theta, 0, theta}, delta(theta, math.Log(a+math.Exp(eps))))
				// z = x: the weights subtract.
				if a < 1 {
					check("z=x", triangle{0, theta, theta}, (1-a)*delta(theta, eps-math.Log1p(-a)))
				} else {
					check("z=x", triangle{0, theta, theta}, 0)
				}
			}
		}
	}
}

func BenchmarkExcess(b *testing.B) {
	g := triangle{0.45, 0.2, 0.5}
	for b.Loop() {
		g.excess(-1, 0.02)
	}
}

// TestExcessStaysBelowOne: where rounding spoils the tangents, the plain bound
// remains.
func TestExcessStaysBelowOne(t *testing.T) {
	for _, c := range []struct {
		g          triangle
		logA, logB float64
	}{
		{triangle{0.0006210098700835651, 0.0004040098203581403, 0.00029431950625970573}, -9.385915144716238, 4.216897928485116e-06},
		{triangle{0.0009965829242693615, 0.010451662016078393, 0.011329894313942995}, -7.394146695316245, 0.013764455769776775},
	} {
		if got := c.g.excess(c.logA, c.logB); !(got <= 1e-8) {
			t.Errorf("%+v: log %v", c, got)
		}
	}
}

func TestExcessMonotone(t *testing.T) {
	// Corollary 2: excess grows in s and r and falls in t.
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		s, r := 0.2+rnd.Float64(), 0.2+rnd.Float64()
		lo, hi := math.Abs(s-r)+0.02, math.Sqrt(s*s+r*r)
		if hi < lo {
			continue
		}
		g := triangle{s, lo + (hi-lo)*rnd.Float64(), r}
		logA, logB := math.Log(0.01+rnd.Float64()), rnd.Float64()
		base := g.excess(logA, logB)
		for _, h := range []triangle{{g.s * 1.05, g.t, g.r}, {g.s, g.t, g.r * 1.05}, {g.s, g.t * 0.95, g.r}} {
			if v := h.excess(logA, logB); v < base-2*excessGoal {
				t.Errorf("%+v → %+v: %v falls to %v", g, h, base, v)
			}
		}
	}
}
