package lattice

import (
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/fourier/internal/closed"
	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// TestNothingFound: where no pair of laws finds δ, each has a finer step than the one before, and none has no step.
func TestNothingFound(t *testing.T) {
	b, err := profiles.NewPure(1)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := b.Pair(profiles.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	rare, err := subsample.PoissonProfile(pair, 1e-9)
	if err != nil {
		t.Fatal(err)
	}
	s := runs(rare, 1e9)
	more := closed.Step{Profile: dpsgd(t, 1e-9, 1), Count: 1e6}
	more.Support = more.Profile.Support()
	s.Set(1, more, false)
	total := 0.0
	r, err := s.Delta(meter.New(t.Context(), 3e7, 1<<23, &total), Accuracy{Relative: 1e-3}, 7, math.Inf(-1))
	if err != nil {
		t.Fatal(err)
	}
	if !(r.Lower == 0 && r.Upper < 1e-100) {
		t.Fatalf("δ in [%v, %v]: something is found", r.Lower, r.Upper)
	}
	if why := strings.Join(r.Warnings, " "); why == "" || strings.Contains(why, "NaN") {
		t.Errorf("warnings %q", why)
	}
}
