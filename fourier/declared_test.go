package fourier

import (
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// The largest loss of declared mechanisms is the declared number, not the next
// float64.
func TestDeclaredLossIsExact(t *testing.T) {
	for _, c := range []struct {
		eps  float64
		runs int
		want float64
	}{{1, 1, 1}, {1, 3, 3}, {0.1, 1, 0.1}, {0.25, 7, 1.75}} {
		r := epsilon(t, sum(t, Options{}, declared(t)(profiles.NewPure(c.eps)), c.runs), 0)
		if r.Lower != c.want || r.Upper != c.want {
			t.Errorf("%d runs of %v: [%v, %v], want %v", c.runs, c.eps, r.Lower, r.Upper, c.want)
		}
		if d := delta(t, sum(t, Options{}, declared(t)(profiles.NewPure(c.eps)), c.runs), c.want); d.Upper != 0 {
			t.Errorf("%d runs of %v: δ(%v) ≤ %v, want 0", c.runs, c.eps, c.want, d.Upper)
		}
	}
	// 3·0.1 is no float64: rounded up.
	r := epsilon(t, sum(t, Options{}, declared(t)(profiles.NewPure(0.1)), 3), 0)
	if !(r.Upper > 3*0.1) {
		t.Errorf("Upper %v is not above %v", r.Upper, 3*0.1)
	}
}

// Every answer says how it was computed, those at the ends of the loss too.
func TestEngineOfTheEnds(t *testing.T) {
	// 0.1 and 0.3 have no float64 sum: the largest loss is an interval.
	s := sum(t, Options{}, declared(t)(profiles.NewPure(0.1)), 3, declared(t)(profiles.NewPure(0.3)), 2)
	if r := epsilon(t, s, 0); r.Engine != ClosedForm {
		t.Errorf("ε(0) in [%v, %v] by %q", r.Lower, r.Upper, r.Engine)
	}
	if r := delta(t, s, 2); r.Engine != ClosedForm {
		t.Errorf("δ(2) in [%v, %v] by %q", r.Lower, r.Upper, r.Engine)
	}
}
