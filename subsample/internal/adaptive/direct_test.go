package adaptive

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

// TestSingleSteps: of 1000 steps, which are few for blocks, single steps leave less than half a percent above the attack's limit, and they
// are not below it.
func TestSingleSteps(t *testing.T) {
	const limit = 5.1735 // of an independent program
	b := blocksOf(readmeRate, readmeTheta, 0.5)
	b.flat = levelStretch(readmeRate, readmeTheta)
	l, g, err := b.upper(t.Context(), 1000, 5.2, math.Log(1e-5), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if up := crossing(l, g, 1e-5); !(up >= limit && up <= limit*1.005) {
		t.Errorf("at most %v, the attack's limit is %v", up, limit)
	}
}

// TestLevelStretchIsNeeded: an even function that falls from α = 1 on is not enough. At two steps and α = 1 it gives less than the place at
// equal distance from the record and its substitute has, .0049416 by a quadrature in the plane of another program; a level stretch gives more.
func TestLevelStretchIsNeeded(t *testing.T) {
	const attained = 0.0049416
	at := func(flat float64) float64 {
		b := blocksOf(readmeRate, readmeTheta, 0.5)
		b.wide, b.flat, b.few = nearPair{readmeRate, readmeTheta}, flat, 1
		_, g, err := b.upper(t.Context(), 2, 1, math.Log(1e-4), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		return g[0]
	}
	if without := at(1e-9); !(without < attained*(1-5e-5)) {
		t.Errorf("%v without a level stretch: the place at equal distance has %v", without, attained)
	}
	if with := at(levelStretch(readmeRate, readmeTheta)); !(with > attained) {
		t.Errorf("%v with a level stretch, an adversary has %v", with, attained)
	}
}

// TestLevel: the function that a single step is applied to is at least G at nodes on both sides of α = 1 and at α = 0, by explicit sums, and
// its masses are even. Infinite losses count as D(0).
func TestLevel(t *testing.T) {
	f, _ := someStair(t, 0.5)
	g := f.values()
	const k, pInf = 40, 1e-3
	before := f.inf
	d := f.level(k, pInf)
	zero := 0.0
	for i, m := range d {
		zero += m * f.beta[i]
	}
	if !(zero >= 1) {
		t.Errorf("D(0) = %v", zero)
	}
	if added := f.inf - before; !(added >= pInf*zero*(1-1e-9)) {
		t.Errorf("%v is added for infinite losses of %v, D(0) is %v", added, pInf, zero)
	}
	for i := -f.low; i < f.top; i += 89 {
		x := float64(i) * f.ladder.step
		want := 0.0
		if i >= 0 {
			want = g[i]
		} else if want = -math.Expm1(x); -i <= f.top {
			want += math.Exp(x) * g[-i]
		}
		if got := f.function(d, x); got < want-before-1e-13 {
			t.Errorf("log α = %v: D is %v, G %v", x, got, want)
		}
	}
	for j := 2; j < min(f.low, f.top)-2; j += 61 { // ν = cβ^½
		up, down := d[f.low+j]*math.Sqrt(f.beta[f.low+j]), d[f.low-j]*math.Sqrt(f.beta[f.low-j])
		if math.Abs(up/down-1) > 1e-3 {
			t.Errorf("at ±%d: %v and %v", j, up, down)
		}
		if j < k && math.Abs(up/d[f.low]-1) > 1e-3 {
			t.Errorf("at %d: %v, it is level at %v", j, up, d[f.low])
		}
	}
	// A shorter constant that ignores D(0) would do at the nodes.
	sums := func(first float64) float64 {
		n, mass, value := 0.0, 0.0, 0.0
		for j := f.top; j > k; j-- {
			i := j + f.low
			n = max(n, f.c[j]/f.falls[i])
			mass += n * f.falls[i]
			value += mass * (f.beta[i] - f.beta[i-1])
		}
		at := make([]float64, f.top+1)
		f.fill(at)
		return f.evenly(at, k, n, mass, value, first)
	}
	if without, with := sums(2), sums(0.5); !(without < with) {
		t.Errorf("a constant of %v whether D(0) ≥ 1 is asked or not, %v", without, with)
	}
}

// TestStretchOfCheck: a stretch that the check tells of a place is no shorter than the one of exact profiles, by quadrature; to count the right up to
// the end of a part, and not to where it begins, would tell a shorter one. README's noise needs .088: .06 is refused.
func TestStretchOfCheck(t *testing.T) {
	c, err := singleCheck(readmeRate, readmeTheta, widened(readmeTheta), 0.5, true)
	if err != nil {
		t.Fatal(err)
	}
	g := triangle{math.Sqrt2, math.Sqrt2, 2}
	s := singleStep(readmeTheta, readmeRate)
	k := readmeTheta / 2
	exact := func(z float64) float64 {
		if z == 0 {
			z = 1e-12
		}
		w := s.shares(z)[0]
		return readmeRate * triangle{g.s * k, g.t * k, g.r * k}.estimate(w.logA, w.logB)
	}
	var up []float64
	for _, z := range c.p.x {
		up = append(up, exact(z))
	}
	up[0] = c.p.bound.at(c.p.ways[0], g)
	ok, flat := c.holds(up, up)
	// The integrals of the right and the left up to z, in steps of 1/4000.
	wide := nearPair{readmeRate, widened(readmeTheta)}
	right, left, least, need := 0.0, 0.0, 0.0, 0.0
	const h = 1. / 4000
	for z := h / 2; z < 0.6; z += h {
		v := exact(z)
		right += h * math.Exp(-z/2) * (wide.near(z).value - v)
		left += h * math.Exp(-z/2) * (wide.reverse(z).value - v)
		least = min(least, left)
		if right+least < 0 {
			need = z
		}
	}
	if !ok || !(flat >= need) || need < 0.02 {
		t.Errorf("a stretch of %v passes, %v; exact profiles need %v", flat, ok, need)
	}
	if _, err := c.run(t.Context(), 0.06); err == nil {
		t.Error("a stretch of .06 passes")
	}
	if !slow.All() {
		return
	}
	b, err := newBlocked(t.Context(), blockedKey{rate: readmeRate, theta: readmeTheta, singly: true}, nil)
	if err != nil || b.flat != levelStretch(readmeRate, readmeTheta) || b.lambda != 0.5 {
		t.Errorf("%+v, %v", b, err)
	}
}
