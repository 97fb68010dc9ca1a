package copies

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/profiletest"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// The public choice of Laplace profiles, its transform with it, is a profile.
func TestLaplaceChoice(t *testing.T) {
	for _, law := range []Law{WithReplacement(3, 3), MustWW(3, 2, 3)} {
		p := must(GroupMixture(must(profiles.NewLaplaceMechanism(0.5)), law, profiles.Substitute))
		profiletest.Run(t, p, nil, profiletest.Grid(p, 2))
	}
}

// The tabled sums are those over the copies.
func TestSwitchedLaplaceSums(t *testing.T) {
	for _, c := range []struct {
		n, b, m int64
		theta   float64
	}{{10000, 118, 200, 0.5}, {10, 10, 5, 2}, {3, 2, 3, 4}, {1, 1, 3, 1}, {100, 50, 1000, 0.1}, {1000, 100, 50, 8}} {
		for name, law := range map[string]Law{"WR": WithReplacement(c.n, c.m), "OW": MustOW(c.n, min(c.b, c.n), c.m), "WW": MustWW(c.n, c.b, c.m)} {
			p := NewLaplaceAttack(law, c.theta)
			for k := range p.LogP {
				x := (float64(k) + 0.3) * c.theta
				ps, pc := newLogSum(), newLogSum()
				for u, l := range p.LogP {
					up, below := laplaceTails(x - float64(u)*c.theta)
					e := p.Err[u] + xmath.U*(4+2*math.Abs(x-float64(u)*c.theta))
					ps.add(l+up, e)
					pc.add(l+below, e)
				}
				got := p.beyond(k, x, 0)
				want, e1 := ps.value(len(p.LogP))
				wantC, e2 := pc.value(len(p.LogP))
				if got.P != want && !(math.Abs(got.P-want) <= got.Err+e1) || got.PC != wantC && !(math.Abs(got.PC-wantC) <= got.ErrC+e2) ||
					!(got.Err <= 3*e1+20*xmath.U && got.ErrC <= 3*e2+20*xmath.U) {
					t.Fatalf("%+v %s beyond %v: %+v, want %v ± %v, %v ± %v", c, name, x, got, want, e1, wantC, e2)
				}
			}
		}
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
