package copies

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/profiletest"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// The sums are those of the public choice of the single profiles.
func TestLaplaces(t *testing.T) {
	for _, c := range []struct {
		n, b, m int64
		sigma   float64
	}{{10000, 118, 200, 4}, {10, 10, 5, 1}, {3, 2, 3, 0.5}, {1000, 200, 100, 0.01}, {100, 50, 1000, 4}, {10000, 118, 200, 1e6}, {1000, 100, 50, 2e-4}} {
		for name, law := range map[string]Law{"WR": WithReplacement(c.n, c.m), "WW": MustWW(c.n, c.b, c.m)} {
			b := must(profiles.NewLaplaceMechanism(c.sigma))
			p := must(GroupMixture(b, law, profiles.Substitute)).(*laplaceMixture)
			var want publicChoice
			for u := 1; u < len(law.LogP); u++ {
				item, err := Group(b, u, profiles.Substitute)
				if err != nil || math.IsInf(law.LogP[u], -1) {
					continue
				}
				want.items = append(want.items, item)
				want.logW = append(want.logW, law.LogP[u]-math.Log(law.Eta))
				want.err = append(want.err, law.Err[u]+law.EtaErr+xmath.U*(2+xmath.FiniteAbs(law.LogP[u])))
			}
			want.above = make([]float64, len(want.items)+1)
			want.above[len(want.items)] = p.rest
			if c.n == 3 { // the other atoms are too light to be seen
				profiletest.Run(t, p, nil, profiletest.Grid(p, 1/c.sigma))
			}
			grid := []float64{0, 1e-9, -1e-9, 0.3 / c.sigma, -0.3 / c.sigma}
			for i, m := range p.m {
				if i%7 < 2 {
					grid = append(grid, m*(1+1e-12), m*(1-1e-12), -m*(1+1e-12), -m*(1-1e-12), m+0.3/c.sigma, -m-0.3/c.sigma)
				}
			}
			for _, eps := range grid {
				got, exact := p.Tails(eps, 0), want.Tails(eps, 0)
				for _, x := range [][3]float64{{got.P, exact.P, got.Err + exact.Err}, {got.Q, exact.Q, got.Err + exact.Err},
					{got.PC, exact.PC, got.ErrC + exact.ErrC}, {got.QC, exact.QC, got.ErrC + exact.ErrC}} {
					if x[0] != x[1] && !(math.Abs(x[0]-x[1]) <= x[2]) {
						t.Errorf("%+v %s at %v: %v, want %v", c, name, eps, got, exact)
						break
					}
				}
				if got.Err > 1e-3 || got.ErrC > 1e-3 {
					t.Errorf("%+v %s at %v: errors of %v", c, name, eps, got)
				}
			}
		}
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
