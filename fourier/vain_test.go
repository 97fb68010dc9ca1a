package fourier

import (
	"context"
	"testing"

	"github.com/dpaccountant/accountant/choice"
	"github.com/dpaccountant/accountant/profiles"
)

// After two tries of little work in vain the lattices are asked first, until something is added; answers are as good. The sum
// is that of examples/choice.yaml, in one direction.
func TestVainTriesEnd(t *testing.T) {
	ctx := context.Background()
	sum := func() *Sum {
		s := New(Options{Relative: 1e-3})
		add := func(m profiles.Mechanism, err error, runs int64) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			b, err := profiles.Unsampled(ctx, m, profiles.AddRemove)
			if err != nil {
				t.Fatal(err)
			}
			list := []profiles.Repeated{{Profile: b.Directions[0].Upper, Count: runs}}
			if b.Laws != nil {
				c, err := b.Laws.For(ctx, profiles.Question{Runs: runs, Total: runs, Delta: 1e-3, Width: 1e-3})
				if err != nil {
					t.Fatal(err)
				}
				list = c.Upper[0]
			}
			for _, p := range list {
				if err := s.Add(p.Profile, p.Count); err != nil {
					t.Fatal(err)
				}
			}
		}
		m, err := choice.NewExponential(0.02)
		add(m, err, 100)
		m, err = choice.NewPermuteAndFlip(0.2)
		add(m, err, 1)
		h, err := choice.NewThreshold("gaussian", 12, 75, 3)
		add(h, err, 2)
		return s
	}
	s := sum()
	for i, eps := range []float64{0.01, 0.02, 0.05, 0.1, 0.2} {
		if got := s.latticesFirst(); got != (i >= mostVain) {
			t.Errorf("before question %d the lattices are first: %v", i, got)
		}
		got, err := s.Delta(ctx, eps)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := sum().Delta(ctx, eps)
		if err != nil {
			t.Fatal(err)
		}
		if got.Upper < alone.Lower || got.Lower > alone.Upper || s.wideDelta(got) && !s.wideDelta(alone) {
			t.Errorf("δ(%v) in [%v, %v] after others, [%v, %v] alone", eps, got.Lower, got.Upper, alone.Lower, alone.Upper)
		}
	}
	p, err := profiles.NewGaussian(3)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Add(p, 1); err != nil {
		t.Fatal(err)
	}
	if s.latticesFirst() {
		t.Error("nothing is tried of what has a step more")
	}
}
