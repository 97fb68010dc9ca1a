package darrm

import (
	"math"
	"math/big"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
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

// Many answers of a large ε: what one data set makes with a probability below the least float64 is still
// possible on it, so that the attack of pure mechanisms has finite losses, and no more than all of them.
func TestAnswersOfHugeLoss(t *testing.T) {
	for _, c := range []struct {
		p       Params
		g       Gamma
		answers int
	}{
		{pure(1, 10, 1), constant(1, 1), 80},
		{pure(3, 10, 1), constant(3, .999), 60},
		{approx(1, 10, 1, 1e-6), constant(1, 1), 80},
	} {
		m, err := c.p.Mechanism(t.Context(), profiles.AddRemove, c.g, c.answers, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		low := m.Directions[0].Lower
		leak := -math.Expm1(float64(c.answers)*math.Log1p(-c.p.Delta)) * (1 + 1e-9)
		for _, p := range []profiles.Profile{low, profiles.Reverse(low)} {
			if s := p.Support(); !(math.Exp(s.LogPInf) <= leak) {
				t.Errorf("%+v, %d answers: P(L = ∞) = %v is reached, at most %v is possible", c.p, c.answers, math.Exp(s.LogPInf), leak)
			}
		}
		all := float64(c.answers) * float64(c.p.Mechanisms) * c.p.Epsilon
		if d := deltaOf(t, low, all*(1+1e-12)); d > leak {
			t.Errorf("%+v, %d answers: δ(%v) = %v is reached, at most %v is possible", c.p, c.answers, all, d, leak)
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
	d, err := profiles.NewChords(eps, w, w)
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

// Reading between cells and at λ < 1 is never below W, here W(λ) = a − 0.3(λ−1) for λ ≥ 1, which
// chords meet exactly, so that nothing but the direction of rounding is left to see.
func TestReadsAreNotBelow(t *testing.T) {
	exp := func(x *big.Float) *big.Float { // |x| < 1e-5, where 16 terms are good to 1e-80
		sum, term := big.NewFloat(1).SetPrec(300), big.NewFloat(1).SetPrec(300)
		for k := 1; k < 16; k++ {
			term.Mul(term, x)
			term.Quo(term, big.NewFloat(float64(k)))
			sum.Add(sum, term)
		}
		return sum
	}
	for _, c := range []struct{ h, x, y float64 }{
		{1e-9, .5, .5 + 2e-6}, {3e-10, .3, .3 + 3e-7}, {1e-9, .49, .49 + 1e-6}, {1e-11, .5, .5 + 1e-8},
	} {
		const a = 1e-5
		r := &recursion{n: 8192, h: c.h}
		for i := range r.n + 1 {
			r.small = append(r.small, math.Exp(-float64(i)*r.h))
			r.value = append(r.value, math.Nextafter(a-.3*math.Expm1(float64(i)*r.h), 1))
		}
		s := r.step(c.y, c.x)
		ratio := new(big.Float).SetPrec(300).Quo(big.NewFloat(c.x), big.NewFloat(c.y))
		below, worst := 0, 0.0
		for i := range r.n + 1 {
			at := new(big.Float).SetPrec(300).SetInt64(int64(i))
			lambda := exp(at.Mul(at, big.NewFloat(r.h)))
			lambda.Mul(lambda, ratio)
			// 1 − λ + λW(1/λ) for λ < 1, which is W for λ ≥ 1 but for its slope.
			one, slope := big.NewFloat(1), big.NewFloat(-.3)
			if lambda.Cmp(one) < 0 {
				slope = new(big.Float).SetPrec(300).Add(big.NewFloat(a), new(big.Float).SetPrec(300).Sub(big.NewFloat(.3), one))
			}
			want := new(big.Float).SetPrec(300).Sub(lambda, one)
			want.Mul(want, slope).Add(want, big.NewFloat(a))
			got := r.read(i, s, c.x/c.y) * (1 + 64*xmath.U)
			if d, _ := want.Sub(want, big.NewFloat(got)).Float64(); d > 0 {
				below, worst = below+1, max(worst, d)
			}
		}
		if below > 0 {
			t.Errorf("%+v: %d of %d readings are below W, by up to %v", c, below, r.n+1, worst)
		}
	}
}

// Eighty answers of the majority of three mechanisms with ε = 10 are at most 1600-differentially private, as two of
// the three decide, and hardly less: λ = e^1600 is no float64. (The upper end was infinite.) Where an answer has a δ of
// its own it can give a record away, and no ε holds.
func TestAnswersBeyondTheRangeOfValues(t *testing.T) {
	const answers, delta = 80, 1e-5
	ask := func(p Params) profiles.Support {
		m, err := p.Mechanism(t.Context(), profiles.AddRemove, Gamma{1, 1, 1, 1}, answers, delta)
		if err != nil {
			t.Fatal(err)
		}
		return m.Directions[0].Upper.Support()
	}
	if s := ask(pure(3, 10, 1)); s.LogPInf > math.Inf(-1) || !(s.Max <= 1600*(1+1e-9) && s.Max >= 1500) {
		t.Errorf("the largest loss is %v, with %v beyond it; want nearly 1600", s.Max, s.LogPInf)
	}
	if s := ask(approx(3, 10, 1, 1e-6)); !(s.LogPInf > math.Log(delta)) {
		t.Errorf("answers that give a record away with 1e-6: the largest loss is %v, with %v beyond it", s.Max, s.LogPInf)
	}
}
