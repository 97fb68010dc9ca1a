package selection

import (
	"context"
	"math"
	"math/big"
	"testing"
)

// TestBottomBlocks: what stands below almost everything keeps its digits. A pure candidate of
// ε = 40 has masses of e^−40 that 1 − v does not hold, and e^ε times one of them is δ. What
// merge and interleaved rankings reach is compared with exact sums from the bottom.
func TestBottomBlocks(t *testing.T) {
	for _, l := range []Law{must(Geometric(0.1)), must(NegativeBinomial(1, 0.7)), must(Conditioned(1, 0.2, 4)), must(Fixed(2))} {
		for _, e := range []float64{1e-9, 1, 30, 36.5, 38, 40, 100} {
			c := declaredCandidate(e, 0)
			tab := must(c.tabulate(context.Background(), fineness{1e-6, -60}))
			at := newAttacker(l, tab.reached(tab.samples()))
			for _, more := range []float64{-0.5, 0, 0.5, 2, 3, 5} {
				eps := max(0, e+more)
				blocks := at.merge(context.Background(), eps)
				got, want := at.reachOf(blocks).delta(eps), deltaFromBottom(l, blocks, eps)
				if got > want*(1+1e-12) {
					t.Errorf("%v, run of ε = %v: the merged ranking reaches %v at ε = %v, not %v", l, e, want, eps, got)
				}
				if got < want*(1-1e-9)-1e-11 {
					t.Errorf("%v, run of ε = %v: the merged ranking reaches %v at ε = %v, and %v is said", l, e, want, eps, got)
				}
				blocks = at.twoBlocks(1)
				atoms, err := at.atoms(blocks)
				said := 0.0
				for _, a := range atoms {
					said += math.Exp(a.LogP) * max(0, -math.Expm1(eps-a.Loss))
				}
				if want := deltaFromBottom(l, blocks, eps); said > want*(1+16*err)+1e-300 {
					t.Errorf("%v, run of ε = %v: two blocks reach %v at ε = %v, as atoms %v", l, e, want, eps, said)
				}
				if v, hi := at.delta(eps), newMixture(l, tab).delta(eps, tab.delta); v > hi*(1+1e-9) {
					t.Errorf("%v, run of ε = %v: %v is said to be reached at ε = %v; Theorem U1 says %v", l, e, v, eps, hi)
				}
			}
		}
	}
}

// deltaFromBottom is δ of a ranking under a law with rational f, by sums of exact masses.
func deltaFromBottom(l Law, blocks []block, eps float64) float64 {
	const prec = 600
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }
	f := func(x *big.Float) *big.Float {
		if g, ok := l.(tnb); ok { // geometric: γx/(1 − (1−γ)x)
			d := num(1)
			gamma := num(g.gamma)
			d.Sub(d, new(big.Float).Mul(num(0).Sub(num(1), gamma), x))
			return num(0).Quo(num(0).Mul(gamma, x), d)
		}
		n, _ := l.MaxRuns()
		s, power := num(0), num(1)
		for k := range n + 1 {
			s.Add(s, num(0).Mul(num(l.PMF(k)), power))
			power.Mul(power, x)
		}
		return s
	}
	e := bigExpPrec(eps, prec)
	sum, x, y := num(0), num(0), num(0)
	lastX, lastY := f(x), f(y)
	for i := len(blocks) - 1; i >= 0; i-- {
		x.Add(x, num(blocks[i].p))
		y.Add(y, num(blocks[i].q))
		fx, fy := f(x), f(y)
		a, b := num(0).Sub(fx, lastX), num(0).Sub(fy, lastY)
		if b.Mul(b, e); a.Cmp(b) > 0 {
			sum.Add(sum, a.Sub(a, b))
		}
		lastX, lastY = fx, fy
	}
	d, _ := sum.Float64()
	return d
}

// TestHugeEpsilon: where e^ε is no number both ends are still numbers.
func TestHugeEpsilon(t *testing.T) {
	finite := finiteCandidate([]float64{0.5, 0.4, 0.1}, []float64{0.5, 0.5, 0})
	for _, p := range []Price{PriceOfBest(must(Geometric(0.1))), must(PriceOfFirstAbove(must(Geometric(0.1)))), PriceOfBest(must(Fixed(3)))} {
		for _, c := range []*Candidate{gaussianCandidate(2), finite} {
			for _, eps := range []float64{700, 720, 1e4} {
				lo, hi, err := p.Delta(context.Background(), c, eps, 1e-3)
				if err != nil || !(lo >= 0 && lo <= hi && hi <= 1) || c == finite && lo < 0.05 {
					t.Errorf("%v, ε = %v: [%v, %v], %v", p.law, eps, lo, hi, err)
				}
			}
		}
	}
}

// TestReachedEnds: beyond its samples a table knows only what is reached at infinity, and the
// pair must not have more: a Gaussian of multiplier .03, whose table ends where δ is still
// nearly 1, reaches 3e-6 at ε = 705 in both directions.
func TestReachedEnds(t *testing.T) {
	for _, sigma := range []float64{0.03, 0.1, 2} {
		tab := must(gaussianCandidate(sigma).tabulate(context.Background(), fineness{1e-2, -60}))
		pair := tab.reached(tab.samples())
		for d := range 2 {
			if d == 1 {
				pair = pair.reverse()
			}
			if pair.pInf > 0 {
				t.Errorf("σ = %v, direction %d: %v is said to be reached at infinity", sigma, d, pair.pInf)
			}
		}
	}
}
