package fourier

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// cliff is a profile with log δ(ε) = high below a loss, and next to nothing from there on, both exact. The loss may be off by lossErr.
type cliff struct {
	profiles.Profile
	at, high, lossErr float64
}

func (c cliff) LogDelta(eps float64) (logDelta, err float64) {
	if eps < c.at {
		return c.high, 0
	}
	return -900, 0
}

func (c cliff) Tails(eps, _ float64) profiles.Tails {
	if eps < c.at {
		return profiles.Tails{P: 0, Q: -900, PC: -900, QC: 0}
	}
	return profiles.Tails{P: -900, Q: -900, PC: 0, QC: 0}
}

func (c cliff) Support() profiles.Support {
	return profiles.Support{Min: math.Inf(-1), Max: math.Inf(1), LogPInf: math.Inf(-1), LogQInf: math.Inf(-1), Spike: math.NaN(), LossErr: c.lossErr}
}

// TestEndsOfOneRunAreRoundedOutward: ε(δ) of a profile that falls from above δ to below it at one loss is that loss, up to
// how far it may be displaced: to the last bit.
func TestEndsOfOneRunAreRoundedOutward(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range 400 {
		c := cliff{at: rng.NormFloat64() * math.Pow(10, -float64(i%5)), high: -1e-9}
		delta := 1 - 1e-4 // so that ε may be far below 0
		if i%2 == 0 {
			c.lossErr = rng.Float64()
		}
		s := New(Options{})
		if err := s.Add(c, 1); err != nil {
			t.Fatal(err)
		}
		r, err := s.Epsilon(t.Context(), delta)
		if err != nil {
			t.Fatal(err)
		}
		exact := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
		low, up := exact(0).Sub(exact(c.at), exact(c.lossErr)), exact(0).Add(exact(c.at), exact(c.lossErr))
		if exact(r.Lower).Cmp(low) > 0 || exact(r.Upper).Cmp(up) < 0 || r.Upper-r.Lower > 2*c.lossErr+1e-9 {
			t.Fatalf("ε(%v) in [%.20g, %.20g], the truth may be anywhere in [%.20g, %.20g]", delta, r.Lower, r.Upper, low, up)
		}
	}
}
