package selection

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
)

func epsilonOf(t *testing.T, delta float64, steps ...profiles.Profile) fourier.Result {
	t.Helper()
	s := fourier.New(fourier.DefaultOptions())
	for _, p := range steps {
		if err := s.Add(p, 1); err != nil {
			t.Fatal(err)
		}
	}
	return must(s.Epsilon(context.Background(), delta))
}

// TestPlanGap: selection-exact.md, sections 0 and 4: a geometric search of mean 10 over a
// Gaussian of noise multiplier 2, then one more such Gaussian: the mixture price there
// 4.0237, with Theorem U2 4.0089, the price before it 4.1995, the attacks 3.9355 to 3.9604. The issue asks for a gap
// of at most 2 %.
func TestPlanGap(t *testing.T) {
	m := must(PriceOfBest(must(withMean(1, 10))).Bounds(context.Background(), "search", profiles.AddRemove, gaussianCandidate(2), 1e-3, -60))
	g := must(profiles.NewGaussian(2))
	d := m.Directions[0]
	up, low := epsilonOf(t, 1e-5, d.Upper, g).Upper, epsilonOf(t, 1e-5, d.Lower, g).Lower
	t.Logf("search and Gaussian [%v, %v]", low, up)
	if !(up < 4.0089 && low > 3.9604 && low < up && up-low < 0.02*up) {
		t.Errorf("search and Gaussian: [%v, %v]", low, up)
	}
	// The step alone: one chord of 1e-3 above, a ranking for compositions below.
	up, low = epsilonOf(t, 1e-5, d.Upper).Upper, epsilonOf(t, 1e-5, d.Lower).Lower
	t.Logf("search alone [%v, %v]", low, up)
	if !(up < 3.0099+1.5e-3 && up > 3.0096 && low > 2.95 && low < 3.0099) {
		t.Errorf("search alone: [%v, %v]", low, up)
	}
	up, low = epsilonOf(t, 1e-5, d.Upper, d.Upper).Upper, epsilonOf(t, 1e-5, d.Lower, d.Lower).Lower
	t.Logf("two searches [%v, %v]", low, up)
	// The specification's ends are 4.9810 and, with Theorem U2, 5.0720.
	if !(up < 5.0720 && low > 4.98 && up-low < 0.02*up) {
		t.Errorf("two searches: [%v, %v]", low, up)
	}
}

// TestComposedEnds: as mechanisms, the price dominates every ranking and what is attained
// is below the price at every ε, in both directions; and the pair attained is that of some
// ranking, so that no distinguisher sees more in it than in the candidate's K runs.
func TestComposedEnds(t *testing.T) {
	slow.Test(t)
	rng := rand.New(rand.NewPCG(3, 1))
	for range repeats(2, 12) {
		n := 2 + rng.IntN(3)
		p, q := brutePair(rng, n)
		if slices.Contains(p, 1) || slices.Contains(q, 1) {
			continue // refused: nothing below δ = 1 can be said
		}
		for _, l := range bruteLaws(rng) {
			prices := []Price{PriceOfBest(l)}
			if f, err := PriceOfFirstAbove(l); err == nil {
				prices = append(prices, f)
			}
			for _, price := range prices {
				m, err := price.Bounds(context.Background(), "search", profiles.AddRemove, finiteCandidate(p, q), 1e-3, -40)
				if err != nil {
					t.Fatalf("%v %v %v: %v", l, p, q, err)
				}
				for d, dir := range m.Directions {
					for eps := -3.0; eps <= 5; eps += 0.77 {
						up := math.Exp(logDeltaUpper(dir.Upper, eps))
						if dir.Lower != nil {
							if low := math.Exp(logDeltaLower(dir.Lower, eps)); low > up+1e-12 {
								t.Fatalf("%v %v %v, direction %d: attained %v above %v at ε = %v", l, p, q, d, low, up, eps)
							}
						}
						if price.first {
							continue
						}
						permutations(n, func(order []int) {
							pp, qq := make([]float64, n), make([]float64, n)
							for i, o := range order {
								pp[i], qq[i] = p[o], q[o]
							}
							a, b := bestLaw(l, pp), bestLaw(l, qq)
							if d == 1 {
								a, b = b, a
							}
							if h := hockeyStick(a, b, eps); h > up+1e-12 {
								t.Fatalf("%v %v %v, direction %d: a ranking reaches %v above %v at ε = %v", l, p, q, d, h, up, eps)
							}
						})
					}
				}
			}
		}
	}
}
