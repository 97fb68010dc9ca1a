package contour

import (
	"context"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// roughGauss is a gauss whose mass at infinity is off by a billionth of itself, as its errors
// admit.
type roughGauss struct{ gauss }

func newRoughGauss(p float64) roughGauss { return roughGauss{gauss{mu: 0.5, pInf: p * (1 + 1e-9)}} }

func (g roughGauss) Real(s float64) (k, slope, err float64) {
	k, slope, err = g.gauss.Real(s)
	return k, slope, err + 3e-9*(1+math.Abs(s))*g.pInf
}

func (g roughGauss) Line(ctx context.Context, theta, tMax, tol float64, n int) (transform.Line, error) {
	l, err := g.gauss.Line(ctx, theta, tMax, tol, n)
	return roughLine{l, 3e-9 * (1 + math.Abs(theta)) * g.pInf, 3e-9 * g.pInf}, err
}

type roughLine struct {
	transform.Line
	err, slope float64
}

func (l roughLine) LogM(t float64) (re, im, err float64) {
	re, im, err = l.Line.LogM(t)
	return re, im, err + l.err + t*l.slope
}

func (l roughLine) Decay(t float64) float64 { return l.Line.Decay(t) + l.err }

// The masses at infinity have errors, which Infinite does not give: far out δ is 1 − (1−p)^T,
// and p is known to a billionth only.
func TestErrorsOfInfiniteMasses(t *testing.T) {
	for _, p := range []float64{1e-12, 1e-3, 0.2} {
		c := newComposition(t, Factor{newRoughGauss(p), 1})
		want := oracle.F(p)
		tab := tableFor(t, c, plan{theta: 20, h: 2, sHigh: 60, sLow: -60, n: 60})
		if r := tab.read(20, &c.scale); !contains(r.low, r.high, want) {
			t.Errorf("p=%v: [%.17g, %.17g] is not %.17g", p, r.low, r.high, oracle.LogF(want))
		}
		chernoff := &bound{s: 20}
		if chernoff.update(c); !(chernoff.at(40) >= math.Log(p)) {
			t.Errorf("p=%v: the bound %v is below log p", p, chernoff.at(40))
		}
		// log δ just above the true mass is not hopeless.
		if a, _ := c.Epsilon(t.Context(), math.Log(p*(1+0.5e-9)), Options{}); !(a.Lower < math.Inf(1)) {
			t.Errorf("p=%v: ε is infinite, δ is above P(L = ∞)", p)
		}
	}
}
