package profiles

import (
	"fmt"
	"math"
	"testing"
)

func TestClassicalSigma(t *testing.T) {
	// must.md §7.7, table 4: n = 300, range 8, so Δ = 8/300 as printed; the base ε of
	// its first rows; 9 digits are given.
	for _, c := range []struct{ eps, want float64 }{{0.718673192487, 0.127751803}, {0.743563905561, 0.1234753266}, {0.870601519559, 0.1054578863}} {
		got, err := ClassicalSigma(c.eps, 1./300, 8./300)
		if err != nil || math.Abs(got-c.want) > 1e-8*c.want {
			t.Errorf("sigma at %v is %v, %v, want %v", c.eps, got, err, c.want)
		}
	}
	// must.md §8, check 28; table 4 goes on with base ε of 1.46 and 1.47.
	for _, c := range []struct {
		eps, delta, sensitivity float64
		want                    string
	}{
		{1, 1e-5, 1, "epsilon: 1 is not in (0, 1), where the classical formula is proved"},
		{1.4574044854, 1e-5, 1, "epsilon: 1.4574044854 is not in (0, 1), where the classical formula is proved"},
		{math.NaN(), 1e-5, 1, "epsilon: NaN is not in (0, 1), where the classical formula is proved"},
		{0.5, 0, 1, "delta: 0 is not in (0, 1)"},
		{0.5, 1e-5, math.Inf(1), "sensitivity: +Inf is not in (0, ∞)"},
	} {
		if _, err := ClassicalSigma(c.eps, c.delta, c.sensitivity); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// The classical σ keeps its promise where it is proved: the
// profile at that noise is below δ.
func TestClassicalSigmaHolds(t *testing.T) {
	for _, eps := range []float64{0.01, 0.3, 0.99} {
		for _, delta := range []float64{1e-2, 1e-5, 1e-9} {
			sigma, err := ClassicalSigma(eps, delta, 1)
			if err != nil {
				t.Fatal(err)
			}
			g, err := NewGaussian(sigma)
			if err != nil {
				t.Fatal(err)
			}
			if l, e := LogDelta(g, eps); !(l+e < math.Log(delta)) {
				t.Errorf("eps %v, delta %v: sigma %v has %v", eps, delta, sigma, math.Exp(l))
			}
		}
	}
}

func TestNewClippedSum(t *testing.T) {
	b, err := NewClippedSum(2.65359453412, 3) // must.md §7.7, table 8
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		r    Relation
		want float64 // noise over what one record moves the sum by
	}{{AddRemove, 2.65359453412 / 3}, {Substitute, 2.65359453412 / 6}} {
		p, err := b.Pair(c.r)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.(Gaussian).NoiseMultiplier(); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%v: %v, want %v", c.r, got, c.want)
		}
	}
	for _, c := range []struct {
		noise, clip float64
		want        string
	}{{1, 0, "clip: 0 is not in (0, ∞)"}, {math.NaN(), 1, "noise: NaN is not in (0, ∞)"}} {
		if _, err := NewClippedSum(c.noise, c.clip); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func ExampleClassicalSigma() {
	_, err := ClassicalSigma(1.5, 1e-5, 1)
	fmt.Println(err)
	// Output: epsilon: 1.5 is not in (0, 1), where the classical formula is proved
}

func ExampleNewClippedSum() {
	b, _ := NewClippedSum(2.2, 2)
	p, _ := b.Pair(AddRemove)
	fmt.Printf("%.2f\n", p.(Gaussian).NoiseMultiplier())
	// Output: 1.10
}
