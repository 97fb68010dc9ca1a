package allocation

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// truncatedPair returns the densities of one step in one dimension on a grid y, by enumeration of
// which of the others are sampled: x and x2 are the contributions of the record and of its
// substitute; with none, the record is not there and the larger data set has others+1 records.
func truncatedPair(others []float64, x, x2 float64, substitute bool, q float64, most int, sigma float64, ys []float64) (p, r []float64) {
	p, r = make([]float64, len(ys)), make([]float64, len(ys))
	density := func(out []float64, weight, mean float64) {
		for i, y := range ys {
			d := (y - mean) / sigma
			out[i] += weight * math.Exp(-d*d/2) / (sigma * math.Sqrt(2*math.Pi))
		}
	}
	// The law of a batch: each subset of the records, and if too large each part of it.
	law := func(out []float64, records []float64) {
		for set := range 1 << len(records) {
			weight, in := 1.0, []float64{}
			for i, v := range records {
				if set>>i&1 == 1 {
					weight *= q
					in = append(in, v)
				} else {
					weight *= 1 - q
				}
			}
			if len(in) <= most {
				sum := 0.0
				for _, v := range in {
					sum += v
				}
				density(out, weight, sum)
				continue
			}
			parts := 0.0
			for part := range 1 << len(in) {
				if ones(part) == most {
					parts++
				}
			}
			for part := range 1 << len(in) {
				if ones(part) != most {
					continue
				}
				sum := 0.0
				for i, v := range in {
					if part>>i&1 == 1 {
						sum += v
					}
				}
				density(out, weight/parts, sum)
			}
		}
	}
	law(p, append(append([]float64{}, others...), x))
	if substitute {
		law(r, append(append([]float64{}, others...), x2))
	} else {
		law(r, others)
	}
	return p, r
}

func ones(x int) (n int) {
	for ; x > 0; x &= x - 1 {
		n++
	}
	return n
}

// TestTruncatedByEnumeration: Theorem 7 as corrected, against every batch of small data sets,
// under add-remove, substitute and zero-out.
func TestTruncatedByEnumeration(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	const h = 0.02
	for range 60 {
		n := 1 + rnd.IntN(4)
		others := make([]float64, n)
		for i := range others {
			others[i] = []float64{-1, 1, 0, 2*rnd.Float64() - 1}[rnd.IntN(4)]
		}
		q := []float64{0.1, 0.5, 0.9}[rnd.IntN(3)]
		most := 1 + rnd.IntN(n+1)
		sigma := []float64{0.7, 1, 2}[rnd.IntN(3)]
		s := must(NewTruncated(q, int64(most), int64(n+1)))
		var ys []float64
		for y := -float64(n) - 2 - 9*sigma; y < float64(n)+2+9*sigma; y += h {
			ys = append(ys, y)
		}
		for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute, profiles.ZeroOut} {
			m := must(s.Apply(gaussian(sigma), r))
			x2 := map[profiles.Relation]float64{profiles.Substitute: -1, profiles.ZeroOut: 0}[r]
			p, z := truncatedPair(others, 1, x2, r != profiles.AddRemove, q, most, sigma, ys)
			for _, eps := range []float64{-0.5, 0, 0.3, 1, 2} {
				var forward, back float64
				for i := range ys {
					forward += h * max(0, p[i]-math.Exp(eps)*z[i])
					back += h * max(0, z[i]-math.Exp(eps)*p[i])
				}
				for d, truth := range []float64{forward, back} {
					bound, e := profiles.LogDelta(m.Directions[d].Upper, eps)
					// The quadrature is off by about h² at the kink.
					if !(math.Exp(bound+e) >= truth-2e-5) {
						t.Errorf("%v, others %v, q %v, cap %d, σ %v, ε %v, direction %d: %v is above the bound %v", r, others, q, most, sigma, eps, d, truth, math.Exp(bound))
					}
				}
			}
		}
	}
}

// TestTruncationIsNotFreeUnderSubstitute: erratum A1. What the page's theorem claimed is below
// these attacks, what is used here is not.
func TestTruncationIsNotFreeUnderSubstitute(t *testing.T) {
	const h = 0.01
	for _, r := range golden.TruncationIsNotFree {
		if r.Others > 5 {
			// By the hypergeometric law: the others agree.
			continue
		}
		var ys, others []float64
		for y := -16.0; y < 16; y += h {
			ys = append(ys, y)
		}
		for range r.Others {
			others = append(others, -1)
		}
		p, z := truncatedPair(others, 1, -1, true, r.Rate, int(r.Cap), r.Sigma, ys)
		attack := 0.0
		for i := range ys {
			attack += h * max(0, p[i]-math.Exp(r.Eps)*z[i])
		}
		m := must(must(NewTruncated(r.Rate, r.Cap, r.Others+1)).Apply(gaussian(r.Sigma), profiles.Substitute))
		bound, _ := profiles.LogDelta(m.Directions[0].Upper, r.Eps)
		if math.Abs(attack-r.Attack) > 1e-5 || math.Abs(math.Exp(bound)-r.Bound) > 1e-6 || attack > math.Exp(bound) || attack < r.Claimed {
			t.Errorf("%+v: attack %v, bound %v", r, attack, math.Exp(bound))
		}
	}
	for _, r := range golden.TruncationIsNotFree {
		if r.Others <= 5 {
			continue
		}
		m := must(must(NewTruncated(r.Rate, r.Cap, r.Others+1)).Apply(gaussian(r.Sigma), profiles.Substitute))
		bound, _ := profiles.LogDelta(m.Directions[0].Upper, r.Eps)
		free := must(must(subsample.NewPoisson(r.Rate)).Apply(gaussian(r.Sigma), profiles.Substitute))
		claimed, _ := profiles.LogDelta(free.Directions[0].Upper, r.Eps)
		if math.Abs(math.Exp(claimed)-r.Free) > 1e-3*r.Free || math.Exp(bound) < r.Attack || r.Attack < 10*r.Free {
			t.Errorf("%+v: free %v, bound %v", r, math.Exp(claimed), math.Exp(bound))
		}
	}
}

// TestTruncatedBothNeighbours: erratum A6. The bound grows and falls with the number of records,
// so that a population's is above those of both kinds of neighbours.
func TestTruncatedBothNeighbours(t *testing.T) {
	single := func(n int64, q float64, most int64, eps float64) float64 {
		s := must(NewTruncated(q, most, n))
		o := s.(truncatedScheme).overflow(n)
		one := must(subsample.PoissonProfile(must(profiles.NewGaussian(1)), q))
		two := must(subsample.PoissonProfile(must(profiles.NewGaussian(0.5)), o.rateHigh))
		a, _ := profiles.LogDelta(one, eps)
		b, _ := profiles.LogDelta(two, eps)
		return (1-o.tauHigh)*math.Exp(a) + o.tauHigh*math.Exp(b)
	}
	if a, b := single(2, 0.9, 1, math.Log(2)), single(3, 0.9, 1, math.Log(2)); math.Abs(a-0.21001) > 1e-5 || math.Abs(b-0.14325) > 1e-5 {
		t.Errorf("2 records %v, want 0.21001, 3 records %v, want 0.14325", a, b)
	}
	for n := int64(2); n < 9; n++ {
		for _, q := range []float64{0.5, 0.9} {
			m := must(must(NewTruncated(q, 1, n)).Apply(gaussian(1), profiles.AddRemove))
			for _, eps := range []float64{0, 0.7, 2} {
				up, _ := profiles.LogDelta(m.Directions[0].Upper, eps)
				if x := max(single(n, q, 1, eps), single(n+1, q, 1, eps)); math.Exp(up) < x*(1-1e-12) {
					t.Errorf("%d records, rate %v, ε %v: %v is below %v", n, q, eps, math.Exp(up), x)
				}
			}
		}
	}
}

// TestTruncatedEnginesAgree: the mixture's transform against its lattices.
func TestTruncatedEnginesAgree(t *testing.T) {
	m := must(must(NewTruncated(0.01, 550, 50000)).Apply(gaussian(1), profiles.AddRemove))
	for _, d := range m.Directions {
		var got [2]fourier.Result
		for i, laws := range []bool{false, true} {
			s := fourier.New(fourier.Options{Laws: laws})
			if err := s.Add(d.Upper, 200); err != nil {
				t.Fatal(err)
			}
			got[i] = must(s.Epsilon(context.Background(), 1e-6))
		}
		if a, b := got[0], got[1]; a.Lower > b.Upper || b.Lower > a.Upper || a.Upper-a.Lower > 1e-8*a.Upper {
			t.Errorf("contour [%v, %v], lattice [%v, %v]", a.Lower, a.Upper, b.Lower, b.Upper)
		}
	}
}
