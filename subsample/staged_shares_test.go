package subsample

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// TestStagedSharesAddUp checks the solution that staged's tails rest on: the
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
		p := stagedOf(must(NewMustWW(c.n, c.b, c.m)), 2/c.sigma)
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

func stagedOf(s FixedSize, theta float64) *staged { return s.stagedProfile(s.Multiplicity(), theta) }
