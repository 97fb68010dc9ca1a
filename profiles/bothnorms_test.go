package profiles

import (
	"math"
	"strings"
	"testing"
)

// TestBothNorms: no more than either norm costs, at least what attained pairs do, and of many runs about what the L2 norm costs.
func TestBothNorms(t *testing.T) {
	for _, c := range []struct {
		name   string
		m      func() (Mechanism, error)
		l1, mu float64 // 1/b·L1, and μ
	}{
		{"laplace", func() (Mechanism, error) { return WithL2(sure(NewLaplaceMechanism(2)), 0.3) }, 0.5, 0.3 * math.Sqrt(math.Pi/2) / 2},
		{"discrete-laplace", func() (Mechanism, error) { return WithL2(sure(NewDiscreteLaplaceMechanism(2, 30)), 6) }, 0.5, 6 * 0.0208884},
	} {
		m, err := c.m()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []Relation{AddRemove, Substitute} {
			p, err := m.Pair(r)
			if err != nil {
				t.Fatal(err)
			}
			l1, err := m.(bothNorms).l1.Pair(r)
			if err != nil {
				t.Fatal(err)
			}
			twice := 1.0
			if r == Substitute {
				twice = 2
			}
			mu, err := Mu(m, r)
			if err != nil || math.Abs(mu-twice*c.mu) > 1e-4*c.mu {
				t.Errorf("%s: μ = %v, want %v; %v", c.name, mu, twice*c.mu, err)
			}
			closer := 0
			for eps := 0.0; eps < twice*c.l1*1.1; eps += 0.003 {
				got, e := LogDelta(p, eps)
				a, _ := LogDelta(l1, eps)
				b, _ := LogDelta(normalLoss{mu: mu}, eps)
				if math.Exp(got) > math.Exp(min(a, b))+1e-9+math.Expm1(e) && math.Exp(got) > math.Exp(min(a, b))*(1+1e-5) {
					t.Errorf("%s, ε = %v: %v, above %v and %v", c.name, eps, math.Exp(got), math.Exp(a), math.Exp(b))
				}
				if got < a-0.1 {
					closer++
				}
				one, err := m.(bothNorms).one.Pair(r)
				if err != nil {
					t.Fatal(err)
				}
				if low, _ := LogDelta(one, eps); math.Exp(low) > math.Exp(got)+1e-12 {
					t.Errorf("%s, ε = %v: %v is below an attack, %v", c.name, eps, math.Exp(got), math.Exp(low))
				}
			}
			if closer < 20 || p.Support().Max > twice*c.l1*(1+1e-9) {
				t.Errorf("%s: closer at %d losses, largest loss %v", c.name, closer, p.Support().Max)
			}
		}
	}
	laplace := sure(NewLaplaceMechanism(2))
	for _, c := range []struct {
		m  Mechanism
		l2 float64
	}{{laplace, 0}, {laplace, 1.1}, {laplace, math.NaN()}, {sure(WithL2(laplace, 0.5)), 0.5}, {sure(NewDiscreteLaplaceMechanism(2, 30)), 5},
		{sure(NewDiscreteGaussianNumber(2, 1)), 1}, {sure(NewGaussianMechanism(2)), 0.5}} {
		if _, err := WithL2(c.m, c.l2); err == nil || !strings.Contains(err.Error(), "l2-sensitivity: ") {
			t.Errorf("%s with an L2 sensitivity of %v: %v", c.m.Name(), c.l2, err)
		}
	}
}

func sure[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
