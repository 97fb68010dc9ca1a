package selection

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

// TestBottomBlocks: what stands below almost everything keeps its digits. A pure candidate of
// ε = 40 has masses of e^−40 that 1 − v does not hold, and e^ε times one of them is δ. What
// merge and interleaved rankings reach is compared with exact sums from the bottom.
func TestBottomBlocks(t *testing.T) {
	slow.Test(t)
	for _, l := range []Law{must(newGeometric(0.1)), must(newNegativeBinomial(1, 0.7)), must(newConditionedLaw(1, 0.2, 4)), must(newFixed(2))} {
		for _, e := range []float64{1e-9, 1, 30, 36.5, 38, 40, 100} {
			c := declaredCandidate(e, 0)
			tab := must(c.tabulate(context.Background(), fineness{accuracy: 1e-6, floor: -60, deep: -60}))
			at := newAttacker(l, tab.reached(tab.samples()))
			for _, more := range []float64{-0.5, 0, 0.5, 2, 3, 5} {
				eps := max(0, e+more)
				blocks := at.merge(context.Background(), eps, manyStrips)
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

const exactPrec = 600

func exactly(x float64) *big.Float { return new(big.Float).SetPrec(exactPrec).SetFloat64(x) }

func plus(x, y *big.Float) *big.Float { return exactly(0).Add(x, y) }
func less(x, y *big.Float) *big.Float { return exactly(0).Sub(x, y) }
func mul(x, y *big.Float) *big.Float  { return exactly(0).Mul(x, y) }
func div(x, y *big.Float) *big.Float  { return exactly(0).Quo(x, y) }

// exactPGF is a rational f, from the parameters of the law.
func exactPGF(l Law) func(x *big.Float) *big.Float {
	power := func(x *big.Float, n int) *big.Float {
		p := exactly(1)
		for x = plus(x, exactly(0)); n > 0; n >>= 1 {
			if n&1 == 1 {
				p.Mul(p, x)
			}
			x.Mul(x, x)
		}
		return p
	}
	switch l := l.(type) {
	case tnb: // geometric: γx/(1 − (1−γ)x)
		gamma := exactly(l.gamma)
		return func(x *big.Float) *big.Float {
			return div(mul(gamma, x), less(exactly(1), mul(less(exactly(1), gamma), x)))
		}
	case binomial:
		p := exactly(l.p)
		return func(x *big.Float) *big.Float { return power(plus(less(exactly(1), p), mul(p, x)), l.n) }
	}
	c := l.(*capped)
	stay := less(exactly(1), exactly(c.gamma))
	w, total := []*big.Float{exactly(1)}, exactly(1) // of k = 1, and of all
	for k := 1; k < c.max(); k++ {
		grow := mul(stay, div(plus(exactly(float64(k)), exactly(c.eta)), exactly(float64(k+1))))
		if c.censored && k+1 == c.max() {
			grow = div(stay, exactly(c.gamma)) // all that is cut off
		}
		w = append(w, mul(w[k-1], grow))
		total.Add(total, w[k])
	}
	return func(x *big.Float) *big.Float {
		s := exactly(0)
		for k := len(w) - 1; k >= 0; k-- {
			s = mul(x, plus(s, w[k]))
		}
		return div(s, total)
	}
}

// An exactBlock is a block without rounding.
type exactBlock struct{ p, q *big.Float }

// exactDelta is δ of a ranking from the top at ε ≥ 0, by sums of exact masses from the bottom; e is e^ε.
func exactDelta(f func(x *big.Float) *big.Float, blocks []exactBlock, e *big.Float) *big.Float {
	sum, x, y := exactly(0), exactly(0), exactly(0)
	lastX, lastY := f(x), f(y)
	for i := len(blocks) - 1; i >= 0; i-- {
		x.Add(x, blocks[i].p)
		y.Add(y, blocks[i].q)
		fx, fy := f(x), f(y)
		if gain := less(less(fx, lastX), mul(e, less(fy, lastY))); gain.Sign() > 0 {
			sum.Add(sum, gain)
		}
		lastX, lastY = fx, fy
	}
	return sum
}

// deltaFromBottom is exactDelta of the blocks as they are.
func deltaFromBottom(l Law, blocks []block, eps float64) float64 {
	exact := make([]exactBlock, len(blocks))
	for i, b := range blocks {
		exact[i] = exactBlock{exactly(b.p), exactly(b.q)}
	}
	d, _ := exactDelta(exactPGF(l), exact, bigExpPrec(eps, exactPrec)).Float64()
	return d
}

// TestHugeEpsilon: where e^ε is no number both ends are still numbers.
func TestHugeEpsilon(t *testing.T) {
	slow.Test(t)
	finite := finiteCandidate([]float64{0.5, 0.4, 0.1}, []float64{0.5, 0.5, 0})
	for _, p := range []Price{PriceOfBest(must(newGeometric(0.1))), must(PriceOfFirstAbove(must(newGeometric(0.1)))), PriceOfBest(must(newFixed(3)))} {
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
		tab := must(gaussianCandidate(sigma).tabulate(context.Background(), fineness{accuracy: 1e-2, floor: -60, deep: -60}))
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
