package profiles

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestChordsAcrossZero: values above a profile, of both halves and with some of them useless, make a law that is above it and no larger at 0 than
// any chord across it.
func TestChordsAcrossZero(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	g, err := NewGaussian(1)
	if err != nil {
		t.Fatal(err)
	}
	delta := func(p Profile, eps float64) float64 {
		x := p.Tails(eps, 1e-12)
		return math.Exp(x.P) - math.Exp(eps+x.Q)
	}
	for range 50 {
		var x, up, back []float64
		for i := range 40 {
			eps := 0.1 * float64(i)
			raised := func() float64 {
				if i < 15 && r.IntN(3) > 0 {
					return 1
				}
				return min(1, delta(g, eps)*(1+0.1*r.Float64()))
			}
			x, up, back = append(x, eps), append(up, raised()), append(back, raised())
		}
		p, err := NewChords(x, up, back)
		if err != nil {
			t.Fatal(err)
		}
		if e := p.Tails(0, 0).Err; e > 1e-12 {
			t.Fatalf("an error of %v: the masses are no law's", e)
		}
		at0 := delta(p, 0)
		for i, eps := range x {
			if d := delta(p, eps); d < delta(g, eps)*(1-1e-12) {
				t.Errorf("ε = %v: %v is below the profile's %v", eps, d, delta(g, eps))
			}
			for j := 1; j < len(x) && i > 0; j++ {
				a, b := -math.Expm1(-x[j]), math.Expm1(x[i])
				if chord := (up[i]*a + (a+math.Exp(-x[j])*back[j])*b) / (a + b); at0 > chord*(1+1e-12) {
					t.Errorf("at 0 %v is above the chord of %v and −%v, %v", at0, x[i], x[j], chord)
				}
			}
		}
	}
}
