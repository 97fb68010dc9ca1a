package transform

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// TestMassAtInfinityIsWithinItsError: p∞ of a measure, over all of its mass, is within errPInf of the exact ratio.
func TestMassAtInfinityIsWithinItsError(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	for range 60 {
		logs := []float64{-rng.Float64(), -3 * rng.Float64()}
		inf := -600 * rng.Float64()
		m := NewPoints([]float64{0, 1}, logs, inf)
		total := oracle.Add(oracle.Exp(oracle.F(logs[0])), oracle.Exp(oracle.F(logs[1])))
		p := oracle.Exp(oracle.F(inf))
		want := oracle.Div(p, oracle.Add(total, p))
		off, _ := oracle.Sub(oracle.F(m.pInf), want).Float64()
		if math.Abs(off) > m.pErr {
			t.Errorf("log masses %v and %v at infinity: %v is off by %v, within %v", logs, inf, m.pInf, off, m.pErr)
		}
	}
}

// TestEnvelopeCarriesTheErrorOfItsRate: p∞ is the rate times a mass, as far off as the rate is.
func TestEnvelopeCarriesTheErrorOfItsRate(t *testing.T) {
	const rest, rate, rateErr = 0.5, 0.25, 1e-3
	m := NewLaplaceEnvelope(nil, rest, rate, rateErr)
	p, _ := m.Infinite()
	for _, moved := range []float64{1 + rateErr, 1 - rateErr} {
		if off := math.Abs(p - rate*moved*rest); off > m.pErr {
			t.Errorf("p∞ = %v is off by %v at a rate %v times as large, within %v", p, off, moved, m.pErr)
		}
	}
}

// TestLaplaceInTheMiddle: M(−½) = e^{−m/2}(1 + m/2), where the quotient of its formula is 0/0.
func TestLaplaceInTheMiddle(t *testing.T) {
	for _, m := range []float64{0.1, 3, 5, 40} {
		re, im, err := Laplace{m: m}.at(-0.5, 0)
		if want := math.Log1p(m/2) - m/2; !(math.Abs(re-want) <= err+1e-15*(1+math.Abs(want))) || im != 0 || err > 1e-10 {
			t.Errorf("m = %v: log M(−½) = %v + %vi within %v, want %v", m, re, im, err, want)
		}
	}
}

// TestStripGrowsWithTheErrorOfExponents: what |f| has on a line is bounded by more where the exponents of Q are known less
// well: never by less.
func TestStripGrowsWithTheErrorOfExponents(t *testing.T) {
	none := math.Inf(-1)
	pair := func(err float64) *mixture { // a Gaussian among three means, against one among three others
		return must(NewGaussianMixture(Pair{Sigma: 0.8, LogP0: math.Log(0.4), LogQ0: math.Log(0.4), Err0: err, Components: []Component{
			{-2, none, math.Log(0.2), err}, {-1, none, math.Log(0.4), err}, {1, math.Log(0.4), none, err}, {2, math.Log(0.2), none, err}}})).(*mixture)
	}
	sharp, blurred := pair(1e-15), pair(1e-3)
	for _, theta := range []float64{0.5, 3, 20} {
		a := 0.2 * sharp.width()
		level := sharp.levelFor(a)
		lo, hi, ok := sharp.cut(theta, level, ends{-20, -20}, -20, 1<<14)
		if !ok {
			t.Fatal("no nodes")
		}
		x, y := sharp.tilt(theta, level, lo, hi), blurred.tilt(theta, level, lo, hi)
		if was, is := x.strip(0, a).log, y.strip(0, a).log; math.IsInf(is, 1) || !(is > was) {
			t.Errorf("θ = %v: the strip is at most %v, and %v where exponents are known to a thousandth", theta, was, is)
		}
	}
}

// TestSumsOfPiecesByPoisson: the error of the sum of a Gaussian is at most 2Σ e^{−vk²}, v = 2π²σ²/(hσ²)², all terms counted.
func TestSumsOfPiecesByPoisson(t *testing.T) {
	for _, v := range []float64{3, 3.01, 3.5, 3.9, 4, 5, 40, 1e3, 1e6, 1e10} {
		m := &mixture{inv2: 0.7}
		h := math.Pi * math.Sqrt(2*m.inv2/v)
		got := m.logPiece(h)
		want := math.Log1p(math.Exp(-3*v)+math.Exp(-8*v)) + math.Ln2 - 2*math.Pi*math.Pi*m.inv2/(h*h)
		if got < want {
			t.Errorf("v = %v: the logarithm of the error is at most %v, want at least %v", v, got, want)
		}
		if v >= 5 && got > want+1e-3 {
			t.Errorf("v = %v: the logarithm of the error is at most %v, want about %v", v, got, want)
		}
	}
}
