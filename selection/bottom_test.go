package selection

import (
	"context"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// TestBottomAtoms: randomised response as two atoms, the high one below the low one, which
// leaves it fewer digits of 1 − v than its mass has (1.4e-16 is not 1.1e-16): as atoms, the
// ranking has no more than exact sums say.
func TestBottomAtoms(t *testing.T) {
	for _, l := range []Law{must(newGeometric(0.1)), must(newConditionedLaw(1, 0.2, 4)), must(newFixed(2)), must(newBinomial(5, 0.9))} {
		for e := 34.0; e < 38; e += 0.1 {
			small, large := 1/(1+math.Exp(e)), 1/(1+math.Exp(-e))
			at := newAttacker(l, &pair{loss: []float64{-e, e}, p: []float64{small, large}, q: []float64{large, small}, rel: 8 * xmath.U})
			blocks := at.twoBlocks(1)
			atoms, err := at.atoms(blocks)
			for more := 0.0; more < 4; more += 0.5 {
				said := 0.0
				for _, a := range atoms {
					said += math.Exp(a.LogP) * max(0, -math.Expm1(e+more-a.Loss))
				}
				if want := deltaFromBottom(l, blocks, e+more); said > want*(1+16*err)+1e-300 {
					t.Errorf("%v, run of ε = %v: two blocks reach %v at ε = %v, as atoms %v", l, e, want, e+more, said)
				}
			}
		}
	}
}

// TestBoundedAttack: laws with a largest number of runs, whose f' has no digits at the bottom,
// reach the price of a pure candidate as unbounded ones do. At δ = 1e-5 the price is missed by
// less than .01: the winning block needs a mass of about δ.
func TestBoundedAttack(t *testing.T) {
	for _, l := range []Law{must(newFixed(3)), must(newBinomial(20, 0.3)), must(newBinomial(20, 1-1e-6)), must(newConditionedLaw(1, 0.1, 5)), must(newCensoredLaw(0.1, 5))} {
		for _, eps := range []float64{1, 30, 40, 100, 200} {
			price := must(PriceOfBest(l).Pure(eps))
			c := must(PriceOfBest(l).certify(context.Background(), declaredCandidate(eps, 0), must(PriceOfBest(l).fine(1e-5, 1e-5)), fewStrips))
			if lo := reachedEpsilon(context.Background(), c[0].below, 1e-5, 0, price); !(lo <= price && lo > price-0.01) {
				t.Errorf("%v, run of ε = %v: %v is reached, the price is %v", l, eps, lo, price)
			}
		}
	}
}

// TestFlatStart: a Gaussian of noise multiplier .05 has δ = 1 to all digits up to ε = 50 and
// falls then: one run has ε = 284.4 at δ = 1e-5.
func TestFlatStart(t *testing.T) {
	lo, hi, err := PriceOfBest(must(newGeometric(0.1))).Epsilon(context.Background(), gaussianCandidate(0.05), 1e-5, 1e-3)
	if one := must(gaussianBound(0.05).Epsilon(context.Background(), 1e-5)); err != nil || !(lo > one && lo <= hi && hi < lo+0.02) {
		t.Errorf("[%v, %v], %v; one run %v", lo, hi, err, one)
	}
	// What stays flat, and what has no values far out, ends where it stops falling.
	b := must(FromApproximate(1, 1e-3))
	pts := must(b.grid(fineness{accuracy: 1e-3, floor: -60, deep: -60}, nil))
	far := Bound(func(eps float64) float64 {
		if eps > 100 {
			return math.NaN()
		}
		return b(eps)
	})
	if p := must(far.grid(fineness{accuracy: 1e-3, floor: -60, deep: -60}, nil)); len(p) != len(pts) || p[len(p)-1].eps > 7 {
		t.Errorf("%d points up to %v, %d where it has values", len(p), p[len(p)-1].eps, len(pts))
	}
	// Where nothing below 1 is known, an infinite loss is certain.
	nothing := Bound(func(float64) float64 { return 0 })
	if p, err := nothing.Discretize(context.Background(), 1e-3, -60); err != nil || p.Support().LogPInf != 0 || p.Support().LogQInf != 0 {
		t.Errorf("a bound of 1 has %+v, %v", p, err)
	}
	m, err := PriceOfBest(must(newGeometric(0.1))).Bounds(context.Background(), "search", profiles.AddRemove, nothing.Candidate(nothing, [2]func(float64) (float64, float64){}, nil), 1e-3, -40)
	if err != nil {
		t.Fatal(err)
	}
	for d, dir := range m.Directions {
		if x := logDeltaUpper(dir.Upper, 3); x != 0 {
			t.Errorf("direction %d of a search of what is not known: log δ(3) = %v, want 0", d, x)
		}
	}
}
