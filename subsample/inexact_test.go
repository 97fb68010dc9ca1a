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
