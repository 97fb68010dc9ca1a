package main

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// exactKept returns δ(ε) of one subset with two resamples by a sum over a fine grid of both
// outputs, on the data sets where all other records contribute others and the record 1
// or −1.
func exactKept(d keptDesign, others, eps float64) float64 {
	first, _ := d.first()
	law := first.Multiplicity()
	step, reach := 0.05, float64(d.m)+7*d.noise
	var density [2][][]float64 // of data set, slots, output
	n := int(2*reach/step) + 1
	for x, record := range []float64{1, -1} {
		for u := 0; u < len(law.LogP) && int64(u) <= d.b; u++ {
			row := make([]float64, n)
			for v := range int(d.m) + 1 {
				w := distuv.Binomial{N: float64(d.m), P: float64(u) / float64(d.b)}.Prob(float64(v))
				if u == 0 {
					w = map[bool]float64{true: 1}[v == 0]
				}
				if int64(u) == d.b {
					w = map[bool]float64{true: 1}[int64(v) == d.m]
				}
				for i := range row {
					row[i] += w * normal(-reach+float64(i)*step, record*float64(v)+others*float64(int(d.m)-v), d.noise)
				}
			}
			density[x] = append(density[x], row)
		}
	}
	sum := 0.0
	for i := range n {
		for j := range n {
			var p [2]float64
			for x := range p {
				for u, row := range density[x] {
					p[x] += math.Exp(law.LogP[u]) * row[i] * row[j]
				}
			}
			sum += max(0, p[0]-math.Exp(eps)*p[1]) * step * step
		}
	}
	return sum
}

// Tiny designs, exactly: no data set is above the bound, and the attack is not above what its
// data set gives.
func TestKeptExactly(t *testing.T) {
	for _, d := range []keptDesign{
		{n: 3, b: 2, m: 2, r: 2, s: 1, noise: 1.5},
		{n: 2, b: 2, m: 2, r: 2, s: 1, noise: 1.5, again: true},
	} {
		const eps = 1.
		for _, others := range []float64{-1, 0} {
			delta := exactKept(d, others, eps)
			up, err := d.upper(t.Context(), delta)
			if err != nil {
				t.Fatal(err)
			}
			// The sum over the grid is good to 1e-6 of δ, its kinks included.
			if !(up.Upper >= eps-1e-4) {
				t.Errorf("%+v: others at %v have δ(%v) = %v, where the bound has ε = %v", d, others, eps, delta, up.Upper)
			}
			if others != -1 {
				continue
			}
			low, err := d.lower(t.Context(), delta)
			if err != nil {
				t.Fatal(err)
			}
			if !(low.Lower <= eps+1e-4) {
				t.Errorf("%+v: δ(%v) = %v, where the attack has ε = %v", d, eps, delta, low.Lower)
			}
		}
	}
}

// With one resample the design is MUST.OW, and with many it costs far more than as many
// fresh runs.
func TestKept(t *testing.T) {
	d := keptDesign{n: 10_000, b: 251, m: 10_000, r: 1, s: 20, noise: 300}
	up, err := d.upper(t.Context(), 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := d.fresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !(up.Upper >= fresh.Lower && up.Upper <= 1.1*fresh.Upper) {
		t.Errorf("one resample: at most %v, MUST.OW has [%v, %v]", up.Upper, fresh.Lower, fresh.Upper)
	}
	d.r = 50
	if up, err = d.upper(t.Context(), 1e-5); err != nil {
		t.Fatal(err)
	}
	low, err := d.lower(t.Context(), 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	if fresh, err = d.fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !(low.Lower > 7*fresh.Upper && up.Upper < 1.03*low.Lower && up.Upper >= low.Lower) {
		t.Errorf("50 resamples: [%v, %v], fresh %v", low.Lower, up.Upper, fresh.Upper)
	}
}

// The profile of a mixture has its points where the loss is: with as many at equal distances the
// double bootstrap has 15.64, and 2.8993 with twice as many of ours.
func TestDoubleBootstrap(t *testing.T) {
	if testing.Short() {
		t.Skip("ten seconds")
	}
	all := keptDesigns()
	d := all[len(all)-1]
	up, err := d.upper(t.Context(), 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	low, err := d.lower(t.Context(), 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	if !(d.again && low.Lower > 1.85 && up.Upper >= low.Lower && up.Upper < 2.8993*1.02) {
		t.Errorf("%+v: [%v, %v]", d, low.Lower, up.Upper)
	}
}
