package copies

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// TestStagedSharesAddUp checks the solution that GaussianWW's tails rest on: the
// shares of the mass of no slot add up to it. Near the largest κ, where the
// sum's logarithm is steep, a small step of Newton's method is no solution.
func TestStagedSharesAddUp(t *testing.T) {
	type setting struct {
		n, b, m  int64
		sigma, e float64
	}
	cases := []setting{
		{5, 5, 26, 0.46121548501875487, 13.50810226641566},
		{4, 4, 62, 0.4914411300980516, 1.2423903471939164},
	}
	rnd := rand.New(rand.NewPCG(17, 1))
	for range 400 {
		n := int64(3 + math.Exp(rnd.Float64()*7))
		cases = append(cases, setting{n, 1 + int64(rnd.Float64()*float64(n)), 1 + int64(math.Exp(rnd.Float64()*5)),
			math.Exp(rnd.Float64()*4 - 1), math.Exp(rnd.Float64()*9 - 6)})
	}
	for _, c := range cases {
		p := wwOf(c.n, c.b, c.m, 2/c.sigma)
		s, _, _, err := p.share(c.e, 0)
		sum := newLogSum()
		for j := range s.n {
			if _, _, a, _ := p.item[j].slope(s.t[j]); s.active[j] && a > c.e {
				sum.add(p.logPi[j]+a+xmath.Log1mExp(c.e-a), 0)
			}
		}
		want := p.logNone + c.e + xmath.Log1mExp(-c.e)
		// An error of log κ moves the sum by its slope, which is largest near the
		// largest κ; 1e-11 of log κ is what the search leaves.
		if d := math.Abs(sum.now() - want); !(d < 0.1) && err < 1e-3 {
			t.Errorf("%+v: the shares' log is %v, want %v", c, sum.now(), want)
		}
	}
}

// An inexact loss moves the thresholds with a share by what their own tail, further
// copies and all, needs to follow κ; where no slot is without the record (n = 1)
// nobody has a share.
func TestStagedErrors(t *testing.T) {
	for _, c := range []struct {
		n, b, m    int64
		theta, eps float64
	}{{2, 19, 3, 0.34082545591909, 0.06847531408582437}, {1, 9, 21, 0.0351244515314949, 0.009579540254926753}, {1, 51, 43, 0.03217086175357739, 0.03968492268854014}} {
		p := wwOf(c.n, c.b, c.m, c.theta)
		for _, tol := range []float64{0, 1e-12, 1e-9, 1e-7} {
			got := p.Tails(c.eps, tol)
			for _, e := range []float64{c.eps - tol, c.eps + tol} {
				at := p.Tails(e, 0)
				if !(max(math.Abs(got.P-at.P), math.Abs(got.Q-at.Q)) <= got.Err+at.Err) {
					t.Errorf("%+v ± %v: %+v, at %v: %+v", c, tol, got, e, at)
				}
			}
			if x := float64(c.m) * c.theta; c.n == 1 { // all draws are copies
				y := x/2 + c.eps/x
				if d := max(math.Abs(got.P-xmath.LogNormalTail(y-x)), math.Abs(got.Q-xmath.LogNormalTail(y))); !(d <= got.Err) {
					t.Errorf("%+v ± %v: off by %v, stated %v", c, tol, d, got.Err)
				}
			}
		}
	}
}

// wwOf is the bound of MUST.WW for the scheme.
func wwOf(n, b, m int64, theta float64) *GaussianWW {
	return NewGaussianWW(n, b, m, MustWW(n, b, m), theta)
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
