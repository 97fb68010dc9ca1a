package copies

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// The loss of the opposite pair at ε ± tol is within the distance that is said, also where tol is not small.
func TestOppositeTolerance(t *testing.T) {
	for _, records := range []int64{2, 8, 64} {
		p := NewGaussianOpposite(Coins(records, 0.05), 2/1.5)
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
