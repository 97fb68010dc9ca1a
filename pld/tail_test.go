package pld

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/profiles"
)

// TestTailIsRoundedOutward: the tail of the tangents' law is never above the exact one, right of the centre, and what
// is below it never less, where nothing but the rounding of tail itself is to be covered: all its arguments are exact.
func TestTailIsRoundedOutward(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	f := oracle.F
	near := 0
	for i := range 400 {
		w := []float64{1, 0.1, 1e-3}[i%3] * (0.5 + rng.Float64())
		c := cell{w: w, far: rng.Float64(), p: rng.Float64()}
		c.v = c.p * rng.Float64()
		lo, hi := depth{x: 0.1 * rng.Float64()}, depth{x: 0.1 * rng.Float64()}
		if i%5 == 0 { // both cells at a vertex count with all that its depth may be
			lo.err = 0.01 * rng.Float64()
		}
		if i%4 == 1 { // where depths count most
			c.far, c.p, c.v = 0, 0, 0
		}
		d := &discretizer{cells: []cell{c}, pts: make([]point, 2)}
		exp := oracle.Sub(oracle.Exp(f(w)), f(1))
		x := oracle.Add(f(lo.x), f(lo.err))
		g := oracle.Add(x, oracle.Div(oracle.Sub(x, f(hi.x)), exp))
		up := oracle.Sub(oracle.Add(f(c.far), f(c.v)), g)
		below := oracle.Add(oracle.Add(f(c.far), oracle.Sub(f(c.p), f(c.v))), g)
		for last := range 2 {
			d.center = 0
			right := f(d.tail(0, last == 1, lo, hi))
			d.center = 1
			left := f(d.tail(0, false, lo, hi))
			if right.Cmp(up) > 0 || left.Cmp(below) < 0 {
				t.Errorf("%+v, %v, %v: %.20g and %.20g are not outside of %.20g and %.20g", c, lo, hi, right, left, up, below)
			}
			size := c.far + c.p + (lo.x+hi.x)*(1+2/w)
			if less(oracle.Sub(up, right), 32*0x1p-53*size) && less(oracle.Sub(left, below), 32*0x1p-53*size) {
				near++
			}
		}
	}
	if near < 700 {
		t.Errorf("only %d of 800 are within 32 units of the exact tail", near)
	}
}

func less(x *big.Float, y float64) bool { return x.Cmp(oracle.F(y)) < 0 }

// TestMassOfTailsOutOfOrder: logarithms of tails that are known to a factor 20 may come in the wrong order; the mass
// between them is within its error all the same.
func TestMassOfTailsOutOfOrder(t *testing.T) {
	const up, low, err = 0.957, 0.03, 3
	a := profiles.Tails{P: math.Log(1 - low), PC: math.Log(low) + err, ErrC: err}
	b := profiles.Tails{P: math.Log(1 - up), PC: math.Log(up) - err, ErrC: err}
	a.P, b.P = 0, b.P+err // so that the masses up to the points are taken, which are the smaller ones
	m, e := massP(a, b, 0)
	if m+e < up-low || m-e > up-low {
		t.Errorf("%v ± %v does not hold %v", m, e, up-low)
	}
}
