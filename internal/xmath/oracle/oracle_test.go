package oracle

import (
	"testing"
)

// Decimal expansions from any table of constants (OEIS A000796, A002162, A001113);
// Φ̄(1) and Φ̄(10) from Abramowitz and Stegun, Table 26.1 and 26.2.
func TestConstants(t *testing.T) {
	for _, c := range []struct {
		name, got, want string
	}{
		{"pi", Pi().Text('g', 50), "3.1415926535897932384626433832795028841971693993751"},
		{"ln2", Ln2().Text('g', 50), "0.69314718055994530941723212145817656807550013436026"},
		{"e", Exp(F(1)).Text('g', 50), "2.7182818284590452353602874713526624977572470937"},
		{"log 10", Log(F(10)).Text('g', 40), "2.302585092994045684017991454684364207601"},
		{"tail 1", NormalTail(F(1)).Text('g', 15), "0.158655253931457"},
		{"log tail 10", Log(NormalTail(F(10))).Text('g', 9), "-53.2312852"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, c.got, c.want)
		}
	}
}

// The two evaluations of the normal tail meet.
func TestNormalTailSeam(t *testing.T) {
	x := F(6)
	series := Sub(F(0.5), Sub(F(0.5), NormalTail(F(5.999999999999999))))
	cf := NormalTail(x)
	// Φ̄(6 − h) = Φ̄(6) + hφ(6) + ½h²·6φ(6) + …, h = 2^-50: the third term is 2^-97.
	h := Sub(x, F(5.999999999999999))
	want := Add(cf, Mul(NormalDensity(x), Add(h, Scale(Mul(h, h), 3))))
	d, _ := Div(Sub(series, want), want).Float64()
	if d > 1e-40 || d < -1e-40 {
		t.Errorf("relative jump at 6 is %g", d)
	}
	if y := Exp(Log(F(1e-300))); Ulps(1e-300, y) > 1e-60 {
		t.Errorf("exp(log 1e-300) = %v", y)
	}
}

// The continued fraction from its far end, with more terms than it needs.
func TestMillsFromBehind(t *testing.T) {
	for _, x := range []float64{6, 6.5, 9, 20, 37, 300, 1e5} {
		d := F(x)
		for n := 600; n >= 1; n-- {
			d = Add(F(x), Div(F(float64(n)), d))
		}
		diff := Div(Sub(millsCF(F(x)), d), d)
		if diff.Sign() != 0 && diff.MantExp(nil) > -Prec+12 {
			t.Errorf("x = %v: off by %v", x, diff)
		}
	}
}
