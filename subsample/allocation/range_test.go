package allocation

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/positive"
	"github.com/dpaccountant/accountant/profiles"
)

// Losses whose likelihood ratios no float64 has. One of two steps: the truth of pure ε is
// δ(x) = (P₁Q + QP₁)/2 against QQ for x up to ε, and 0 from ε on; upper ends may be vacuous, but a lower end
// must not be above it, and nothing panics. (Pure 720 had δ(3000) = 1 for both ends, and ε = ∞; pure 600,
// 350 in three epochs and 1000 epochs of noise 1 ended in a panic.)
func TestLossesBeyondTheRangeOfValues(t *testing.T) {
	ends := func(m profiles.Bounds, eps float64) (lower, upper float64) {
		for _, d := range m.Directions {
			var of [2]float64
			for i, p := range []profiles.Profile{d.Lower, d.Upper} {
				s := fourier.New(fourier.DefaultOptions())
				if err := s.Add(p, 1); err != nil {
					t.Fatal(err)
				}
				r, err := s.Delta(t.Context(), eps)
				if err != nil {
					t.Fatal(err)
				}
				of[i] = []float64{r.Lower, r.Upper}[i]
			}
			lower, upper = max(lower, of[0]), max(upper, of[1])
		}
		return lower, upper
	}
	two, err := NewRandom(2)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []float64{200, 350, 600, 720, 2000, 1e6} {
		b, err := profiles.NewPure(e)
		if err != nil {
			t.Fatal(err)
		}
		m, err := two.Bounds(t.Context(), b, profiles.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []float64{1, 100, e - 10, e + 1, 2 * e} {
			truth := 0.0
			if x < e {
				truth = 1 // at most
			}
			if low, up := ends(m, x); low > truth || up < truth*0.99 {
				t.Errorf("pure %v, one of two steps: δ(%v) in [%v, %v], want about %v", e, x, low, up, truth)
			}
		}
	}
	many, err := two.WithEpochs(1000)
	if err != nil {
		t.Fatal(err)
	}
	g, err := profiles.NewGaussianMechanism(1)
	if err != nil {
		t.Fatal(err)
	}
	m, err := many.Bounds(t.Context(), g, profiles.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{1, 1e3, 1e4} {
		if low, up := ends(m, x); !(low >= 0 && low <= up) || math.IsNaN(up) {
			t.Errorf("1000 epochs of noise 1: δ(%v) in [%v, %v]", x, low, up)
		}
	}
	// A law of some thousand losses, of which all but a few are so rare that a coarse one has a single loss.
	l, err := profiles.NewLaplaceMechanism(0.001)
	if err != nil {
		t.Fatal(err)
	}
	m, err = two.Bounds(t.Context(), l, profiles.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range m.Directions {
		for _, p := range []profiles.Profile{d.Lower, d.Upper} {
			s := fourier.New(fourier.DefaultOptions())
			if err := s.Add(p, 1); err != nil {
				t.Fatal(err)
			}
			s.Proves(t.Context(), 100, 1-0x1p-53)
		}
	}
}

// Substitution with so little noise that sums of differences have no digits from h of a third on: the table goes on by
// what a known step costs and ends, and no end is infinite. (It had 400 rows, all of them 1, which took 65 s, and ε(1e-5)
// of two epochs was infinite.)
func TestSubstituteNextToNoNoise(t *testing.T) {
	const sigma, delta = 0.2944586368491331, 1e-5
	b, err := profiles.NewGaussianMechanism(sigma)
	if err != nil {
		t.Fatal(err)
	}
	for _, epochs := range []int64{1, 8} {
		s := must(must(NewRandom(2)).WithEpochs(epochs))
		s = sharp(s, target{Delta: delta, Relative: 0.3})
		m, err := s.Bounds(t.Context(), b, profiles.Substitute)
		if err != nil {
			t.Fatal(err)
		}
		seen, err := profiles.NewGaussian(sigma / 2 / math.Sqrt(float64(epochs)))
		if err != nil {
			t.Fatal(err)
		}
		var ends [3]float64
		for i, p := range []profiles.Profile{m.Directions[0].Lower, m.Directions[0].Upper, seen} {
			sum := fourier.New(fourier.DefaultOptions())
			if err := sum.Add(p, 1); err != nil {
				t.Fatal(err)
			}
			r, err := sum.Epsilon(t.Context(), delta)
			if err != nil {
				t.Fatal(err)
			}
			ends[i] = []float64{r.Lower, r.Upper, r.Upper}[i]
		}
		if !(ends[0] > 0 && ends[0] <= ends[1] && ends[1] <= ends[2]*(1+1e-6)) {
			t.Errorf("%d epochs: ε in [%v, %v], and %v where the steps are known", epochs, ends[0], ends[1], ends[2])
		}
	}
	one := sharp(must(NewRandom(2)), target{Delta: 0.5, Relative: 0.5})
	seen, err := profiles.NewGaussian(sigma / 2)
	if err != nil {
		t.Fatal(err)
	}
	ks, err := one.table(t.Context(), positive.LogNormal{S: 1 / sigma, Ulps: 4}, seen, 8)
	if err != nil {
		t.Fatal(err)
	}
	if last := ks[len(ks)-1]; len(ks) > 200 || !(last.up < 1e-6) {
		t.Errorf("%d rows, the last at %v with h ≤ %v", len(ks), last.eps, last.up)
	}
}

// Laplace noise so small that the laws have no points left at its losses: what hides nothing bounds them, for one
// use its own pair, for several their largest losses. (The upper end was infinite.)
func TestNextToNoNoise(t *testing.T) {
	l, err := profiles.NewLaplaceMechanism(0.001)
	if err != nil {
		t.Fatal(err)
	}
	for name, scheme := range map[string]Random{
		"one use": must(NewRandom(10)), "three epochs": must(must(NewRandom(10)).WithEpochs(3)), "two uses": must(must(NewRandom(10)).WithUses(2)),
	} {
		m, err := sharp(scheme, target{Delta: 1e-5, Relative: 1e-3}).Bounds(t.Context(), l, profiles.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		most := 1000 * float64(scheme.(randomScheme).uses*scheme.(randomScheme).epochs)
		for d, dir := range m.Directions {
			s := fourier.New(fourier.DefaultOptions())
			if err := s.Add(dir.Upper, 1); err != nil {
				t.Fatal(err)
			}
			// The truth is below the largest losses by log 10 or so for each use, which is where it was drawn.
			r, err := s.Epsilon(t.Context(), 1e-5)
			if err != nil {
				t.Fatal(err)
			}
			if !(r.Upper <= most*(1+1e-9) && r.Upper >= most*0.99) {
				t.Errorf("%s, direction %d: ε ≤ %v, want nearly %v", name, d, r.Upper, most)
			}
		}
	}
}

// Gaussian noise so small that every value of the law below is beyond all numbers (the sketch of the sum had one value
// left, and no place for a bump: a panic; or masses whose sum is no 1): above is what hides nothing, or a table of it.
func TestNextToNoGaussianNoise(t *testing.T) {
	schemes := map[string]Random{
		"one epoch": must(NewRandom(235)), "three epochs": must(must(NewRandom(235)).WithEpochs(3)), "one draw": must(must(NewRandom(235)).WithOneDraw(10)),
	}
	epsilon := func(p profiles.Profile) fourier.Result {
		s := fourier.New(fourier.DefaultOptions())
		if err := s.Add(p, 1); err != nil {
			t.Fatal(err)
		}
		r, err := s.Epsilon(t.Context(), 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for name, scheme := range schemes {
		for _, relation := range []profiles.Relation{profiles.AddRemove, profiles.Substitute} {
			for _, sigma := range []float64{0.01, 1e-6} {
				g, err := profiles.NewGaussianMechanism(sigma)
				if err != nil {
					t.Fatal(err)
				}
				m, err := sharp(scheme, target{Delta: 1e-5, Relative: 1e-3}).Bounds(t.Context(), g, relation)
				if err != nil {
					t.Fatalf("%s, %v, σ = %v: %v", name, relation, sigma, err)
				}
				one, err := g.Pair(relation)
				if err != nil {
					t.Fatal(err)
				}
				seen := epsilon(one.(profiles.Gaussian).Repeat(scheme.(randomScheme).epochs, nil))
				for d, dir := range m.Directions {
					// A use that is hidden costs log 235 less or so; between two rows a table has chords, of twice the loss at most.
					if low, up := epsilon(dir.Lower).Lower, epsilon(dir.Upper).Upper; !(low <= seen.Upper && up >= seen.Lower*0.99 && up <= 2*seen.Upper) {
						t.Errorf("%s, %v, σ = %v, direction %d: ε in [%v, %v], want about %v", name, relation, sigma, d, low, up, seen.Upper)
					}
				}
			}
		}
	}
}
