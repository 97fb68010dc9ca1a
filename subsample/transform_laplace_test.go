package subsample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

// laplaceProfiles lists every profile that sampling makes of Laplace noise.
func laplaceProfiles(t *testing.T) map[string]profiles.Profile {
	t.Helper()
	out := map[string]profiles.Profile{}
	schemes := map[string]Scheme{}
	scheme := func(name string, s Scheme, err error) {
		if err != nil {
			t.Fatal(err)
		}
		schemes[name] = s
	}
	for _, rate := range []float64{1e-3, 0.2, 1 - 1e-9} {
		s, err := NewPoisson(rate)
		scheme(fmt.Sprint("poisson ", rate), s, err)
	}
	s, err := NewWithoutReplacement(100, 7)
	scheme("without replacement", s, err)
	s, err = NewWithReplacement(100, 30)
	scheme("with replacement", s, err)
	s, err = NewMustOW(100, 20, 10)
	scheme("MUST.OW", s, err)
	s, err = NewMustWW(100, 20, 10)
	scheme("MUST.WW", s, err)
	for _, noise := range []float64{0.4, 10} {
		b, err := profiles.NewLaplaceMechanism(noise)
		if err != nil {
			t.Fatal(err)
		}
		for name, s := range schemes {
			for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute} {
				m, err := s.Apply(b, r)
				if err != nil {
					t.Fatal(err)
				}
				for i, d := range m.Directions {
					key := fmt.Sprintf("noise %v, %s, %v, %s, ", noise, name, r, r.DirectionNames()[i])
					out[key+"upper"], out[key+"lower"] = d.Upper, d.Lower
				}
			}
		}
		out[fmt.Sprint("noise ", noise)], _ = b.Pair(profiles.AddRemove)
	}
	return out
}

// momentOfTails returns M(s) = e^{s·lo}·P(lo ≤ L < ∞) + s∫e^{sl}·P(l < L < ∞)dl from the tails.
func momentOfTails(p profiles.Profile, s float64) float64 {
	sup := p.Support()
	pInf := math.Exp(sup.LogPInf)
	edges := append(slices.Clone(sup.Atoms), sup.Min, sup.Max)
	if sup.Min < 0 && sup.Max > 0 {
		edges = append(edges, 0)
	}
	if c, ok := p.(*copies.LaplaceAttack); ok {
		edges = append(edges, c.Knots()...)
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	sum := math.Exp(s*sup.Min) * (math.Exp(p.Tails(sup.Min-1, 0).P) - pInf)
	add := func(lo, hi float64) {
		if lo < hi {
			sum += quad.Fixed(func(l float64) float64 {
				return s * math.Exp(s*l) * (math.Exp(p.Tails(l, 0).P) - pInf)
			}, lo, hi, 8, quad.Legendre{}, 0)
		}
	}
	// The density piles up next to the ends, and has kinks between.
	for i := 1; i < len(edges); i++ {
		a, b := edges[i-1], edges[i]
		half := (b - a) / 2
		add(a, a+half*0x1p-30)
		add(b-half*0x1p-30, b)
		for k := range 30 {
			const parts = 2
			near, far := half*math.Ldexp(1, -k-1), half*math.Ldexp(1, -k)
			for j := range parts {
				u, v := near+(far-near)*float64(j)/parts, near+(far-near)*float64(j+1)/parts
				add(a+u, a+v)
				add(b-v, b-u)
			}
		}
	}
	return sum
}

func TestLaplaceTransforms(t *testing.T) {
	slow.Test(t)
	all := laplaceProfiles(t)
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	r := rand.New(rand.NewPCG(1, 2))
	for n, name := range names {
		p := all[name]
		m := hook.TransformOf(p)
		if strings.Contains(name, "MUST.OW, add-remove") && strings.HasSuffix(name, "upper") {
			// A sample of an envelope: its likelihood ratio 1 − q + q/g is not that of a piece.
			if m != nil {
				t.Errorf("%s: has a transform: test it", name)
			}
			continue
		}
		if m == nil {
			t.Errorf("%s: no transform of %T", name, p)
			continue
		}
		sup := p.Support()
		pInf, qInf := m.Infinite()
		if math.Abs(pInf-math.Exp(sup.LogPInf)) > 1e-12 || math.Abs(qInf-math.Exp(sup.LogQInf)) > 1e-12 {
			t.Errorf("%s: Infinite = %v, %v; Support has %v, %v", name, pInf, qInf, math.Exp(sup.LogPInf), math.Exp(sup.LogQInf))
		}
		for s, want := range map[float64]float64{0: math.Log1p(-pInf), -1: math.Log1p(-qInf)} {
			if k, _, err := m.Real(s); !(math.Abs(k-want) <= err+1e-300) {
				t.Errorf("%s: log M(%v) = %v ± %v, want %v", name, s, k, err, want)
			}
		}
		reach := max(sup.Max, -sup.Min, 1e-9)
		for i, s := range []float64{-3 / reach, -0.7, -0.3, 0.4, 2, 5 / reach} {
			if (n+i)%2 != 0 && !slow.All() {
				continue // three of the six for each; SLOW=2 asks all
			}
			k, _, err := m.Real(s)
			// The terms of the integral of the tails cancel where they are large; a reverse does not
			// know its kinks.
			if _, ok := profiles.Reverse(p).(*copies.LaplaceAttack); !ok && math.Abs(s)*reach < 12 {
				want := math.Log(momentOfTails(p, s))
				if d, ok := p.(*profiles.Discrete); ok { // which jumps where no rule knows
					sum := 0.0
					for _, a := range d.Atoms() {
						sum += math.Exp(a.LogP + s*a.Loss)
					}
					want = math.Log(sum)
				}
				if !(math.Abs(k-want) <= err+1e-8) {
					t.Errorf("%s: log M(%v) = %v ± %v, tails give %v", name, s, k, err, want)
				}
			}
			back := hook.TransformOf(profiles.Reverse(p))
			if back == nil {
				t.Errorf("%s: the reverse has no transform", name)
				continue
			}
			if b, _, bErr := back.Real(-1 - s); !(math.Abs(k-b) <= err+bErr+1e-15*math.Abs(k)) {
				t.Errorf("%s: log M(%v) = %v, the reverse has %v at −1−s", name, s, k, b)
			}
			tMax := 200 / (sup.Max - sup.Min)
			line, e := m.Line(t.Context(), s, tMax, 1e-12, 0)
			if e != nil {
				t.Errorf("%s: %v", name, e)
				continue
			}
			mirror, e := back.Line(t.Context(), -1-s, tMax, 1e-12, 0)
			if e != nil {
				t.Errorf("%s: %v", name, e)
				continue
			}
			for range 5 {
				at := tMax * r.Float64()
				re, im, err := line.LogM(at)
				most := 1e-9
				if _, ok := p.(*profiles.Discrete); ok { // a sum of atoms has an absolute error
					most *= math.Exp(k - re)
				}
				if err > most && math.Exp(re-k) > 1e-2 {
					t.Errorf("%s: error %v of log M(%v+%vi) = %v", name, err, s, at, re)
				}
				for _, u := range []float64{0, at / 3, at} {
					if d := line.Decay(u); !math.IsInf(err, 1) && re-err > d {
						t.Errorf("%s: log|M(%v+%vi)| = %v above Decay(%v) = %v", name, s, at, re, u, d)
					}
				}
				// The reverse has the complex conjugate.
				re2, im2, err2 := mirror.LogM(at)
				if d := math.Abs(math.Remainder(im+im2, 2*math.Pi)); !(math.Hypot(re-re2, d) <= err+err2+1e-13) {
					t.Errorf("%s: log M(%v+%vi) = %v+%vi, the reverse has %v+%vi", name, s, at, re, im, re2, im2)
				}
			}
			if a, b := line.Decay(1), line.Decay(1e9); b > a {
				t.Errorf("%s: Decay rises from %v to %v", name, a, b)
			}
		}
	}
}
