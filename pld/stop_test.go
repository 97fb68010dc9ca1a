package pld_test

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// A counted profile counts the losses that are looked at.
type counted struct {
	profiles.Profile
	n int
}

func (c *counted) Tails(t, tol float64) profiles.Tails {
	c.n++
	return c.Profile.Tails(t, tol)
}

// TestStopped: laws that are stopped soon look at few losses more, and are bounds all the same.
func TestStopped(t *testing.T) {
	for name, p := range map[string]profiles.Profile{"gaussian": gaussian(2), "atoms": manyAtoms(t)} {
		whole := &counted{Profile: p}
		fine := func(float64) float64 { return 0.01 }
		pld.Follow(whole, -300, -50, fine, nil)
		for _, after := range []int{0, 1, 10, 100} {
			c, asked := &counted{Profile: p}, 0
			upper, lower := pld.Follow(c, -300, -50, fine, func() bool { asked++; return asked > after })
			// 60 for the range, two at each of at most twice as many vertices, and what is read between.
			if c.n > 300+6*after || whole.n < 2*c.n {
				t.Errorf("%s, stopped after %d: %d losses, %d of the whole law", name, after, c.n, whole.n)
			}
			for eps := -5.0; eps < 12; eps += 0.7 {
				v, e := profiles.LogDelta(p, eps)
				up, low := delta(upper, eps-upper.LossErr), delta(lower, eps+lower.LossErr)
				if up < math.Exp(v-e)*(1-1e-9) || low > math.Exp(v+e)*(1+1e-9)+1e-15 {
					t.Errorf("%s, stopped after %d: δ(%v) in [%v, %v] by the laws, %v", name, after, eps, low, up, math.Exp(v))
				}
			}
		}
	}
}

// delta is δ of a law.
func delta(l *pld.Law, eps float64) float64 {
	sum := math.Exp(l.LogPInf)
	for i, m := range l.LogMass {
		sum += math.Exp(m) * max(0, -math.Expm1(eps-l.Loss[i]))
	}
	return sum
}

// manyAtoms has atoms closer than a law follows them.
func manyAtoms(t *testing.T) profiles.Profile {
	t.Helper()
	const n = 1500
	var list []profiles.Atom
	for i := range n {
		loss := 6 * (float64(i)/(n-1)*2 - 1)
		weight := -loss * loss / 8
		list = append(list, profiles.Atom{Loss: loss, LogP: weight})
	}
	var p, q float64
	for _, a := range list {
		p += math.Exp(a.LogP)
		q += math.Exp(a.LogP - a.Loss)
	}
	// What is missing under one of the two has an unlimited loss.
	scale := math.Log(max(p, q))
	for i := range list {
		list[i].LogP -= scale
		list[i].LogQ = list[i].LogP - list[i].Loss
	}
	rest := func(x float64) float64 { return math.Log(max(0, 1-x/math.Exp(scale))) }
	d, err := profiles.NewDiscrete(list, rest(p), rest(q), 1e-12, 1e-9)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
