package accountant

import (
	"testing"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// A tiny pure ε under sampling by substitution: δ(0) is of the size of the loss,
// and rounding must not hide that.
func TestTinyLossKeepsDeltaSmall(t *testing.T) {
	b, err := profiles.NewPure(1e-9)
	if err != nil {
		t.Fatal(err)
	}
	s, err := subsample.NewPoisson(0.1)
	if err != nil {
		t.Fatal(err)
	}
	a := New(Substitute)
	if err := a.Add(t.Context(), Step{Mechanism: b, Sampling: s}, 1); err != nil {
		t.Fatal(err)
	}
	iv, err := a.Delta(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	// 0.1·tanh(ε/2) = 5e-11, attained.
	if !(iv.Lower <= 5e-11 && 5e-11 <= iv.Upper) || iv.Upper > 5.1e-11 {
		t.Errorf("δ(0) in [%g, %g], want a narrow interval about 5e-11", iv.Lower, iv.Upper)
	}
}
