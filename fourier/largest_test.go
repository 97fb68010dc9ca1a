package fourier

import (
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// Towards the largest loss of a flat end, −log p_0 of a run, the tails of the
// reversed attack keep no digit: their error bounds overflow there. δ(8) of a
// thousand runs of which none loses more than 0.0096958 asks for such tails.
func TestDeltaNearTheLargestLoss(t *testing.T) {
	slow.Test(t)
	s, err := subsample.NewMustOW(10000, 118, 200) // must.md §7.6
	if err != nil {
		t.Fatal(err)
	}
	b, err := profiles.NewGaussianMechanism(4)
	if err != nil {
		t.Fatal(err)
	}
	attack, err := s.Attack(b)
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Relative = 0.5
	sum := New(o)
	if err := sum.Add(profiles.Reverse(attack), 1000); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ eps, above, below float64 }{
		{3, 5e-21, 2e-20}, // 9.2158e-21 by a transform of twice the length, at accuracy 1e-3
		{8, 0, 1e-300},
	} {
		r, err := sum.Delta(t.Context(), c.eps)
		if err != nil {
			t.Fatalf("delta(%v): %v", c.eps, err)
		}
		if !(r.Upper >= c.above && r.Upper <= c.below && r.Lower <= r.Upper) {
			t.Errorf("delta(%v) is [%v, %v], want its upper end in [%v, %v]", c.eps, r.Lower, r.Upper, c.above, c.below)
		}
	}
}
