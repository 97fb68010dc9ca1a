package selection

import (
	"math"
	"math/big"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// TestTiltedWeights: the weights of a table that a share is taken from are within what its slack says of the truth, which they would not
// be without what the exponents round.
func TestTiltedWeights(t *testing.T) {
	needed := false
	for _, p := range []float64{0.3, 0.999, 1 - 1e-9, 1 - 3e-14, 1 - 7e-16} {
		l := newConditioned(0.5, 0.02, 24)
		tilted := *l
		tilted.tilted = true // as a table that was tilted before
		c := tilted.without(p).(*capped)
		q := oracle.Sub(oracle.F(1), oracle.F(p))
		want := oracle.F(c.pmf[1])
		for k := 2; k <= c.max(); k++ {
			want = oracle.Mul(want, oracle.Mul(q, oracle.Div(oracle.F(l.pmf[k]), oracle.F(l.pmf[k-1]))))
			if c.pmf[k] < 1e-300 {
				break
			}
			off, _ := new(big.Float).Quo(oracle.Sub(oracle.F(c.pmf[k]), want), want).Float64()
			if math.Abs(off) > c.slack() {
				t.Errorf("p = %v: weight %d is off by %v, more than %v", p, k, off, c.slack())
			}
			needed = needed || math.Abs(off) > c.slack()-c.tiltErr
		}
	}
	if !needed {
		t.Error("no weight needs what tilting adds: this test notices nothing")
	}
}

// TestBinomialTail: rounded up, against sums in 320 bits.
func TestBinomialTail(t *testing.T) {
	for _, c := range []struct {
		n, k int
		q    float64
	}{{1, 1, 0.25}, {30, 5, 0.3}, {200, 90, 0.5}, {1000, 2, 0.01}, {50, 51, 0.7}} {
		sum := oracle.New()
		for j := range min(c.k, c.n+1) {
			term := oracle.New().SetInt(new(big.Int).Binomial(int64(c.n), int64(j)))
			for i := range c.n {
				x := oracle.F(c.q)
				if i >= j {
					x = oracle.Sub(oracle.F(1), x)
				}
				term = oracle.Mul(term, x)
			}
			sum = oracle.Add(sum, term)
		}
		want, _ := sum.Float64()
		if got := binomialTail(c.n, c.k, c.q); oracle.F(got).Cmp(sum) < 0 && got < 1 || got > want*(1+1e-6)+1e-300 {
			t.Errorf("Pr[Bin(%d, %v) < %d] = %v, want %v rounded up", c.n, c.q, c.k, got, want)
		}
	}
}

// TestLowerEndsOfACandidate: what a candidate reaches is rounded down when it is tabulated, against 320 bits.
func TestLowerEndsOfACandidate(t *testing.T) {
	upper := Bound(func(eps float64) float64 { return -0.05 - eps })
	reached := func(eps float64) float64 { return -0.1 - 1.37*eps }
	both := func(eps float64) (down, up float64) { return reached(eps), upper(eps) }
	c := upper.Candidate(upper, [2]func(float64) (float64, float64){both, both}, nil)
	s, err := c.side(t.Context(), 0, fineness{accuracy: 0.05, floor: -20, deep: -20}, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.low) < 50 {
		t.Fatalf("%d points: this test notices little", len(s.low))
	}
	for i, e := range s.eps {
		if want := oracle.Exp(oracle.F(reached(e))); oracle.F(s.low[i]).Cmp(want) > 0 {
			t.Errorf("at ε = %v: %v is above e^%v", e, s.low[i], reached(e))
		}
	}
}
