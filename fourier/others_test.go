package fourier

import (
	"testing"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// TestFactsOfOtherDeltas: what is kept of ε at larger δ, to narrow the answers to come, is true there. The least that
// ε(δ) can be, log(1 − δ), was handed to the questions at larger δ, where ε may be less: a later answer began above
// the truth, or was an error.
func TestFactsOfOtherDeltas(t *testing.T) {
	b, err := profiles.NewGaussianMechanism(3)
	if err != nil {
		t.Fatal(err)
	}
	p, err := subsample.NewPoisson(1e-3)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Apply(b, profiles.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	sum := func(work, relative float64, laws bool) *Sum {
		s := New(Options{Relative: relative, Absolute: 1e-14, Laws: laws, Work: work})
		if err := s.Add(m.Directions[0].Upper, 2); err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, laws := range []bool{true, false} {
		for _, c := range []struct{ work, delta, larger float64 }{
			{1e3, 1.14e-4, 2.82e-4},
			{2e4, 1.71e-4, 4.07e-4},
		} {
			s := sum(c.work, 1e-9, laws)
			if _, err := s.Epsilon(t.Context(), c.delta); err != nil {
				t.Fatal(err)
			}
			if len(s.proved) < 2 {
				t.Fatalf("laws alone %v, %+v: no larger δ was asked for", laws, c)
			}
			truth, err := sum(1e7, 1e-3, laws).Epsilon(t.Context(), c.larger)
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Epsilon(t.Context(), c.larger)
			if err != nil {
				t.Errorf("laws alone %v, %+v: %v", laws, c, err)
				continue
			}
			if !(r.Lower <= truth.Upper && r.Upper >= truth.Lower) {
				t.Errorf("laws alone %v, %+v: [%v, %v], the truth is in [%v, %v]", laws, c, r.Lower, r.Upper, truth.Lower, truth.Upper)
			}
		}
	}
}
