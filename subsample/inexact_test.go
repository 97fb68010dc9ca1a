package subsample

import (
	"math"
	"math/big"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/profiles"
)

// TestInexactRateMovesLosses: log(1 − q + q·e^y) at a rate that is off by one rounding, half a unit in its last place,
// moves by at most what inexact adds to the error of losses; in 320 bits.
func TestInexactRateMovesLosses(t *testing.T) {
	for _, c := range []struct{ rate, loss float64 }{{0.5, 2}, {1 - 0x1p-30, 30}, {0.999, 7}, {1e-3, 9}} {
		base := must(profiles.NewDiscrete([]profiles.Atom{
			{Loss: -c.loss, LogP: -c.loss - math.Log1p(math.Exp(-c.loss)), LogQ: -math.Log1p(math.Exp(-c.loss))},
			{Loss: c.loss, LogP: -math.Log1p(math.Exp(-c.loss)), LogQ: -c.loss - math.Log1p(math.Exp(-c.loss))},
		}, math.Inf(-1), math.Inf(-1), 0, 0))
		sampled := must(PoissonProfile(base, c.rate))
		more := inexact(sampled, c.rate).Support().LossErr - sampled.Support().LossErr
		for _, y := range []float64{-c.loss, c.loss} {
			odds := oracle.Sub(oracle.Exp(oracle.F(y)), oracle.F(1))
			at := func(q *big.Float) *big.Float { return oracle.Log(oracle.Add(oracle.F(1), oracle.Mul(q, odds))) }
			for _, off := range []float64{-xmath.U, xmath.U} {
				q := oracle.Mul(oracle.F(c.rate), oracle.Add(oracle.F(1), oracle.F(off)))
				if moved, _ := oracle.Sub(at(q), at(oracle.F(c.rate))).Float64(); math.Abs(moved) > more {
					t.Errorf("rate %v, off by %v: a loss moves by %v, counted are %v", c.rate, off, moved, more)
				}
			}
		}
	}
}

// TestInexactKeepsTheErrorOfLosses: the errors of losses that a profile has, and those of the rate at its atoms, are both
// in what is said of it.
func TestInexactKeepsTheErrorOfLosses(t *testing.T) {
	for _, c := range []struct {
		loss  float64
		atoms []float64
	}{{1e-9, []float64{-1, 1}}, {0, []float64{-20, 20}}, {1e-15, []float64{-30}}} {
		of := rounded{supported{profiles.Support{LossErr: c.loss, Atoms: c.atoms}}, 0}
		want := c.loss
		for _, a := range c.atoms {
			want = max(want, 2*xmath.U*math.Abs(math.Expm1(-a)))
		}
		if got := of.Support().LossErr; got < want {
			t.Errorf("%+v: losses are off by %v, want at least %v", c, got, want)
		}
	}
}

// supported is a profile of which only the ends are asked.
type supported struct{ s profiles.Support }

func (s supported) Tails(float64, float64) profiles.Tails { panic("not asked") }
func (s supported) Support() profiles.Support             { return s.s }

// TestChainKeepsWhatOnlyOneHas: an outcome that the second data set alone has is still there in the profile of a chain, and
// the slopes of a profile with ends reach beyond what these are known to.
func TestChainKeepsWhatOnlyOneHas(t *testing.T) {
	p := must(roc{outward: 1, kinks: []kink{{0, 0}, {0.6, 1}}}.profile())
	if s := p.Support(); math.Abs(s.LogQInf-math.Log(0.4)) > 1e-15 {
		t.Errorf("log of the mass at −∞: %v, want %v", s.LogQInf, math.Log(0.4))
	}
	l := must(profiles.NewLaplace(2))
	s := l.Support()
	s.LossErr = 1e-9
	if lo, hi := tangentRange(l, s); !(lo < s.Min-s.LossErr && hi > s.Max+s.LossErr) {
		t.Errorf("slopes from %v to %v, within the losses [%v, %v] ± %v", lo, hi, s.Min, s.Max, s.LossErr)
	}
}
