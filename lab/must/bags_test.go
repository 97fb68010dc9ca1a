package main

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpaccountant/accountant/internal/slow"
)

// exactKept returns δ(ε) of one subset with two resamples by a sum over a fine grid of both
// outputs, on the data sets where all other records contribute others and the record 1
// or −1.
func exactKept(d keptDesign, others, eps float64) float64 {
	first := d.first()
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
		{n: 3, b: 2, m: 2, r: 2, s: 1, noise: 1.5, points: 50},
		{n: 2, b: 2, m: 2, r: 2, s: 1, noise: 1.5, points: 50, again: true},
	} {
		const eps = 1.
		for _, others := range []float64{-1, 0} {
			delta := exactKept(d, others, eps)
			up := d.upper(t.Context(), delta)
			// The sum over the grid is good to 1e-6 of δ, its kinks included.
			if !(up.Upper >= eps-1e-4) {
				t.Errorf("%+v: others at %v have δ(%v) = %v, where the bound has ε = %v", d, others, eps, delta, up.Upper)
			}
			if others != -1 {
				continue
			}
			low := d.lower(t.Context(), delta)
			if !(low.Lower <= eps+1e-4) {
				t.Errorf("%+v: δ(%v) = %v, where the attack has ε = %v", d, eps, delta, low.Lower)
			}
		}
	}
}

// With one resample the designs are MUST.OW and MUST.WW, whose bounds are computed otherwise.
func TestOneResample(t *testing.T) {
	for _, d := range keptDesigns() {
		if d.r > 1 {
			continue
		}
		up := d.upper(t.Context(), 1e-5)
		fresh := d.fresh(t.Context())
		if !(up.Upper >= fresh.Lower && up.Upper <= 1.002*fresh.Upper) {
			t.Errorf("%+v: at most %v, the scheme has [%v, %v]", d, up.Upper, fresh.Lower, fresh.Upper)
		}
	}
}

// Many resamples cost far more than as many fresh runs, and the attack is close to the bound.
func TestManyResamples(t *testing.T) {
	slow.Test(t)
	for _, c := range []struct {
		r             int64
		dearer, apart float64
	}{{50, 7, 1.03}, {25, 1.03, 1.03}} {
		for _, d := range keptDesigns() {
			if d.r != c.r {
				continue
			}
			d.points = 60 // the page has 200
			up := d.upper(t.Context(), 1e-5)
			low := d.lower(t.Context(), 1e-5)
			fresh := d.fresh(t.Context())
			if !(low.Lower > c.dearer*fresh.Upper && up.Upper < c.apart*low.Lower && up.Upper >= low.Lower) {
				t.Errorf("%+v: [%v, %v], fresh %v", d, low.Lower, up.Upper, fresh.Upper)
			}
		}
	}
}

// The mass of the subsets without the record is shared out as well as it can be, and no more of it
// than there is: against all shares of a grid.
func TestSharesAreTheBest(t *testing.T) {
	tables := []profileTable{
		{[]float64{1, 1.5, 2, 4, 9}, []float64{.4, .3, .22, .05, 0}},
		{[]float64{1, 1.2, 3, 5, 8}, []float64{.8, .7, .3, .1, .02}},
	}
	m := slotMixture{none: .5, rest: .01}
	m.add(.3, tables[0])
	m.add(.19, tables[1])
	for _, alpha := range []float64{1, 1.1, 1.7, 3, 6, 20} {
		best := 1.
		for i := range 10_001 {
			budget, share := (alpha-1)*m.none, float64(i)/10_000
			best = min(best, m.rest+.3*tables[0].at(alpha+share*budget/.3)+.19*tables[1].at(alpha+(1-share)*budget/.19))
		}
		// The grid of shares is off by 1e-4 of the budget, at a slope of .5 at most.
		if got := m.at(alpha); got > best*(1+2e-9)+2e-15 || got < best-1e-4*alpha {
			t.Errorf("α = %v: %v, the best share has %v", alpha, got, best)
		}
	}
}
