package closed

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/profiles"
)

// blurred is a profile whose tails are known to a third only, so that no digit of P − e^ε·Q is right.
type blurred struct{ profiles.Profile }

func (blurred) Tails(eps, _ float64) profiles.Tails {
	return profiles.Tails{P: math.Log(0.5), Q: math.Log(0.5) - 1, PC: math.Log(0.5), QC: math.Log1p(-0.5 * math.Exp(-1)), Err: 0.3}
}

// TestDeltaWithoutDigits: where no digit of δ is correct, it is bounded by P(L > ε), which is 0.5·e^{0.3} here at
// most, and by 0 from below.
func TestDeltaWithoutDigits(t *testing.T) {
	p := blurred{}
	if _, err := profiles.LogDelta(p, 1); !math.IsInf(err, 1) {
		t.Fatalf("the error of log δ is %v: nothing is tested", err)
	}
	lo, _, hi := Delta(p, 1, 0)
	if !math.IsInf(lo, -1) || hi < math.Log(0.5)+0.3 {
		t.Errorf("log δ in [%v, %v], want all below %v", lo, hi, math.Log(0.5)+0.3)
	}
}

// TestExactTop: a largest loss that is off by something has no exact sum, and neither have two kinds of steps.
func TestExactTop(t *testing.T) {
	for _, c := range []struct {
		lossErr float64
		want    bool
	}{{0, true}, {1e-9, false}} {
		d, err := profiles.NewDiscrete([]profiles.Atom{{Loss: 1, LogP: math.Log(0.5), LogQ: math.Log(0.5) - 1}, {Loss: math.Log(0.5) - math.Log1p(-0.5/math.E), LogP: math.Log(0.5), LogQ: math.Log1p(-0.5 / math.E)}}, math.Inf(-1), math.Inf(-1), 0, c.lossErr)
		if err != nil {
			t.Fatal(err)
		}
		step := Step{Profile: d, Support: d.Support(), Count: 4}
		if top, ok := (Steps{step}).exactTop(); ok != c.want || ok && top != 4 {
			t.Errorf("losses within %v: top %v, %v", c.lossErr, top, ok)
		}
		if _, ok := (Steps{step, step}).exactTop(); ok {
			t.Error("the top of two kinds is said to be exact")
		}
	}
}

// TestEndsCarryTheErrorOfLosses: the largest total loss is that of losses as far out as they may be.
func TestEndsCarryTheErrorOfLosses(t *testing.T) {
	d, err := profiles.NewDiscrete([]profiles.Atom{{Loss: 1, LogP: math.Log(0.5), LogQ: math.Log(0.5) - 1}, {Loss: math.Log(0.5) - math.Log1p(-0.5/math.E), LogP: math.Log(0.5), LogQ: math.Log1p(-0.5 / math.E)}}, math.Inf(-1), math.Inf(-1), 0, 0.125)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, top := (Steps{{Profile: d, Support: d.Support(), Count: 4}}).Ends(); top < 4.5 || top > 4.5+1e-12 {
		t.Errorf("top %v, want 4·(1 + 0.125)", top)
	}
}

// blurredTails is a profile whose δ is known exactly, and whose tails are to a third only.
type blurredTails struct{ blurred }

func (blurredTails) LogDelta(float64) (logDelta, err float64) { return math.Log(0.1), 0 }

// TestDeltaNextToAnAtom: where a loss may be displaced, an atom next to ε counts for up to twice the displacement of the
// tail, with the tail's own error.
func TestDeltaNextToAnAtom(t *testing.T) {
	const move = 0.05
	_, _, hi := Delta(blurredTails{}, 1, move)
	if want := math.Log(0.1 + 2*move*0.5*math.Exp(0.3)); hi < want-1e-15 {
		t.Errorf("log δ is at most %v, want at least %v", hi, want)
	}
}

// TestDeltaOfDisplacedLosses: δ at ε of losses that may be off by move is at least that of the profile at ε + move, and at
// most that at ε − move.
func TestDeltaOfDisplacedLosses(t *testing.T) {
	g, err := profiles.NewGaussian(1)
	if err != nil {
		t.Fatal(err)
	}
	at := func(eps float64) float64 {
		v, _ := profiles.LogDelta(g, eps)
		return v
	}
	for _, move := range []float64{0, 1e-3, 0.1} {
		lo, v, hi := Delta(g, 1, move)
		if !(lo <= at(1+move) && v == at(1) && hi >= at(1-move)) {
			t.Errorf("losses off by %v: log δ = %v in [%v, %v], want [%v, %v] in it", move, v, lo, hi, at(1+move), at(1-move))
		}
	}
}

// falling has half of its mass at a loss of 1 that may be as large as 1.05, and knows no digit of its δ.
type falling struct{ blurred }

func (falling) Tails(eps, _ float64) profiles.Tails {
	t := blurred{}.Tails(eps, 0)
	if eps >= 1 {
		t.P, t.Q = -50, -51
	}
	return t
}

// TestDeltaWithoutDigitsBelowAnAtom: the tail that bounds δ at ε of displaced losses is the one below ε, in which the atom is.
func TestDeltaWithoutDigitsBelowAnAtom(t *testing.T) {
	const move = 0.05
	_, _, hi := Delta(falling{}, 1, move)
	if want := math.Log(0.5 * -math.Expm1(-move)); hi < want {
		t.Errorf("log δ(1) is at most %v: a loss of 1.05 has %v", hi, want)
	}
}

// TestSupremumIsBelowItsLosses: every loss may be 16 units of round-off smaller than its rounded maximum, and the lower
// end of the supremum is not above that sum, exactly.
func TestSupremumIsBelowItsLosses(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	exact := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	for range 3000 {
		var steps Steps
		want := exact(0)
		for range 1 + rng.IntN(2) {
			e := Step{Count: 1 + rng.Int64N(9), Support: profiles.Support{Max: 3 * rng.Float64(), LossErr: 1e-17 * float64(rng.IntN(3))}}
			steps = append(steps, e)
			x := exact(0).Sub(exact(e.Support.Max), exact(e.Support.LossErr))
			x.Sub(x, exact(0).Mul(exact(16*xmath.U), exact(e.Support.Max)))
			want.Add(want, x.Mul(x, exact(float64(e.Count))))
		}
		low, _ := steps.Supremum(100)
		if exact(low).Cmp(want) > 0 {
			t.Fatalf("%+v: the supremum is at least %v, want at most %.20g", steps, low, want)
		}
	}
}

// TestDisplacementsAddUp: what losses may be off by is that of each step, as often as it runs.
func TestDisplacementsAddUp(t *testing.T) {
	steps := Steps{{Count: 3, Support: profiles.Support{LossErr: 0.25}}, {Count: 1000, Support: profiles.Support{LossErr: 0x1p-20}}}
	if want, got := 0.75+1000*0x1p-20, steps.LossErr(); got < want || got > want*(1+1e-9) {
		t.Errorf("losses may be off by %v, want %v", got, want)
	}
}

// TestTopIsRoundedUp: the largest total loss of several kinds of steps is not below their sum in long arithmetic.
func TestTopIsRoundedUp(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 500 {
		var s Steps
		sum := oracle.F(0)
		for range 2 + r.IntN(6) {
			n, most := 1+r.Int64N(1000), r.ExpFloat64()
			s = append(s, Step{Support: profiles.Support{LogPInf: math.Inf(-1), LogQInf: math.Inf(-1), Min: -most, Max: most}, Count: n})
			sum = oracle.Add(sum, oracle.Mul(oracle.F(float64(n)), oracle.F(most)))
		}
		if _, _, top := s.Ends(); oracle.F(top).Cmp(sum) < 0 {
			t.Fatalf("%v is below the sum %v", top, sum)
		}
	}
}
