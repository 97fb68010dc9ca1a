package copies

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Plain numbers give what logarithms give, as exactly.
func TestPowers(t *testing.T) {
	for _, c := range []struct {
		n, b, m int64
		theta   float64
	}{{10000, 118, 200, 0.5}, {1000, 100, 50, 0.4}, {10, 10, 5, 2}, {3, 2, 3, 4}, {2, 1, 2, 1. / 64}, {1, 1, 3, 1}, {1e9, 1000, 10000, 7}, {100, 50, 1000, 0.1}, {20, 200, 30, 0.02}} {
		for name, law := range map[string]Law{"WR": WithReplacement(c.n, c.m), "OW": MustOW(c.n, min(c.b, c.n), c.m), "WW": MustWW(c.n, c.b, c.m)} {
			fast, slow := NewGaussianAttack(law, c.theta), NewGaussianAttack(law, c.theta)
			slow.fast = nil
			comparePlain(t, fmt.Sprintf("%+v %s attack", c, name), fast, slow, fast.fast, 3)
			one, two := NewGaussianWR(law, c.theta), NewGaussianWR(law, c.theta)
			two.fast = nil
			comparePlain(t, fmt.Sprintf("%+v %s WR", c, name), one, two, one.fast, 3)
		}
	}
	for _, c := range []struct {
		records         int64
		rate, deviation float64
	}{{2, 0.01, 1}, {64, 1e-4, 3}, {64, 0.3, 3}, {64, 0.1, 0.5}, {8, 0.5, 10}} {
		// A power of one number for each of 64 copies rounds as often.
		law := Coins(c.records, c.rate)
		fast, slow := NewGaussianOpposite(law, 2/c.deviation), NewGaussianOpposite(law, 2/c.deviation)
		slow.fast = nil
		comparePlain(t, fmt.Sprintf("%+v opposite", c), fast, slow, fast.fast, 30)
	}
}

// The loss of the opposite pair at ε ± tol is within the distance that is said, also where tol is not small.
func TestOppositeTolerance(t *testing.T) {
	for _, records := range []int64{2, 8, 64} {
		for _, plain := range []bool{true, false} {
			p := NewGaussianOpposite(Coins(records, 0.05), 2/1.5)
			if !plain {
				p.fast = nil
			}
			for _, eps := range []float64{1e-4, 0.01, 1, 20} {
				for _, tol := range []float64{1e-12, 1e-3, eps / 2} {
					got := p.Tails(eps, tol)
					for _, e := range []float64{eps - tol, eps + tol} {
						at := p.Tails(e, 0)
						if !(max(math.Abs(got.P-at.P), math.Abs(got.Q-at.Q)) <= got.Err+at.Err) || !(max(math.Abs(got.PC-at.PC), math.Abs(got.QC-at.QC)) <= got.ErrC+at.ErrC) {
							t.Errorf("%d records, %v ± %v: %+v, at %v: %+v", records, eps, tol, got, e, at)
						}
					}
				}
			}
		}
	}
}

// Where hardly any draw misses the record, the weights of few copies are out of the
// range of products, or of plain numbers.
func TestPowersManyCopies(t *testing.T) {
	for _, c := range []struct {
		n, m  int64
		theta float64
	}{{4, 1457, 2.9}, {1, 30, 2}, {2, 600, 0.05}, {2, 2000, 1.13}} {
		law := WithReplacement(c.n, c.m)
		fast, slow := NewGaussianAttack(law, c.theta), NewGaussianAttack(law, c.theta)
		slow.fast = nil
		comparePlain(t, fmt.Sprintf("%+v attack", c), fast, slow, fast.fast, 3)
		for e := 1e-3; e < 3000; e *= 7 { // the loss reaches down to log p_0
			if x := fast.Tails(-e, 0); x != x {
				t.Errorf("%+v at %v: %+v", c, -e, x)
			}
		}
		one, two := NewGaussianWR(law, c.theta), NewGaussianWR(law, c.theta)
		two.fast = nil
		comparePlain(t, fmt.Sprintf("%+v WR", c), one, two, one.fast, 3)
	}
}

// comparePlain compares the tails, whose errors may be worse by that factor.
func comparePlain(t *testing.T, name string, fast, slow profiles.Profile, w *fastSums, worse float64) {
	t.Helper()
	if w == nil {
		t.Fatalf("%s: no plain numbers", name)
	}
	var grid []float64
	for e := 1e-10; e < 300; e *= 2.3 {
		grid = append(grid, e, -e)
		if edge := slow.Support().Spike; edge < 0 && !math.IsInf(edge, 0) {
			grid = append(grid, edge*(1-e))
		}
	}
	for _, eps := range grid {
		for _, tol := range []float64{0, 1e-9, 1e-3} {
			got, want := fast.Tails(eps, tol), slow.Tails(eps, tol)
			for _, x := range [][4]float64{{got.P, want.P, got.Err, want.Err}, {got.Q, want.Q, got.Err, want.Err},
				{got.PC, want.PC, got.ErrC, want.ErrC}, {got.QC, want.QC, got.ErrC, want.ErrC}} {
				if x[0] != x[1] && !(math.Abs(x[0]-x[1]) <= x[2]+x[3]) || !(x[2] <= worse*x[3]+4*xmath.U) {
					t.Errorf("%s at %v ± %v: %+v, want %+v", name, eps, tol, got, want)
					break
				}
			}
		}
	}
}

// The tails at the loss of a given output are those of the output, however near the
// least loss, however far p_0 is from 1, and for an ε off by the tolerance.
func TestSwitchedByOutput(t *testing.T) {
	for _, c := range []struct {
		law      Law
		sigma, x float64
	}{{MustWW(40411, 3, 12), 107.85, 1.14}, {MustWW(20, 4, 58), 2.374, -9.7}, {MustWW(54002224, 3, 8), 7.7, -13}, {WithReplacement(2, 37), 11, -5.8}, {WithReplacement(2, 54), 3.4, 1.1}} {
		p := NewGaussianAttack(c.law, 1/c.sigma)
		loss := newLogSum()
		for u, l := range p.LogP {
			loss.add(l+p.Exponent(u, c.x), 0)
		}
		var want profiles.Tails
		var e float64
		want.P, want.Err = p.mixedTail(c.x, 0, 1)
		want.PC, want.ErrC = p.mixedTail(-c.x, 0, -1)
		want.Q, want.QC = xmath.LogNormalTail(c.x), xmath.LogNormalTail(-c.x)
		for _, tol := range []float64{0, 1e-12, 1e-6, 1e-3} {
			for _, side := range []float64{-1, 0, 1} {
				eps, slack := loss.now()+side*tol, tol+4*xmath.U*math.Abs(loss.now())
				if eps-slack <= p.LogNone {
					continue
				}
				got := p.Tails(eps, slack)
				if e = max(math.Abs(got.P-want.P), math.Abs(got.Q-want.Q)); !(e <= got.Err+want.Err) {
					t.Errorf("%+v at %v ± %v: %+v, want %+v", c, eps, tol, got, want)
				}
				if e = max(math.Abs(got.PC-want.PC), math.Abs(got.QC-want.QC)); !(e <= got.ErrC+want.ErrC) {
					t.Errorf("%+v at %v ± %v: %+v, want %+v", c, eps, tol, got, want)
				}
			}
		}
	}
}

// The tails of GaussianWR at ε ± tol are within the error of those at ε, where tol is of
// the order of ε too: the threshold moves further to the left than to the right.
func TestCoupledTolerance(t *testing.T) {
	for _, c := range []struct {
		n, m       int64
		sigma, eps float64
	}{{85814, 52, 0.36, 0.001056}, {85814, 52, 0.36, 0.00198}, {28884114, 32, 0.2168, 0.0108}, {15676759, 60, 6.733, 4.4088e-6}, {4140031, 21, 19.384, 2.175e-6}} {
		p := NewGaussianWR(WithReplacement(c.n, c.m), 1/c.sigma)
		for _, tol := range []float64{c.eps * 0.99, c.eps / 2, 1e-3 * c.eps, 1e-9 * c.eps} {
			got := p.Tails(c.eps, tol)
			for _, e := range []float64{c.eps - tol, c.eps + tol} {
				at := p.Tails(e, 0)
				if !(max(math.Abs(got.P-at.P), math.Abs(got.Q-at.Q)) <= got.Err+at.Err) || !(max(math.Abs(got.PC-at.PC), math.Abs(got.QC-at.QC)) <= got.ErrC+at.ErrC) {
					t.Errorf("%+v ± %v: %+v, at %v: %+v", c, tol, got, e, at)
				}
			}
		}
	}
}
