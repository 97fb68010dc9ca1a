package contour

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
)

// awkward returns a law of n points whose losses are far below its offset, and the exact ones.
func awkward(rng *rand.Rand, n int) (*pld.Law, []*big.Float) {
	l := &pld.Law{Offset: 1000 * rng.Float64(), Step: 0.001 + 0.01*rng.Float64(), LogPInf: -40 * rng.Float64()}
	var exact []*big.Float
	first := -int64(l.Offset/l.Step) - int64(n/2)
	for i := range int64(n) {
		k := first + i
		l.Index, l.LogMass = append(l.Index, k), append(l.LogMass, -80*rng.Float64()*rng.Float64())
		l.Loss = append(l.Loss, l.Offset+float64(k)*l.Step)
		x := newBig().Mul(bf(float64(k)), bf(l.Step))
		exact = append(exact, x.Add(x, bf(l.Offset)))
	}
	return l, exact
}

func value(x *big.Float) float64 {
	v, _ := x.Float64()
	return v
}

// TestErrorsOfLaws: the total mass, the mass at infinity and what Q has less than P, against 300 bits.
func TestErrorsOfLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 8))
	for range 300 {
		l, exact := awkward(rng, 2+rng.IntN(20))
		f := NewLaw(l)
		pInf := bigExp(bf(l.LogPInf))
		total := newBig().Set(pInf)
		gap := newBig()
		for i, m := range l.LogMass {
			p := bigExp(bf(m))
			total.Add(total, p)
			q := bigExp(newBig().Neg(exact[i]))
			gap.Add(gap, q.Mul(q.Sub(q, bf(1)), p))
		}
		gap.Quo(gap, total)
		pInf.Quo(pInf, total)
		if low, high := bigExp(newBig().Sub(bf(f.Excess), bf(f.ExcessErr))), bigExp(newBig().Add(bf(f.Excess), bf(f.ExcessErr))); low.Cmp(total) > 0 || high.Cmp(total) < 0 {
			t.Errorf("log of the total mass %v ± %v: %v", f.Excess, f.ExcessErr, value(total))
		}
		if off := math.Abs(value(pInf.Sub(pInf, bf(f.pInf)))); off > f.pErr {
			t.Errorf("mass at infinity %v off by %v, above %v", f.pInf, off, f.pErr)
		}
		if off := math.Abs(value(gap.Sub(gap, bf(f.gap)))); off > f.gapErr {
			t.Errorf("Q less P %v off by %v, above %v: offset %v, losses from %v", f.gap, off, f.gapErr, l.Offset, l.Loss[0])
		}
	}
}

// TestErrorOfRealValues: log M(s) away from 0 and −1, against 300 bits.
func TestErrorOfRealValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 11))
	for range 300 {
		l, exact := awkward(rng, 2+rng.IntN(20))
		f, s := NewLaw(l), 40*(rng.Float64()-0.5)
		total, tilted := bigExp(bf(l.LogPInf)), newBig()
		for i, m := range l.LogMass {
			total.Add(total, bigExp(bf(m)))
			x := newBig().Mul(bf(s), exact[i])
			tilted.Add(tilted, bigExp(x.Add(x, bf(m))))
		}
		k, _, err := f.Real(s)
		tilted.Quo(tilted, total)
		if low, high := bigExp(newBig().Sub(bf(k), bf(err))), bigExp(newBig().Add(bf(k), bf(err))); low.Cmp(tilted) > 0 || high.Cmp(tilted) < 0 {
			t.Errorf("log M(%v) = %v ± %v, not %v", s, k, err, math.Log(value(tilted)))
		}
	}
}

// TestErrorsOfTiltedMasses: each within the relative error, or all that are too small for it together within the spill.
func TestErrorsOfTiltedMasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 9))
	for range 100 {
		l, exact := awkward(rng, 20)
		theta := 20 * (rng.Float64() - 0.5)
		k, _, _ := l.Tilted(theta)
		small := newBig()
		var off []float64
		rho, spill := tilt(l, theta, k, func(i int, v float64) {
			x := newBig().Mul(bf(theta), exact[i])
			mass := bigExp(x.Sub(x.Add(x, bf(l.LogMass[i])), bf(k)))
			wrong := newBig().Sub(mass, bf(v))
			if v < math.Exp(-50) {
				small.Add(small, wrong.Abs(wrong))
			} else {
				off = append(off, value(wrong.Quo(wrong, mass)))
			}
		})
		for _, x := range off {
			if math.Abs(x) > rho {
				t.Errorf("θ = %v: a mass is off by %v of itself, above %v", theta, x, rho)
			}
		}
		if value(small) > spill {
			t.Errorf("θ = %v: small masses are off by %v, above %v", theta, value(small), spill)
		}
	}
}

// TestErrorOfDirectSums: of z − 1 at any frequency, against 300 bits.
func TestErrorOfDirectSums(t *testing.T) {
	const n = 60
	rng := rand.New(rand.NewPCG(10, 10))
	cos, sin := roots(n)
	for range 200 {
		var s spectrum
		total := bf(-1)
		for range 1 + rng.IntN(6) {
			s.x, s.d = append(s.x, rng.Float64()/3), append(s.d, int64(rng.IntN(200)-100))
			total.Add(total, bf(s.x[len(s.x)-1]))
		}
		s.excess = value(total)
		k := int64(rng.IntN(n/2 + 1))
		re, im := bf(-1), newBig()
		for i, x := range s.x {
			j := ((k*s.d[i])%n + n) % n
			re.Add(re, newBig().Mul(bf(x), cos[j]))
			im.Sub(im, newBig().Mul(bf(x), sin[j]))
		}
		a, b, err := s.at(k, n)
		if off := math.Hypot(value(re.Sub(re, bf(a))), value(im.Sub(im, bf(b)))); off > err {
			t.Errorf("frequency %d of %+v: off by %v, above %v", k, s, off, err)
		}
	}
}

// TestFoldedMassesRound: ten thousand equal masses in two bins add up to less than they are.
func TestFoldedMassesRound(t *testing.T) {
	l := &pld.Law{Step: 1, LogPInf: math.Inf(-1)}
	for i := range int64(10001) {
		l.Index, l.Loss, l.LogMass = append(l.Index, i), append(l.Loss, float64(i)), append(l.LogMass, -math.Log(10001))
	}
	x := &folded{theta: 1e-6, step: 1, n: 2}
	if !x.multiply(t.Context(), x.tilt([]Factor{law(l, 1)}), Gonum{}) {
		t.Fatal("no composition")
	}
	x.finish()
	r, _ := x.at(0.5)
	exact := exactReading(l, x.theta, 2, 1, 0.5)
	if diff, most := math.Abs(r.s-exact), r.quad+r.round+r.tail+exact*math.Expm1(r.moved); diff > most {
		t.Errorf("|S − exact| = %v exceeds %v", diff, most)
	}
	// Another sum of the same masses, with as many roundings, must be within the bound, too: terms of one bin may all round one way.
	if per := x.rho / xmath.U; per < 5000 {
		t.Errorf("relative error %v u of masses that add up with 5000 roundings", per)
	}
}

// TestRoundingOfTerms: the error of a term has that of both poles, of the modulus and of some eighty operations.
func TestRoundingOfTerms(t *testing.T) {
	const n = 64
	for _, theta := range []float64{0.5, 40, 400, -0.5, -300} {
		for k := range int64(n/2 + 1) {
			for _, re := range []float64{0, -0.1, -30} {
				x := &folded{theta: theta, step: 1, n: n, freqs: []freq{{k: k, re: re, abs: re}}}
				x.finish()
				turn := 2 * math.Pi * float64(k) / n
				half, sin := math.Sin(turn/2), math.Sin(turn)
				r0, i0, e0 := pole(theta, half, sin)
				_, _, e1 := pole(theta+1, half, sin)
				if want := x.modulus * (e0 + e1 + xmath.U*(88+8*math.Abs(re)+4*math.Abs(theta))); !(x.round >= want*(1-1e-9)) {
					t.Errorf("θ = %v, frequency %d, modulus e^%v: error %v of %v, below %v", theta, k, re, x.round, x.modulus, want)
				}
				// The pole itself, against 300 bits of the same sine.
				e := bigExp(bf(-theta))
				h := newBig().Mul(bf(half), bf(half))
				h.Mul(h.Mul(h, e), bf(2))
				h.Sub(h.Add(h, bf(1)), e)
				off := math.Hypot(value(h.Sub(h, bf(r0))), value(e.Add(e.Mul(e, bf(sin)), bf(i0))))
				if size := math.Hypot(r0, i0); !(off <= e0*size) {
					t.Errorf("C at %v and frequency %d is off by %v of itself, above %v", theta, k, off/size, e0)
				}
			}
		}
	}
}

// TestDecaysCountsTheRest: small masses are left out of the bulk, and may be in step where it is just small enough.
func TestDecaysCountsTheRest(t *testing.T) {
	s := spectrum{count: 1e4}
	total := 0.0
	for d := int64(-30); d <= 30; d++ {
		s.x, s.d = append(s.x, math.Exp(-float64(d*d)/32)), append(s.d, d)
		total += s.x[len(s.x)-1]
	}
	for i := range s.x {
		s.x[i] /= total
	}
	const rest = 1000 // points, in step with the bulk
	for range rest {
		s.x, s.d = append(s.x, 0.9e-3*-dropLog/s.count/(rest+61)), append(s.d, 0)
	}
	s.excess = -1
	for _, x := range s.x {
		s.excess += x
	}
	lo, hi := 0.0, 1.0
	for range 40 {
		work := 1e9
		if mid := (lo + hi) / 2; s.decays(t.Context(), mid, &work) {
			hi = mid
		} else {
			lo = mid
		}
	}
	re := 0.0
	for i, x := range s.x {
		re += x * math.Cos(hi*float64(s.d[i]))
	}
	if log := s.count * math.Log(math.Abs(re)); log > dropLog+1e-6 || log < dropLog-1 {
		t.Errorf("from %v on everything is below e^%v, but there it is e^%v", hi, float64(dropLog), log)
	}
}

// TestBeyondTheLargestLoss: at the largest loss and beyond, δ is the probability of an infinite loss, and needs no table.
func TestBeyondTheLargestLoss(t *testing.T) {
	l := &pld.Law{Step: 0.5, Index: []int64{-1, 0, 1}, Loss: []float64{-0.5, 0, 0.5}, LogMass: []float64{math.Log(0.3), math.Log(0.3), math.Log(0.4 - 0x1p-60)}, LogPInf: -60 * math.Ln2}
	c := newComposition(t, law(l, 1000))
	c.Fold(0.5, 1<<20, Gonum{})
	want := math.Log(1000) - 60*math.Ln2
	for _, eps := range []float64{500.0001, 600} {
		a, err := c.Delta(t.Context(), eps, Options{})
		if err != nil || a.Tables > 0 || !(a.LogLower <= want && want <= a.LogUpper && a.LogUpper-a.LogLower < 1e-6) {
			t.Errorf("ε = %v: [%v, %v] by %d tables, %v; want %v", eps, a.LogLower, a.LogUpper, a.Tables, err, want)
		}
	}
}

// TestSumsInVainAreCharged: direct sums that end without a table are work.
func TestSumsInVainAreCharged(t *testing.T) {
	upper, _ := goldenLaws(t)
	c := newComposition(t, law(upper, 1e7))
	c.Fold(upper.Step, 1<<10, Gonum{})
	a, err := c.Delta(t.Context(), 2000, Options{Work: 1e6})
	if not := (*NotServed)(nil); !errors.As(err, &not) || a.Work < 1000 {
		t.Errorf("%d terms, %v", a.Work, err)
	}
}
