package rdp

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

func phi(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// delta is the profile of the Gaussian mechanism (Balle and Wang 2018, Theorem 8).
func delta(mu, epsilon float64) float64 {
	if mu == 0 {
		return max(0, -math.Expm1(epsilon))
	}
	return phi(mu/2-epsilon/mu) - math.Exp(epsilon)*phi(-mu/2-epsilon/mu)
}

// twoSteps is δ(ε) of a first step with μ1 and a second one that depends on its output y,
// which is N(0, 1) on one data set and N(μ1, 1) on the other, by the trapezoidal rule.
func twoSteps(mu1 float64, second func(y float64) float64, epsilon float64) float64 {
	const h = 4e-3
	sum := 0.0
	for y := -12.0; y < 12+mu1; y += h {
		loss := mu1*y - mu1*mu1/2
		sum += h * math.Exp(-(y-mu1)*(y-mu1)/2) / math.Sqrt(2*math.Pi) * delta(second(y), epsilon-loss)
	}
	return sum
}

// TestAdaptivePolicies: no second step that the filter admits after the first makes the two cost more than the budget;
// spending all that it says is left attains it.
func TestAdaptivePolicies(t *testing.T) {
	const mu, mu1 = 1.5, 0.9
	// The largest second step, by asking the filter. A cut between points of the rule costs it h² only.
	f, err := NewGaussianFilter(mu)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Spend(mu1 * mu1); err != nil {
		t.Fatal(err)
	}
	low, high := 0.0, 10.0
	for range 60 {
		x := (low + high) / 2
		if _, err := f.at2.with(Func(func(float64) float64 { return x * x })); err == nil {
			low = x
		} else {
			high = x
		}
	}
	left, cut := low, 0.502
	for _, c := range []struct {
		name   string
		second func(y float64) float64
		all    bool
	}{
		{"all", func(float64) float64 { return left }, true},
		{"if high", func(y float64) float64 {
			if y > cut {
				return left
			}
			return 0
		}, false},
		{"if low", func(y float64) float64 {
			if y < cut {
				return left
			}
			return 0
		}, false},
		{"smooth", func(y float64) float64 { return left * phi(2*y) }, false},
		{"if in between", func(y float64) float64 { return left * math.Exp(-y*y) }, false},
	} {
		for _, epsilon := range []float64{-1, 0, 0.5, 1, 3, 6} {
			got, most := twoSteps(mu1, c.second, epsilon), delta(mu, epsilon)
			// The rule's error: next to none on a smooth integrand, h² at a jump.
			if !(got <= most*(1+1e-5)) || c.all && !(math.Abs(got-most) <= 1e-9*most) {
				t.Errorf("%s: δ(%v) = %v, budget %v", c.name, epsilon, got, most)
			}
		}
	}
}

// TestCheckedAfterTheStep: a filter that stops after the step that passes the budget
// promises what does not hold; this one refuses that step, and only that.
func TestCheckedAfterTheStep(t *testing.T) {
	if got := twoSteps(0.9, func(float64) float64 { return 3 }, 1); math.Abs(got-0.813) > 1e-3 || got < delta(1, 1) {
		t.Errorf("δ(1) = %v, want 0.813, above the 0.127 of μ = 1", got)
	}
	f, err := NewGaussianFilter(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Spend(0.81); err != nil {
		t.Fatal(err)
	}
	err = f.Spend(9)
	if spent, _ := f.Spent(); !errors.Is(err, ErrBudget) || spent > 0.8101 {
		t.Errorf("%v, spent %v", err, spent)
	}
	if err := f.Spend(0.19 + 1e-12); !errors.Is(err, ErrBudget) {
		t.Errorf("more than the budget: %v", err)
	}
	if err := f.Spend(0); err != nil {
		t.Error(err)
	}
	for _, x := range []float64{-1, math.NaN()} {
		if err := f.Spend(x); err == nil || !strings.HasPrefix(err.Error(), "square: ") {
			t.Errorf("%v: %v", x, err)
		}
	}
	if err := f.Spend(math.Inf(1)); !errors.Is(err, ErrBudget) {
		t.Error(err)
	}
	if _, err := NewGaussianFilter(math.NaN()); err == nil {
		t.Error("no error for a budget of NaN")
	}
}

// TestWithinIsWithin: of the float64 that is returned, in 320 bits, the δ is at most the budget's to the last bit, and that
// of a little more is not, at the edges, too.
func TestWithinIsWithin(t *testing.T) {
	exact := func(mu, epsilon float64) *big.Float {
		half, ratio := oracle.Scale(oracle.F(mu), 0.5), oracle.Div(oracle.F(epsilon), oracle.F(mu))
		second := oracle.Mul(oracle.Exp(oracle.F(epsilon)), oracle.NormalTail(oracle.Add(ratio, half)))
		return oracle.Sub(oracle.NormalTail(oracle.Sub(ratio, half)), second)
	}
	for _, epsilon := range []float64{0, 1e-9, 0.1, 1, 8, 700} {
		for _, d := range []float64{1 - 1e-9, 0.5, 1e-2, 1e-5, 1e-12, 1e-50, 1e-300} {
			mu, err := MuWithin(epsilon, d)
			if err != nil {
				if epsilon < 1e-6 && d < 1e-11 {
					continue // no μ of float64's range
				}
				t.Fatal(err)
			}
			if got := exact(mu, epsilon); got.Cmp(oracle.F(d)) > 0 {
				t.Errorf("ε = %v, δ = %v: μ = %v has %v", epsilon, d, mu, got.Text('g', 25))
			}
			if got := exact(mu*(1+1e-9), epsilon); d <= 0.5 && got.Cmp(oracle.F(d)) < 0 { // next to 1 the logarithm of δ says less
				t.Errorf("ε = %v, δ = %v: a billionth more than μ = %v has %v", epsilon, d, mu, got.Text('g', 25))
			}
		}
	}
}

// TestWithin: the δ of the μ that is returned is at most the budget's, and that of a little
// more is not.
func TestWithin(t *testing.T) {
	for _, epsilon := range []float64{0, 0.1, 1, 8, 20} {
		for _, d := range []float64{0.5, 1e-2, 1e-5, 1e-9} {
			mu, err := MuWithin(epsilon, d)
			if err != nil {
				t.Fatal(err)
			}
			if got := delta(mu, epsilon); got > d*(1+1e-6) || delta(mu*(1+1e-5), epsilon) < d*(1-1e-6) {
				t.Errorf("ε = %v, δ = %v: μ = %v has %v", epsilon, d, mu, got)
			}
		}
	}
	for _, c := range []struct {
		epsilon, delta float64
		want           string
	}{{1, 0, "delta: 0 is not in (0, 1)"}, {1, 1, "delta: 1"}, {math.NaN(), 0.1, "epsilon: NaN"}, {-1, 0.1, "epsilon: -1"}, {0, 1e-300, "epsilon: 0 with delta"}} {
		if _, err := MuWithin(c.epsilon, c.delta); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
