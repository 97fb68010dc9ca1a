package adaptive

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
)

// TestCircleDominatesTheInside: with r = 2, a triangle with z inside the unit disc is below
// the one with z moved to the circle, away from the line through x and x', for any masses: so
// cells inside the circle need not be covered (docs/theory/subsampling.md §10). Both are
// computed by the trapezoid rule, which errs at the kinks of flat triangles.
func TestCircleDominatesTheInside(t *testing.T) {
	rnd := rand.New(rand.NewPCG(21, 22))
	tried, falls := 0, 0
	for range 300 {
		k := math.Exp(4*rnd.Float64()-3) / 2
		r, a := math.Sqrt(rnd.Float64()), math.Pi*(0.05+0.9*rnd.Float64())
		z1, z2 := r*math.Cos(a), 0.1+0.9*r*math.Sin(a)
		if z1*z1+z2*z2 >= 1 {
			continue
		}
		shape := func(z2 float64) triangle {
			return triangle{k * math.Hypot(z1+1, z2), k * math.Hypot(z1-1, z2), 2 * k}
		}
		out := math.Sqrt(1 - z1*z1)
		logA, logB := 10*rnd.Float64()-6, 4*rnd.Float64()-2
		in, on := shape(z2).estimate(logA, logB), shape(out).estimate(logA, logB)
		if on < 1e-12 {
			continue
		}
		tried++
		if in > on*(1+2e-5) {
			t.Errorf("θ=%v z=(%v, %v), log a=%v, log b=%v: %v inside, %v on the circle", 2*k, z1, z2, logA, logB, in, on)
		}
		// On the line it is lower still.
		if shape(z2).estimate(logA, logB) < (triangle{k * math.Hypot(z1+1, 0), k * math.Hypot(z1-1, 0), 2 * k}).estimate(logA, logB)*(1-1e-3) {
			falls++
		}
	}
	if tried < 100 || falls > 0 {
		t.Errorf("%d triangles were compared, %d fell", tried, falls)
	}
}

// TestDominatesRefuses: a mixture that is above a cell is refused once the cell's bound is
// raised at one node, or the mixture lacks a weight; and worst alone is above the whole disc.
func TestDominatesRefuses(t *testing.T) {
	p, err := newPalette(t.Context(), Single(1./3), smallTheta, -25)
	if err != nil {
		t.Fatal(err)
	}
	b := p.whole()
	m := make(member, len(p.laws))
	m[worst] = 1
	if _, ok := p.dominates(m, b); !ok {
		t.Fatal("worst is not above all configurations")
	}
	// Half the way between two laws is not above the larger of them.
	m[worst], m[right] = 0.5, 0.5
	if _, ok := p.dominates(m, b); ok {
		t.Error("half of right passes for the whole disc")
	}
	for _, c := range []cell{{1.9, 1.95, 0.5, 0.6}, {1.99, 2, 0.1, 0.15}, {1.5, 1.6, 1.3, 1.4}} {
		b := p.whole().part(c)
		m, cost := p.fit(b, p.target(2))
		if math.IsInf(cost, 1) {
			t.Errorf("nothing is above %v", c)
			continue
		}
		m, ok := p.dominates(m, b)
		if !ok {
			t.Errorf("what fits %v is not above it", c)
		}
		for k := 0; k < len(p.x); k += 7 {
			for _, side := range [][]float64{b.up, b.down} {
				kept := side[k]
				side[k] = math.Nextafter(p.laws[worst].up[k], 2)
				if _, ok := p.dominates(m, b); ok && m[worst] < 0.99 {
					t.Errorf("%v: a bound of %v at node %d was not noticed", c, side[k], k)
				}
				side[k] = kept
			}
		}
		b.up[3] = math.NaN()
		if _, ok := p.dominates(m, b); ok {
			t.Errorf("%v: no number was not noticed", c)
		}
	}
}

// TestFinerCellsCostLess: what a cell's mixture costs is at least what its halves' do.
func TestFinerCellsCostLess(t *testing.T) {
	p, err := newPalette(t.Context(), Single(256./60000), 2/1.1, -25)
	if err != nil {
		t.Fatal(err)
	}
	target := p.target(1.2)
	for _, c := range []cell{{1.8, 2, 0.5, 0.8}, {1.95, 2, 0.2, 0.4}} {
		whole := p.whole().part(c)
		_, cost := p.fit(whole, target)
		for _, half := range c.split() {
			if half.empty() {
				continue
			}
			if _, v := p.fit(whole.part(half), target); !(v <= cost+1e-6) {
				t.Errorf("%v costs %v, its part %v %v", c, cost, half, v)
			}
		}
	}
}

// TestLensCovers: every configuration that matters is in a cell that is not empty after
// cells are halved at random.
func TestLensCovers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(31, 32))
	for range 2000 {
		s := math.Sqrt2 + (2-math.Sqrt2)*rnd.Float64()
		u := math.Sqrt(4 - s*s)
		side := u + (s-u)*rnd.Float64() // t ≤ s: half of the lens
		if rnd.IntN(4) == 0 {
			side = math.Nextafter(u, 3)
		}
		c := cell{0, 2, 0, 2}
		for depth := range 25 {
			var next cell
			found := false
			for _, h := range c.split() {
				if !h.empty() && h.s0 <= s && s <= h.s1 && h.t0 <= side && side <= h.t1 {
					next, found = h, true
				}
			}
			if !found {
				t.Fatalf("(%v, %v) is in no half of %v at depth %d", s, side, c, depth)
			}
			c = next
		}
	}
}

// The cells that are covered before the recursion end with the context too, which takes seconds where there
// are many; and nothing that was cut short serves the next question.
func TestCoverEndsWithItsContext(t *testing.T) {
	slow.Test(t)
	pair, err := profiles.NewGaussian(1 / smallTheta)
	if err != nil {
		t.Fatal(err)
	}
	a := NewBound(smallTheta, Single(1./3), pair, nil).(*bound)
	p, c, err := a.prepare(t.Context(), 10, 1, -11)
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if f, err := a.family(ended, p, c); f != nil || err != context.Canceled {
		t.Errorf("a family of %v, %v", f, err)
	}
	if f, err := a.family(parallel.WithWork(t.Context(), 1), p, c); f != nil || err != parallel.ErrWork {
		t.Errorf("a family of %v, %v within no work", f, err)
	}
	if _, _, err := NewBound(smallTheta, Single(1./3), pair, nil).(*bound).prepare(ended, 10, 1, -11); err != context.Canceled {
		t.Errorf("laws: %v", err)
	}
	if f, err := a.family(t.Context(), p, c); f == nil || err != nil {
		t.Errorf("the next question has %v, %v", f, err)
	}
}
