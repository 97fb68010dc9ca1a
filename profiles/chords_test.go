package profiles_test

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/profiletest"
	"github.com/dpaccountant/accountant/profiles"
)

// Chords through values of a profile are above it, tangents below, at the points and in
// between, in both directions; and both are profiles like any other.
func TestChordsAndTangents(t *testing.T) {
	g := must(profiles.NewGaussian(1.3))
	l := must(profiles.NewLaplace(0.8))
	e := must(profiles.NewExponential(2))
	finite := must(profiles.NewFinite([]float64{0.5, 0.25, 0.25, 0}, []float64{0.25, 0.25, 0, 0.5}))
	for _, p := range []profiles.Profile{g, l, e, finite} {
		rev := profiles.Reverse(p)
		at := func(p profiles.Profile, eps, sign float64) float64 {
			v, err := profiles.LogDelta(p, eps)
			if math.IsInf(v, -1) {
				return 0
			}
			return math.Exp(v + sign*err)
		}
		var x, up, back []float64
		var below [2]profiles.Lines
		for i := range 400 {
			eps := 6 * float64(i) / 400
			x = append(x, eps)
			up, back = append(up, at(p, eps, 1)), append(back, at(rev, eps, 1))
			for d, p := range []profiles.Profile{p, rev} {
				l := &below[d]
				l.W = append(l.W, at(p, eps, -1)*(1-1e-13))
				l.Q = append(l.Q, math.Exp(eps+p.Tails(eps, 0).Q)*(1+1e-13))
				l.Inf = math.Exp(p.Support().LogPInf) * (1 - 1e-13)
			}
		}
		c := must(profiles.NewChords(x, up, back))
		profiletest.Run(t, c, nil, profiletest.Grid(c, 1))
		d := must(profiles.NewTangents(x, below[0], below[1]))
		profiletest.Run(t, d, nil, profiletest.Grid(d, 1))
		dirs := [][2]profiles.Profile{{p, c}, {rev, profiles.Reverse(c)}, {d, p}, {profiles.Reverse(d), rev}}
		for _, dir := range dirs {
			for eps := -5.0; eps < 5.8; eps += 0.0173 {
				a, b := at(dir[0], eps, -1), at(dir[1], eps, 1)
				if a > b*(1+1e-12) {
					t.Errorf("%T: δ(%v) = %v is above %v", p, eps, a, b)
				}
				if p != profiles.Profile(finite) && eps > 0 && eps < 2 && b-a > 2e-4*b+4e-3*at(dir[1], 0, 1)*0.1 {
					t.Errorf("%T: δ(%v) between %v and %v", p, eps, a, b)
				}
			}
		}
	}
}

// At the nodes themselves chords are not below the values they were made of, by any rounding: the sums of
// their masses are raised for that. A profile of 400 nodes is raised by 16·404·2^−53 = 7e-13.
func TestChordsReachTheirNodes(t *testing.T) {
	for _, p := range []profiles.Profile{must(profiles.NewGaussian(1.3)), must(profiles.NewExponential(2))} {
		var x, up []float64
		for i := range 400 {
			x = append(x, 1.9*float64(i)/400)
			v, err := profiles.LogDelta(p, x[i])
			up = append(up, math.Exp(v+err))
		}
		c := must(profiles.NewChords(x, up, up))
		for i, eps := range x {
			// From the masses, in positive terms: 400 of them, each within 4·2^−53, and as many sums.
			s := c.Support()
			d := math.Exp(s.LogPInf)
			for _, a := range c.Atoms() {
				if a.Loss > eps {
					d -= math.Exp(a.LogP) * math.Expm1(eps-a.Loss)
				}
			}
			if d < up[i]*(1-2e-13) {
				t.Errorf("%T: δ(%v) is %v of the value at the node, less than all", p, eps, d/up[i]-1)
			}
		}
	}
}

// Where the two halves differ at 0 the larger value holds for both: δ(0) is the total variation, in both directions.
func TestChordsOfUnequalHalves(t *testing.T) {
	small, large := []float64{0.1, 0.05, 0.01}, []float64{0.3, 0.2, 0.1}
	for _, h := range [][2][]float64{{small, large}, {large, small}} {
		c := must(profiles.NewChords([]float64{0, 1, 2}, h[0], h[1]))
		for i, half := range []profiles.Profile{c, profiles.Reverse(c)} {
			for k, eps := range []float64{0, 1, 2} {
				want := h[i][k]
				if k == 0 {
					want = 0.3
				}
				if v, err := profiles.LogDelta(half, eps); math.Exp(v+err) < want {
					t.Errorf("direction %d: δ(%v) = %v, want at least %v", i, eps, math.Exp(v), want)
				}
			}
		}
	}
}

// TestChordsWithNothingAtZero: values of a law without a loss 0, whose masses are raised to be above them, are of no more mass than their
// stated error allows, so that a lower law of them is one.
func TestChordsWithNothingAtZero(t *testing.T) {
	const n = 3000
	x, up, back := make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
	// P is 0.3 at the loss 1 and 0.7 at ∞; Q is 0.3/e there and the rest at −∞.
	for i := range x {
		x[i] = float64(i) / n
		up[i] = 0.7 + 0.3*-math.Expm1(x[i]-1)
		back[i] = 1 - 0.3*math.Exp(-1)
	}
	d, err := profiles.NewChords(x, up, back)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*profiles.Discrete{d, profiles.Reverse(d).(*profiles.Discrete)} {
		total := math.Exp(p.Support().LogPInf)
		for _, a := range p.Atoms() {
			total += math.Exp(a.LogP)
		}
		if excess := total - 1; excess > p.MassErr() {
			t.Errorf("masses add to 1 + %v, and are stated to be right to %v", excess, p.MassErr())
		}
	}
}
