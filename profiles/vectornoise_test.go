package profiles_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// A vectorTruth is the law of ⟨v, output⟩ of discrete Gaussian noise on the vector
// v, by the convolution of its coordinates in plain probabilities.
type vectorTruth struct {
	sigma float64
	norm2 int
	law   map[int]float64 // of ⟨v, noise⟩
}

func newVectorTruth(sigma float64, v []int) vectorTruth {
	reach := int(14*sigma) + 3
	w := func(k int) float64 { return math.Exp(-float64(k*k) / (2 * sigma * sigma)) }
	z := 0.0
	for k := -reach; k <= reach; k++ {
		z += w(k)
	}
	t := vectorTruth{sigma: sigma, law: map[int]float64{0: 1}}
	for _, x := range v {
		t.norm2 += x * x
		next := map[int]float64{}
		for j, p := range t.law {
			for k := -reach; k <= reach; k++ {
				next[j+x*k] += p * w(k) / z
			}
		}
		t.law = next
	}
	return t
}

// delta returns δ(ε); under P the output is v + noise.
func (t vectorTruth) delta(eps float64) float64 {
	sum := 0.0
	for j, p := range t.law {
		loss := float64(2*j+t.norm2) / (2 * t.sigma * t.sigma)
		if loss > eps {
			sum += p * -math.Expm1(eps-loss)
		}
	}
	return sum
}

func partitions(n, largest int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var out [][]int
	for k := largest; k >= 1; k-- {
		if k*k <= n {
			for _, rest := range partitions(n-k*k, k) {
				out = append(out, append([]int{k}, rest...))
			}
		}
	}
	return out
}

func deltaOf(t *testing.T, p profiles.Profile, eps float64) float64 {
	t.Helper()
	d, err := profiles.LogDelta(p, eps)
	if err > 1e-6 {
		t.Fatalf("LogDelta(%v) has error %v", eps, err)
	}
	return math.Exp(d)
}

// The table of issue 13 and of docs/theory/pairs.md: the worst vector is not one whole number.
func TestVectorOfWholeNumbersGolden(t *testing.T) {
	for _, c := range []struct {
		s               int
		sigma, eps      float64
		number, largest float64
	}{
		{2, 1, 1, 0.540293618, 0.540293618},
		{2, 1, 2, 0.266781775, 0.315348241},
		{2, 2, 0.5, 0.230039887, 0.236339536},
		{2, 2, 1, 0.119611605, 0.125103570},
		{2, 2, 2, 0.0183304615, 0.0202555828},
		{3, 3, 0.5, 0.234714007, 0.238011105},
		{3, 1.5, 2, 0.302587591, 0.328617254},
	} {
		noise := c.sigma / float64(c.s)
		v := deltaOf(t, pair(must(profiles.NewDiscreteGaussianMechanism(noise, float64(c.s))), profiles.AddRemove), c.eps)
		n := deltaOf(t, pair(must(profiles.NewDiscreteGaussianNumber(noise, c.s)), profiles.AddRemove), c.eps)
		if math.Abs(v/c.largest-1) > 2e-8 {
			t.Errorf("s %d, σ %v, δ(%v): %v, want %v", c.s, c.sigma, c.eps, v, c.largest)
		}
		if math.Abs(n/c.number-1) > 2e-8 {
			t.Errorf("s %d, σ %v, δ(%v) of one number: %v, want %v", c.s, c.sigma, c.eps, n, c.number)
		}
	}
}

// Between two losses the profile is a chord between the largest values at them, which is above the largest
// there where the worst vector changes: 0.605543863 and 0.600211330 are those of specification 2.9 at ε = 0.5.
func TestVectorBetweenLosses(t *testing.T) {
	for _, c := range []struct {
		s                           int
		sigma                       float64
		number, largest, mostExcess float64
	}{{2, 1, 0.602925092, 0.605543863, 0.03}, {3, 1.5, 0.591954151, 0.600211330, 0.01}} {
		noise := c.sigma / float64(c.s)
		p := pair(must(profiles.NewDiscreteGaussianMechanism(noise, float64(c.s))), profiles.AddRemove)
		if n := deltaOf(t, pair(must(profiles.NewDiscreteGaussianNumber(noise, c.s)), profiles.AddRemove), 0.5); math.Abs(n/c.number-1) > 2e-8 {
			t.Errorf("s %d: δ(0.5) of one number is %v, want %v", c.s, n, c.number)
		}
		truth := 0.0
		for _, v := range partitions(c.s*c.s, c.s) {
			truth = max(truth, newVectorTruth(c.sigma, v).delta(0.5))
		}
		got := deltaOf(t, p, 0.5)
		if math.Abs(truth/c.largest-1) > 2e-8 || got < truth*(1-1e-10) || got > truth*(1+c.mostExcess) {
			t.Errorf("s %d: δ(0.5) = %v, the largest is %v, want %v", c.s, got, truth, c.largest)
		}
	}
}

// Errata C9.1: in how many ways s² is a sum of squares, which for s = 12 is not "a few hundred".
func TestVectorListsGolden(t *testing.T) {
	for s, want := range map[int]int{4: 8, 6: 43, 8: 220, 10: 1116, 12: 5368} {
		if got := len(partitions(s*s, s)); got != want {
			t.Errorf("s = %d: %d vectors, want %d", s, got, want)
		}
	}
}

// At every loss that occurs the profile is the largest over all vectors, and
// nowhere below it.
func TestVectorOfWholeNumbersIsTheLargest(t *testing.T) {
	for _, c := range []struct {
		s     int
		sigma float64
		r     profiles.Relation
	}{
		{1, 0.5, profiles.AddRemove}, {2, 0.3, profiles.AddRemove}, {2, 0.69, profiles.AddRemove}, {2, 0.8, profiles.AddRemove}, {2, 1.7, profiles.AddRemove}, {2, 5, profiles.AddRemove},
		{3, 0.6, profiles.AddRemove}, {3, 1.5, profiles.AddRemove}, {4, 1.2, profiles.AddRemove},
		{1, 0.4, profiles.Substitute}, {1, 1, profiles.Substitute}, {1, 3, profiles.Substitute}, {2, 1, profiles.Substitute},
	} {
		t.Run(fmt.Sprint(c.s, c.sigma, c.r), func(t *testing.T) {
			b := must(profiles.NewDiscreteGaussianMechanism(c.sigma/float64(c.s), float64(c.s)))
			upper := pair(b, c.r)
			lower := pair(must(b.(profiles.Attacked).Attack(c.r)), c.r)
			norm := c.s
			if c.r == profiles.Substitute {
				norm *= 2
			}
			vs := partitions(norm*norm, norm)
			if c.s == 1 && norm == 2 {
				vs = [][]int{{2}, {1, 1}}
			}
			var truths []vectorTruth
			for _, v := range vs {
				truths = append(truths, newVectorTruth(c.sigma, v))
			}
			reached := false
			for m := -6; m <= 6+4*norm*norm; m += 1 + norm/3 {
				eps := float64(m) / (4 * c.sigma * c.sigma)
				most := 0.0
				for _, v := range truths {
					most = max(most, v.delta(eps))
				}
				if most < 1e-12 {
					continue
				}
				u, l := deltaOf(t, upper, eps), deltaOf(t, lower, eps)
				if u < most*(1-1e-10) {
					t.Errorf("δ(%v) = %v is below that of a vector, %v", eps, u, most)
				}
				if (m-2*norm*norm)%4 == 0 && u > most*(1+1e-10) {
					t.Errorf("δ(%v) = %v is above all vectors, %v, at a loss", eps, u, most)
				}
				if l > most*(1+1e-10) {
					t.Errorf("attack: δ(%v) = %v is above all vectors, %v", eps, l, most)
				}
				reached = reached || l > most*(1-1e-10)
			}
			if !reached {
				t.Error("the attack is nowhere the worst vector")
			}
		})
	}
}

// With sensitivity 1 one whole number is the worst under either relation, and the
// profile is exactly its.
func TestVectorOfSensitivityOneIsExact(t *testing.T) {
	for _, sigma := range []float64{0.05, 0.2, 0.5, 0.69, 0.71, 1, 1.7, 2.5, 3, 4, 10, 300} {
		b := must(profiles.NewDiscreteGaussianMechanism(sigma, 1))
		one := must(profiles.NewDiscreteGaussianNumber(sigma, 1))
		for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute} {
			if must(profiles.Unsampled(t.Context(), b, r)).TheoryGap() || !profiles.Equal(pair(b, r), pair(one, r)) {
				t.Errorf("σ = %v, %v: not that of one whole number", sigma, r)
			}
		}
	}
}
