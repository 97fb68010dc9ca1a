package darrm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// Unlike (ε_i, Δ_i): the certificate is the largest f over all 8^K tuples of corners, each
// mechanism with its own, by enumeration.
func TestUnequalVotersByEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for _, voters := range [][]Voters{
		{{Count: 1, Epsilon: .1}, {Count: 2, Epsilon: .5}},
		{{Count: 1, Epsilon: .1, Delta: .01}, {Count: 1, Epsilon: .5}, {Count: 1, Epsilon: 1, Delta: .05}},
		{{Count: 2, Epsilon: .2, Delta: .02}, {Count: 2, Epsilon: .7}},
		{{Count: 3, Epsilon: .3, Delta: .01}},
	} {
		k := 0
		var pairs [][][2]coin
		for _, v := range voters {
			k += v.Count
			for range v.Count {
				pairs = append(pairs, newCornerTable(1, v.Epsilon, v.Delta, false).pairs())
			}
		}
		p := Params{Mechanisms: k, Epsilon: .4, Allowance: 1.5, OutputDelta: .05, Voters: voters}
		for range 5 {
			g := randomGamma(rng, k, true)
			cert, err := Certify(t.Context(), p, g)
			if err != nil {
				t.Fatal(err)
			}
			want := math.Inf(-1)
			var visit func(on, off []coin)
			visit = func(on, off []coin) {
				if len(on) == k {
					want = max(want, signed(g, on)-math.Exp(p.budget())*signed(g, off))
					return
				}
				for _, c := range pairs[len(on)] {
					visit(append(on[:len(on):len(on)], c[0]), append(off[:len(off):len(off)], c[1]))
				}
			}
			visit(nil, nil)
			if math.Abs(cert.MaxF-want) > 1e-12 || cert.Attained > want+1e-13 || cert.Attained < want-1e-12 {
				t.Errorf("%+v: max f in [%v, %v], want %v", voters, cert.Attained, cert.MaxF, want)
			}
		}
	}
}

// The majority of 2t − 1 subsampled votes of unlike ε costs the sum of the t largest, and
// no less (Theorem 4 of corners.go).
func TestUnequalSubsamplingCostsTheLargest(t *testing.T) {
	voters := []Voters{{Count: 2, Epsilon: .1}, {Count: 2, Epsilon: .3}, {Count: 1, Epsilon: .7}}
	for votes, cost := range map[int]float64{1: .7, 3: 1, 5: 1.3} {
		exact, err := exactSubsampling(5, votes)
		if err != nil {
			t.Fatal(err)
		}
		p := Params{Mechanisms: 5, Epsilon: cost, Allowance: 1, Voters: voters}
		cert, err := Certify(t.Context(), p, rounded(exact))
		if err != nil || math.Abs(cert.MaxF-cert.BudgetF) > 1e-12 {
			t.Errorf("%d votes at %v: %+v, %v", votes, cost, cert, err)
		}
		p.Epsilon = .999 * cost
		if cert, err = Certify(t.Context(), p, rounded(exact)); err != nil || cert.Certified {
			t.Errorf("%d votes at less than %v are certified: %v", votes, cost, err)
		}
	}
}

// Unlike voters that are alike are what mechanisms that are alike are, and a few better
// ones do not harm.
func TestUnequalOptimum(t *testing.T) {
	alike := pure(11, .3, 2)
	want, err := Optimize(t.Context(), alike, Surrogate{.75}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := alike
	p.Voters = []Voters{{Count: 5, Epsilon: .3}, {Count: 6, Epsilon: .3}}
	got, err := Optimize(t.Context(), p, Surrogate{.75}, Options{})
	if err != nil || math.Abs(got.Value-want.Value) > 1e-9 || got.Gap > 1e-9 {
		t.Errorf("value %v, want %v: %v", got, want.Value, err)
	}
	p.Voters = []Voters{{Count: 5, Epsilon: .1}, {Count: 6, Epsilon: .3}}
	better, err := Optimize(t.Context(), p, Surrogate{.75}, Options{})
	if err != nil || !better.Certificate.Certified || better.Value < want.Value+.01 {
		t.Errorf("value %v with five voters of ε = 0.1, %v with none: %v", better.Value, want.Value, err)
	}
}

// With so many kinds that they are taken together, the gap says so, and the largest f is in
// it: here that of the same voters in two halves.
func TestManyKindsLeaveAGap(t *testing.T) {
	var voters []Voters
	for i := range 19 {
		voters = append(voters, Voters{Count: 1, Epsilon: .2 + .01*float64(i)})
	}
	p := Params{Mechanisms: 19, Epsilon: .3, Allowance: 3, Voters: voters}
	exact, err := exactSubsampling(19, 3)
	if err != nil {
		t.Fatal(err)
	}
	p.Epsilon, p.Allowance = .38+.37, 1 // the two largest
	cert, err := Certify(t.Context(), p, rounded(exact))
	if err != nil || !(cert.Attained < cert.BudgetF && cert.BudgetF < cert.MaxF) {
		t.Errorf("max f in [%v, %v], want %v in it: %v", cert.Attained, cert.MaxF, cert.BudgetF, err)
	}
}

// Teachers known by a profile. Every pair of probabilities that the profile allows (and so
// every threshold on its loss) stays below MaxF; what is said to be attained is; and the
// profile of an (ε, Δ)-DP mechanism makes the same problem as ε and Δ.
func TestVotersWithAProfile(t *testing.T) {
	gauss, err := profiles.NewGaussianMechanism(2)
	if err != nil {
		t.Fatal(err)
	}
	m, err := profiles.Unsampled(t.Context(), gauss, profiles.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 5))
	p := Params{Mechanisms: 7, Epsilon: .5, Allowance: 2, OutputDelta: 1e-3, Voters: []Voters{{Count: 7, Profile: &m}}}
	g := randomGamma(rng, 7, true)
	cert, err := Certify(t.Context(), p, g)
	if err != nil {
		t.Fatal(err)
	}
	want := math.Inf(-1)
	try := func(means []float64) {
		on, off := make([]coin, 7), make([]coin, 7)
		for i, z := range means {
			// The test that answers 1 above z: N(0, 1) against N(1/2, 1).
			on[i] = coin{math.Erfc((z-.5)/math.Sqrt2) / 2, math.Erfc((.5-z)/math.Sqrt2) / 2}
			off[i] = coin{math.Erfc(z/math.Sqrt2) / 2, math.Erfc(-z/math.Sqrt2) / 2}
		}
		want = max(want, signed(g, on)-math.Exp(p.budget())*signed(g, off))
	}
	best := make([]float64, 7)
	for range 20000 {
		z := append([]float64(nil), best...)
		old := want
		for i := range z {
			if rng.IntN(3) == 0 {
				z[i] += rng.NormFloat64()
			}
		}
		if try(z); want > old {
			best = z
		}
	}
	if want > cert.MaxF || cert.Attained > cert.MaxF {
		t.Errorf("f = %v above [%v, %v]", want, cert.Attained, cert.MaxF)
	}
	t.Logf("f in [%v, %v], %v found by search", cert.Attained, cert.MaxF, want)
	if cert.MaxF-cert.Attained > .03 || want < cert.Attained-.01 {
		t.Errorf("gap [%v, %v], search %v", cert.Attained, cert.MaxF, want)
	}

	one, err := newMechanism(t.Context(), profiles.AddRemove, 1, .4, .01, Gamma{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	p = Params{Mechanisms: 5, Epsilon: .4, Allowance: 2, OutputDelta: .03, Voters: []Voters{{Count: 2, Profile: &one}, {Count: 3, Epsilon: .4, Delta: .01}}}
	g = randomGamma(rng, 5, true)
	a, err := Certify(t.Context(), p, g)
	if err != nil {
		t.Fatal(err)
	}
	p.Voters, p.Delta = nil, .01
	b, err := Certify(t.Context(), p, g)
	if err != nil || a.MaxF < b.MaxF-1e-12 || a.MaxF > b.MaxF+1e-6 || a.Attained > b.MaxF {
		t.Errorf("by profile [%v, %v], by ε and Δ %v: %v", a.Attained, a.MaxF, b.MaxF, err)
	}
}
