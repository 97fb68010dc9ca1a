package fourier

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

var mixedPlans = flag.Int("plans", 6, "random mixed plans on which the engines must agree")

// opaque is a profile without a transform: a black box that has tails.
type opaque struct{ profiles.Profile }

// drifted is an opaque profile whose losses are off by a declared error.
type drifted struct {
	opaque
	by float64
}

func (d drifted) Tails(eps, tol float64) profiles.Tails { return d.Profile.Tails(eps-d.by, tol) }

func (d drifted) Support() profiles.Support {
	s := d.Profile.Support()
	s.Min, s.Max, s.LossErr = s.Min+d.by, s.Max+d.by, s.LossErr+math.Abs(d.by)
	return s
}

func gaussian(t testing.TB, sigma float64) profiles.Profile {
	t.Helper()
	g, err := profiles.NewGaussian(sigma)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// without is the envelope of Gaussian noise on a sample without replacement.
func without(t testing.TB, population, batch int64, sigma float64) profiles.Profile {
	t.Helper()
	s, err := subsample.NewWithoutReplacement(population, batch)
	if err != nil {
		t.Fatal(err)
	}
	base, err := profiles.NewGaussianMechanism(sigma)
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Apply(base, profiles.Substitute)
	if err != nil {
		t.Fatal(err)
	}
	return m.Directions[0].Upper
}

// A part that hides its transform is discretised. The truth is what the contour engine finds with the
// transform, to 1e-9; the lattice engine shares the profile and the certificate of the sum.
func TestMixedPlans(t *testing.T) {
	slow.Test(t)
	rng := rand.New(rand.NewPCG(15, 8))
	uniform := func(lo, hi float64) float64 { return math.Exp(math.Log(lo) + rng.Float64()*math.Log(hi/lo)) }
	served, narrower := 0, 0
	for i := range *mixedPlans {
		var shown, hidden []any
		add := func(p profiles.Profile, count int, hide bool) {
			shown = append(shown, p, count)
			if hide {
				p = opaque{p}
			}
			hidden = append(hidden, p, count)
		}
		add(sampled(t, uniform(0.7, 5), uniform(1e-3, 0.3)), int(uniform(30, 1e5)), false)
		for range 1 + rng.IntN(3) {
			sigma := uniform(1, 10)
			switch rng.IntN(4) {
			case 0:
				add(sampled(t, sigma, uniform(1e-3, 0.3)), int(uniform(2, 1e3)), true)
			case 1:
				l, err := profiles.NewLaplace(2 * sigma)
				if err != nil {
					t.Fatal(err)
				}
				add(l, int(uniform(2, 50)), true)
			case 2:
				add(profiles.Reverse(sampled(t, sigma, uniform(1e-3, 0.3))), int(uniform(2, 1e3)), true)
			default:
				add(gaussian(t, 5*sigma), int(uniform(2, 50)), true)
			}
		}
		target := uniform(1e-40, 1e-2)
		truth := epsilon(t, integral(t, Options{Relative: 1e-9}, shown...), target)
		a := epsilon(t, integral(t, Options{Relative: 1e-5}, hidden...), target)
		b := epsilon(t, sum(t, Options{}, hidden...), target) // of lattices
		if !(a.Lower <= truth.Upper && truth.Lower <= a.Upper) {
			t.Errorf("plan %d, δ=%g: mixed [%v, %v], truth [%v, %v]: %v", i, target, a.Lower, a.Upper, truth.Lower, truth.Upper, hidden)
		}
		if !(a.Lower <= b.Upper && b.Lower <= a.Upper) {
			t.Errorf("plan %d, δ=%g: mixed [%v, %v], lattice [%v, %v]: %v", i, target, a.Lower, a.Upper, b.Lower, b.Upper, hidden)
		}
		if len(a.Warnings) > 0 {
			t.Logf("plan %d, δ=%g: [%v, %v] %v", i, target, a.Lower, a.Upper, a.Warnings)
			continue
		}
		if served++; a.Upper-a.Lower <= max(b.Upper-b.Lower, 1e-6) { // 1e-6 is always enough
			narrower++
		}
		x := (a.Lower + a.Upper) / 2
		d := delta(t, integral(t, Options{Relative: 1e-4}, hidden...), x)
		e := delta(t, integral(t, Options{Relative: 1e-9}, shown...), x)
		if !(d.Lower <= e.Upper && e.Lower <= d.Upper) {
			t.Errorf("plan %d: δ(%v) mixed [%v, %v], truth [%v, %v]", i, x, d.Lower, d.Upper, e.Lower, e.Upper)
		}
		if len(d.Warnings) == 0 && !(d.Upper-d.Lower <= 1e-4*d.Upper) {
			t.Errorf("plan %d: δ(%v) is [%v, %v], wider than asked without a warning", i, x, d.Lower, d.Upper)
		}
	}
	t.Logf("%d of %d plans served, %d no wider than by lattices", served, *mixedPlans, narrower)
	if 4*served < 3**mixedPlans || narrower < served {
		t.Errorf("%d of %d plans served, %d of them no wider than by lattices", served, *mixedPlans, narrower)
	}
}

// binomial returns log of the probability of j of n.
func binomial(n, j int, logP, logQ float64) float64 {
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	return lg(n) - lg(j) - lg(n-j) + float64(j)*logP + float64(n-j)*logQ
}

// enumerated is δ(ε) of one Gaussian and n runs of two losses, by the list of their sums.
func enumerated(g profiles.Profile, n int, a, b profiles.Atom, eps float64) float64 {
	var s xmath.Sum
	for j := range n + 1 {
		l := float64(j)*a.Loss + float64(n-j)*b.Loss
		v, _ := profiles.LogDelta(g, eps-l)
		s.Add(math.Exp(binomial(n, j, a.LogP, b.LogP) + v))
	}
	return s.Value()
}

// pair is two losses with P-masses p and 1 − p and Q-masses q and 1 − q, all of them times e^x.
func pair(p, q, x float64) (a, b profiles.Atom) {
	a = profiles.Atom{Loss: math.Log(p / q), LogP: math.Log(p) + x, LogQ: math.Log(q) + x}
	b = profiles.Atom{Loss: math.Log((1 - p) / (1 - q)), LogP: math.Log1p(-p) + x, LogQ: math.Log1p(-q) + x}
	return a, b
}

// One Gaussian and runs of a finite law, hidden or with masses that make 1 + 5e-10, against the
// list of all sums. Each of the terms by which laws move the answer is needed.
func TestMixedEnumerated(t *testing.T) {
	g := gaussian(t, 1)
	discrete := func(a, b profiles.Atom) profiles.Profile {
		d, err := profiles.NewDiscrete([]profiles.Atom{a, b}, math.Inf(-1), math.Inf(-1), 1e-15, 1e-15)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		name     string
		x, drift float64
		runs     int
		p, q     float64
		hide     bool
		accuracy float64
		sabotage func(*lawTerms) // what must be noticed
	}{
		{"more than a probability", 5e-10, 0, 1000, 0.51, 0.5, false, 1e-8, func(l *lawTerms) { l.excess = 0 }},
		{"losses too large", 0, 1e-5, 50, 0.55, 0.45, true, 1e-6, func(l *lawTerms) { l.lossErr = 0 }},
		{"losses too small", 0, -1e-5, 50, 0.55, 0.45, true, 1e-6, func(l *lawTerms) { l.lossErr = 0 }},
		{"hidden", 0, 0, 6, 0.7, 0.2, true, 1e-6, func(l *lawTerms) { l.exchanged = true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := pair(c.p, c.q, c.x)
			p := discrete(a, b)
			if c.hide {
				p = drifted{opaque{p}, c.drift}
			}
			for _, eps := range []float64{-1, 0.5, 2, 8} {
				want := enumerated(g, c.runs, a, b, eps)
				ask := func(change func(*lawTerms)) (r, d Result, err error) {
					s := integral(t, Options{Relative: c.accuracy}, g, 1, p, c.runs)
					if change != nil {
						change(&s.factors.terms)
					}
					// The integral alone: lattices would hide what is missing.
					m := s.newMeter(t.Context())
					if _, err = s.prepare(math.Log(want)); err != nil {
						return r, d, err
					}
					q := question{Sum: s, m: m, logDelta: math.Log(want)}
					if r, err = q.mixed(unknown(math.Inf(-1), math.Inf(1))); err != nil {
						return r, d, err
					}
					q = question{Sum: s, m: m, ofDelta: true, eps: eps, logDelta: logTypical}
					d, err = q.mixed(unknown(0, 1))
					return r, d, err
				}
				r, d, err := ask(nil)
				if err != nil {
					t.Fatal(err)
				}
				// The list is rounded: lgamma to about 1e-13 of a thousand.
				const slack = 1e-11
				in := func(r, d Result) bool {
					return r.Lower <= eps+slack && eps-slack <= r.Upper && d.Lower <= want*(1+slack) && want*(1-slack) <= d.Upper
				}
				if !in(r, d) {
					t.Errorf("ε in [%.15g, %.15g], want %v; δ in [%.15g, %.15g], want %.15g", r.Lower, r.Upper, eps, d.Lower, d.Upper, want)
				}
				if c.drift == 0 && !(d.Upper-d.Lower <= c.accuracy*d.Upper) {
					t.Errorf("δ(%v) in [%v, %v] is wider than asked: %v", eps, d.Lower, d.Upper, d.Warnings)
				}
				if r, d, err := ask(c.sabotage); err == nil && in(r, d) {
					t.Errorf("δ(%v): a missing term goes unnoticed: ε in [%v, %v], δ in [%v, %v]", eps, r.Lower, r.Upper, d.Lower, d.Upper)
				}
			}
		})
	}
}

// Plans of laws alone stay with the lattices, a mixed one is the contour engine's, and steps
// that are added later count.
func TestEngineOfMixedPlans(t *testing.T) {
	w := without(t, 1000, 50, 4)
	if r := epsilon(t, chosen(t, w, 50), 1e-6); r.Engine != Lattice {
		t.Errorf("laws alone: engine %q", r.Engine)
	}
	s := chosen(t, sampled(t, 1, 0.01), 1000, w, 50)
	first := epsilon(t, s, 1e-6)
	if first.Engine != Contour || len(first.Warnings) > 0 {
		t.Errorf("a mixed plan: %+v", first)
	}
	lattice := epsilon(t, sum(t, Options{}, sampled(t, 1, 0.01), 1000, w, 50), 1e-6)
	if !(first.Upper-first.Lower <= lattice.Upper-lattice.Lower) {
		t.Errorf("[%v, %v] is wider than [%v, %v]", first.Lower, first.Upper, lattice.Lower, lattice.Upper)
	}
	if err := s.Add(w, 10); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(sampled(t, 2, 0.02), 100); err != nil {
		t.Fatal(err)
	}
	more := epsilon(t, s, 1e-6)
	all := epsilon(t, sum(t, Options{}, sampled(t, 1, 0.01), 1000, w, 60, sampled(t, 2, 0.02), 100), 1e-6)
	if !(more.Lower > first.Upper && more.Lower <= all.Upper && all.Lower <= more.Upper) {
		t.Errorf("with more steps [%v, %v], from scratch [%v, %v]", more.Lower, more.Upper, all.Lower, all.Upper)
	}
}

// chosen is a sum that chooses its engine.
func chosen(t testing.TB, add ...any) *Sum {
	t.Helper()
	s := New(Options{})
	for i := 0; i < len(add); i += 2 {
		if err := s.Add(add[i].(profiles.Profile), int64(add[i+1].(int))); err != nil {
			t.Fatal(err)
		}
	}
	return s
}
