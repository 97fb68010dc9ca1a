package fourier

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/fourier/internal/closed"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// Hundreds of different discrete mechanisms on samples take an FFT each as lattice laws, and a few dozen frequencies with a bump.
func TestManyFiniteLaws(t *testing.T) {
	for _, c := range []struct {
		n          int
		count      int64
		rate       float64
		work       float64
		noise, top float64
	}{{300, 10, 1e-3, 1e7, 1, 3}, {100, 5, 0.01, 1e7, 1, 3}, {300, 10, 1e-3, 3e7, 2, 5}} {
		for _, reversed := range []bool{false, true} {
			s, laws := New(Options{Work: c.work}), New(Options{Laws: true})
			for i := range c.n {
				noise := declared(t)(profiles.NewDiscreteGaussianMechanism(c.noise+(c.top-c.noise)*float64(i)/float64(c.n), 1))
				p, err := subsample.PoissonProfile(noise, c.rate)
				if err != nil {
					t.Fatal(err)
				}
				if reversed {
					p = profiles.Reverse(p)
				}
				for _, x := range []*Sum{s, laws} {
					if err := x.Add(p, c.count); err != nil {
						t.Fatal(err)
					}
				}
			}
			r := epsilon(t, s, 1e-5)
			if w := r.Upper - r.Lower; r.Engine != Contour || w > 1e-3*r.Lower || len(r.Warnings) > 0 {
				t.Errorf("%+v, reversed %v: %+v", c, reversed, r)
			}
			if c.n > 100 {
				continue // lattices take seconds
			}
			d := delta(t, s, r.Upper)
			if d.Lower > 1e-5 || d.Engine != Contour || d.Upper-d.Lower > 1e-3*d.Upper {
				t.Errorf("%+v, reversed %v: δ(%v) = %+v", c, reversed, r.Upper, d)
			}
			if e := epsilon(t, laws, 1e-5); !(e.Lower <= r.Upper && r.Lower <= e.Upper) {
				t.Errorf("%+v, reversed %v: [%v, %v], by lattices [%v, %v]", c, reversed, r.Lower, r.Upper, e.Lower, e.Upper)
			}
		}
	}
}

// Few runs of random laws, with all their losses listed: the integral with a bump holds the truth, also where δ bends.
func TestSmoothHoldsTheList(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	answered, moved := 0, 0
	for range 12 {
		s := New(Options{Relative: 0.01})
		for range 2 + rng.IntN(2) {
			a, b := 0.2+rng.Float64(), 0.2+rng.Float64()
			// P and Q of two losses, −a and b.
			q := (1 - math.Exp(-b)) / (math.Exp(a) - math.Exp(-b)) // P's mass at −a
			d, err := profiles.NewDiscrete([]profiles.Atom{{Loss: -a, LogP: math.Log(q), LogQ: math.Log(q) + a}, {Loss: b, LogP: math.Log1p(-q), LogQ: math.Log1p(-q) - b}},
				math.Inf(-1), math.Inf(-1), 1e-15, 1e-15)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Add(d, int64(1+rng.IntN(4))); err != nil {
				t.Fatal(err)
			}
		}
		list := s.steps.List()
		if list == nil {
			t.Fatal("no list")
		}
		_, _, top := s.steps.Ends()
		targets := []float64{0.5, 0.1, 0.01, 1e-4}
		for range 3 {
			// δ bends at a loss, where the bump counts most.
			x := list.Atoms()[rng.IntN(len(list.Atoms()))].Loss
			if _, v, _ := closed.Delta(list, x, 0); v > -10 && v < -0.01 {
				targets = append(targets, math.Exp(v))
			}
		}
		for _, target := range targets {
			logDelta := math.Log(target)
			if _, err := s.prepare(logDelta); err != nil {
				t.Fatal(err)
			}
			lo, hi := closed.Epsilon(list, logDelta, math.Log1p(-target), top)
			q := &question{Sum: s, m: s.newMeter(t.Context()), logDelta: logDelta, logInf: math.Inf(-1), least: -1, most: top}
			r, err := q.smooth(unknown(math.Log1p(-target), math.Inf(1)))
			if err != nil {
				t.Fatal(err)
			}
			if !(r.Lower <= hi+1e-12 && r.Upper >= lo-1e-12) {
				t.Errorf("ε(%v): [%v, %v], want [%v, %v]", target, r.Lower, r.Upper, lo, hi)
			}
			if r.Upper-r.Lower <= 0.01*math.Abs(r.Upper) {
				answered++
			}
			if r.Lower+s.factors.most > hi {
				moved++ // without the allowance for the bump the lower end were false
			}
			at := lo + 1e-3*rng.Float64()
			low, _, high := closed.Delta(list, at, 1e-15)
			q = &question{Sum: s, m: s.newMeter(t.Context()), ofDelta: true, eps: at, logDelta: logTypical, logInf: math.Inf(-1), most: 1}
			if r, err = q.smooth(unknown(0, 1)); err != nil {
				t.Fatal(err)
			}
			if !(math.Log(r.Lower) <= high+1e-12 && math.Log(r.Upper) >= low-1e-12) {
				t.Errorf("δ(%v): [%v, %v], want [%v, %v]", at, r.Lower, r.Upper, math.Exp(low), math.Exp(high))
			}
		}
	}
	if answered < 50 || moved < 5 {
		t.Errorf("%d answered, %d need the allowance", answered, moved)
	}
}

// Where the width asked for takes too many frequencies the answer is not wider than one that was asked for less, and says why it is wide.
func TestSmoothWider(t *testing.T) {
	last := math.Inf(1)
	for _, relative := range []float64{1e-3, 3e-4} {
		s := New(Options{Relative: relative, Work: 2e6})
		for i := range 24 {
			p, err := subsample.PoissonProfile(declared(t)(profiles.NewDiscreteGaussianMechanism(0.8+0.075*float64(i), 1)), 0.002*float64(1+i%3))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Add(p, int64(25+10*i)); err != nil {
				t.Fatal(err)
			}
		}
		r := epsilon(t, s, 1e-6)
		w := r.Upper - r.Lower
		if !(w <= 1.3*last) {
			t.Errorf("asked for %v: %v, width %v, and %v before", relative, r, w, last)
		}
		if wide := w > relative*r.Upper; wide != (len(r.Warnings) > 0) || wide && !strings.Contains(r.Warnings[0], "not reached") {
			t.Errorf("asked for %v: %v: warnings %q", relative, r, r.Warnings)
		}
		last = w
	}
}
