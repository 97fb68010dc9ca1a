package darrm

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// adaptive is W of Theorem 7 without a grid: the best choice at every history.
func adaptive(h *hull, left int, lambda float64) float64 {
	if left == 0 {
		return max(0, 1-lambda)
	}
	best := 0.0
	for _, c := range h.points {
		for _, v := range [][2]float64{{c.y, c.x}, {1 - c.x, 1 - c.y}} {
			p, q, sum := v[0], v[1], 0.0
			if p > 0 {
				sum += p * adaptive(h, left-1, lambda*q/p)
			}
			if p < 1 {
				sum += (1 - p) * adaptive(h, left-1, lambda*(1-q)/(1-p))
			}
			best = max(best, sum)
		}
	}
	return best
}

// Few answers: the bound is above the exact worst of all adaptive ways, which is computed at
// every history, and close to it; the attack is below, and close at its δ.
func TestFewAnswersExactly(t *testing.T) {
	for _, c := range []struct {
		p       Params
		g       Gamma
		answers int
	}{
		{pure(3, .5, 1), Gamma{1, .4, .4, 1}, 3},
		{pure(5, .3, 2), Gamma{1, .8, .8, .8, .8, 1}, 3},
		{approx(3, .5, 1, .01), Gamma{1, .4, .4, 1}, 3},
		{approx(4, .5, 1, .01), Gamma{1, .3, 0, .3, 1}, 2},
		{Params{Mechanisms: 3, Epsilon: .5, Allowance: 1, Voters: []Voters{{Count: 2, Epsilon: .2}, {Count: 1, Epsilon: .6}}}, Gamma{1, .6, .6, 1}, 3},
	} {
		delta := .05
		m, err := c.p.Mechanism(t.Context(), profiles.AddRemove, c.g, c.answers, delta)
		if err != nil {
			t.Fatal(err)
		}
		h, _, err := c.p.hulls(t.Context(), c.g)
		if err != nil {
			t.Fatal(err)
		}
		closest := math.Inf(1)
		for eps := -.5; eps < 1.5; eps += .0371 {
			want := adaptive(h, c.answers, math.Exp(eps))
			up := deltaOf(t, m.Directions[0].Upper, eps)
			low := deltaOf(t, m.Directions[0].Lower, eps)
			if up < want-1e-13 || up > want+2e-5 || low > want+1e-13 {
				t.Errorf("%+v, %d answers, ε = %v: δ in [%v, %v], exactly %v", c.p, c.answers, eps, low, up, want)
			}
			if want < 2*delta && want > delta/2 {
				closest = min(closest, want-low)
			}
		}
		if closest > 1e-4 {
			t.Errorf("%+v: the attack stays %v away", c.p, closest)
		}
	}
}

// A continuation by chords: a convex function at a few points.
func TestChordsAreAbove(t *testing.T) {
	// That of the Laplace mechanism, max(0, 1 − e^{(ε−1)/2}).
	var eps, w []float64
	for e := 0.0; e <= 1.2; e += .1 {
		eps, w = append(eps, e), append(w, max(0, -math.Expm1((e-1)/2)))
	}
	d, err := fromChords(eps, w)
	if err != nil {
		t.Fatal(err)
	}
	for e := -2.0; e < 3; e += .013 {
		want := max(0, -math.Expm1((e-1)/2))
		if e < -1 {
			want = -math.Expm1(e)
		}
		if got := deltaOf(t, d, e); got < want-1e-12 || got > want+2e-3 {
			t.Errorf("δ(%v) = %v, want %v", e, got, want)
		}
	}
}
