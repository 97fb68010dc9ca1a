package choice

import (
	"math"
	"math/big"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// TestThresholdsThatHideOnePerson: keys of one person that are shown with a probability below 1e-15, and noise
// far wider than a count. Both were refused, as "masses: the sum 2520.77 is above 1": the law of no count has no
// digit next to ε = 0 where it is a difference of tails.
func TestThresholdsThatHideOnePerson(t *testing.T) {
	for _, c := range []struct {
		noise            string
		scale, threshold float64
		partitions       int
	}{
		{"gaussian", 10, 120, 1}, {"gaussian", 1, 38, 1}, {"gaussian", 1, 38, 40}, {"laplace", 1, 1000, 1}, {"laplace", 0.1, 70, 1}, {"laplace", 1e3, 5e3, 1},
		{"discrete-laplace", 2, 90, 1}, {"laplace", 1e12, 1e12, 1}, {"gaussian", 1e12, 1.5, 1}, {"gaussian", 1e9, 5e9, 1}, {"discrete-laplace", 1e12, 1.5, 1},
	} {
		th, err := NewThreshold(c.noise, c.scale, c.threshold, c.partitions)
		if err != nil {
			t.Fatal(err)
		}
		d, err := th.(thresholdRelease).chords()
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		for _, add := range []bool{false, true} {
			p := profiles.Profile(d)
			if add {
				p = profiles.Reverse(d)
			}
			for _, eps := range []float64{0, 0.1 / c.scale, 0.5 / c.scale, 0.9 / c.scale} {
				lower, upper, _ := th.(thresholdRelease).largest(eps, add)
				tails := p.Tails(eps, 0)
				// The chords are above what is attained, and not far above the bound: δ from tails, rounded up.
				v := math.Exp(tails.P+tails.Err) - math.Exp(eps+tails.Q-tails.Err)
				if slack := 2 * tails.Err * math.Exp(tails.P); v < math.Exp(lower) || v > math.Exp(upper)*1.01+slack {
					t.Errorf("%+v, add %v: δ(%v) of chords is %v, one run has [%v, %v]", c, add, eps, v, math.Exp(lower), math.Exp(upper))
				}
			}
		}
	}
}

// TestNoCountHasAClosedForm: one key of one person, who is alone in it, under "add": δ is 1 − (1 − π)e^…, of the coin alone.
func TestNoCountHasAClosedForm(t *testing.T) {
	th, err := NewThreshold("gaussian", 10, 120, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{-1e-300, -1e-30, -1e-17, -1e-9, -1, -50} {
		lower, upper, err := th.(thresholdRelease).countsDelta(0, false, x, 0)
		want := new(big.Float).SetPrec(2000).SetFloat64(x) // 1 − e^x = −x(1 + x/2 + …)
		term, sum := new(big.Float).Copy(want), new(big.Float).SetPrec(2000)
		for k := 2; k < 400; k++ {
			sum.Sub(sum, term)
			term.Mul(term, want).Quo(term, big.NewFloat(float64(k)))
		}
		mantissa := new(big.Float)
		exponent := sum.MantExp(mantissa)
		m, _ := mantissa.Float64()
		log := math.Log(m) + float64(exponent)*math.Ln2
		if err != nil || !(lower <= log+1e-13*math.Abs(log) && upper >= log-1e-13*math.Abs(log) && upper-lower < 1e-11) {
			t.Errorf("log δ(%v) in [%v, %v], %v, want %v", x, lower, upper, err, log)
		}
	}
	if lower, upper, _ := th.(thresholdRelease).countsDelta(0, false, 0, 0); !math.IsInf(lower, -1) || !math.IsInf(upper, -1) {
		t.Errorf("log δ(0) of no count in [%v, %v], not −∞", lower, upper)
	}
}

// TestInfiniteLossesBelowAllNumbers: a key of one person is shown with e^−1e6 or less, for which e^−690 stands above. What
// is attained has no infinite loss of that size: ε(1e-300) had the lower end ∞.
func TestInfiniteLossesBelowAllNumbers(t *testing.T) {
	for _, c := range []struct {
		noise            string
		scale, threshold float64
		partitions       int
	}{{"gaussian", 1, 100, 1}, {"gaussian", 1, 100, 1000000}, {"laplace", 1, 1000, 1}, {"discrete-laplace", 1e-6, 1.5, 1}, {"gaussian", 1e-6, 1e6, 1000000}} {
		th, err := NewThreshold(c.noise, c.scale, c.threshold, c.partitions)
		if err != nil {
			t.Fatal(err)
		}
		b, err := th.(thresholdRelease).Once(profiles.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range b.Directions {
			if s := d.Lower.Support(); !math.IsInf(s.LogPInf, -1) {
				t.Errorf("%+v: a lower profile with an infinite loss of e^%v", c, s.LogPInf)
			}
		}
		if s := b.Directions[0].Upper.Support(); math.IsInf(s.LogPInf, -1) {
			t.Errorf("%+v: an upper profile without an infinite loss", c)
		}
	}
}

// TestOneRunIsExact: the lower profile is the upper one, so that no gap is reported where there is none.
func TestOneRunIsExact(t *testing.T) {
	th, err := NewThreshold("gaussian", 10, 120, 3)
	if err != nil {
		t.Fatal(err)
	}
	b, err := th.(thresholdRelease).Once(profiles.AddRemove)
	if err != nil || b.Directions[0].Lower != b.Directions[0].Upper || b.Directions[1].Lower != b.Directions[1].Upper {
		t.Errorf("%+v, %v", b, err)
	}
}

// TestNoisyMaxOfTinyLosses: no adversary on a grid passes the margin of reachable, and seven runs were an internal error.
func TestNoisyMaxOfTinyLosses(t *testing.T) {
	for _, noise := range []string{laplaceNoise, exponentialNoise} {
		for _, eps := range []float64{1e-9, 2e-9, 1e-8} {
			reached, _, err := lone{noise, eps}.Reached(t.Context(), 7, 1e-3)
			if err != nil || len(reached[0]) == 0 {
				t.Errorf("%v noise at ε = %v: %v, %v", noise, eps, reached, err)
			}
		}
	}
}

// TestRoundingOfLargeRanges: after one run the values of Theorem 2 are those of a closed form,
// W(e^a) = (e^{ε/2} − e^{a/2})²/(e^ε − 1), without an error of chords: what is above and below them is the
// rounding that is counted, of e^t and t up to ε too.
func TestRoundingOfLargeRanges(t *testing.T) {
	for _, eps := range []float64{0.3, 7.7, 57.3, 83.37, 99.9, 99.99999999999999} {
		g := newGrid(eps, 32)
		up, err := g.upper(t.Context(), 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		low, _, err := g.lower(t.Context(), g.turns(), nearStrides, 1)
		if err != nil {
			t.Fatal(err)
		}
		e := bigExp(new(big.Float).SetPrec(400).SetFloat64(eps))
		one := new(big.Float).SetPrec(400).SetInt64(1)
		for i := 0; i < 32; i += 2 { // the best t, (ε + a)/2, is a node
			part := func(share float64) *big.Float {
				x := new(big.Float).SetPrec(400).SetFloat64(eps)
				return bigExp(x.Mul(x, new(big.Float).SetFloat64(share)))
			}
			x := part(0.5)
			x.Sub(x, part(float64(i)/64))
			x.Mul(x, x).Quo(x, new(big.Float).SetPrec(400).Sub(e, one))
			if new(big.Float).SetFloat64(up[i]).Cmp(x) < 0 {
				t.Errorf("ε = %v: W(%v·ε/32) is %v, the upper value is %v", eps, i, x, up[i])
			}
			if i < len(low) && new(big.Float).SetFloat64(low[i]).Cmp(x) > 0 {
				t.Errorf("ε = %v: W(%v·ε/32) is %v, the lower value is %v", eps, i, x, low[i])
			}
		}
	}
}

// bigExp returns e^x for |x| up to some hundred, to about 380 bits.
func bigExp(x *big.Float) *big.Float {
	y := new(big.Float).SetPrec(400).SetMantExp(x, -20) // the twentieth square of e^{x/2^20}
	sum, term := new(big.Float).SetPrec(400).SetInt64(1), new(big.Float).SetPrec(400).SetInt64(1)
	for k := 1; k < 60; k++ {
		term.Mul(term, y).Quo(term, new(big.Float).SetInt64(int64(k)))
		sum.Add(sum, term)
	}
	for range 20 {
		sum.Mul(sum, sum)
	}
	return sum
}
