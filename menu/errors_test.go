package menu

// Each error term, where it decides: what is computed without it would be on the wrong side of sums of positive terms.

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/profiles"
)

// randomLaw returns a law with masses that fall steeply on both sides.
func randomLaw(rng *rand.Rand, low, n int, slope, inf float64) *law {
	l := &law{low: low, mass: make([]float64, n), inf: inf}
	sum := 0.0
	for i := range l.mass {
		l.mass[i] = math.Exp(-slope*math.Abs(float64(low+i))) * (0.5 + rng.Float64())
		sum += l.mass[i]
	}
	for i := range l.mass {
		l.mass[i] *= (1 - inf) / sum
	}
	return l
}

// times is the composition of two laws by direct sums.
func times(a, b *law) *law {
	out := &law{low: a.low + b.low, mass: make([]float64, len(a.mass)+len(b.mass)-1), inf: a.inf + b.inf - a.inf*b.inf}
	for i, x := range a.mass {
		for j, y := range b.mass {
			out.mass[i+j] += x * y
		}
	}
	return out
}

func (l *law) at(i int) float64 {
	if i < l.low || i > l.high() {
		return 0
	}
	return l.mass[i-l.low]
}

// above returns the mass of the losses from i on, with +∞.
func (l *law) above(i int) float64 {
	sum := l.inf
	for k := l.high(); k >= max(i, l.low); k-- {
		sum += l.mass[k-l.low]
	}
	return sum
}

// TestCompose: the law of a block is above, or below, the direct sums: each tail above the window's low end, and each mass of a law
// below, also where errors of the transform, mass outside of the window and mass that wraps decide.
func TestCompose(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 2))
	one := randomLaw(rng, -20, 50, 0.8, 1e-9)
	exact := one
	for range 11 {
		exact = times(exact, one)
	}
	const step = 0.05
	for _, c := range []struct {
		what string
		k    maker
	}{
		{"errors of the transform", maker{step: step, theta: 3, logFar: -200, logWrap: -60}},
		{"mass outside the window", maker{step: step, theta: 3, logFar: -3, logWrap: -5}},
		{"a low end that is cut", maker{step: step, theta: 8, logFar: -200, logWrap: -60}},
		{"no tilt", maker{step: step, theta: 0, logFar: -60, logWrap: -60}},
	} {
		parts := []part{{law: one, count: 12, k: one.tilted(c.k.theta, step)}}
		up, err := c.k.compose(t.Context(), parts, step, true)
		if err != nil {
			t.Fatal(err)
		}
		down, err := c.k.compose(t.Context(), parts, step, false)
		if err != nil {
			t.Fatal(err)
		}
		wide := false
		for i := exact.low; i <= exact.high(); i++ {
			want := exact.above(i)
			if i <= up.low {
				want = exact.above(exact.low) // all of it
			}
			if up.above(i) < want*(1-1e-13) {
				t.Fatalf("%s: %v of the law above from %d on, want at least %v", c.what, up.above(i), i, want)
			}
			if down.at(i) > exact.at(i)*(1+1e-13) {
				t.Fatalf("%s: mass %v of the law below at %d, want at most %v", c.what, down.at(i), i, exact.at(i))
			}
			wide = wide || down.at(i) < exact.at(i)*(1-1e-6)
		}
		if total := up.total() + up.inf; total < 1 {
			t.Errorf("%s: the law above has the mass 1 − %v", c.what, 1-total)
		}
		if math.Abs(down.inf-exact.inf) > 1e-12*exact.inf || down.inf > exact.inf*(1+1e-13) || up.inf < exact.inf*(1-1e-13) {
			t.Errorf("%s: mass at +∞ %v and %v, want %v", c.what, up.inf, down.inf, exact.inf)
		}
		if !wide {
			t.Errorf("%s: nothing was taken off", c.what)
		}
		// In the middle the two are close.
		if i := 0; c.k.logFar < -10 && !(up.above(i)-down.above(i) < 1e-9) {
			t.Errorf("%s: tails at 0 from %v to %v", c.what, down.above(i), up.above(i))
		}
	}
}

// TestCoarseBelowRoundsDown: masses that are put together are no more than they are, also where their sum is rounded up.
func TestCoarseBelowRoundsDown(t *testing.T) {
	l := &law{low: 1, mass: []float64{0.5, 0x1.8p-54}} // between the points 0 and 4
	if sum := l.mass[0] + l.mass[1]; !(sum-0.5 > l.mass[1]) {
		t.Fatalf("%v is not rounded up", sum)
	}
	if got := l.coarseBelow(4, 0.01); got.at(0)-0.5 > l.mass[1] {
		t.Errorf("0.5 and %v are %v", l.mass[1], got.at(0))
	}
}

// hockey is the profile of a law at α = e^y.
func (l *law) hockey(y, step float64) float64 {
	sum := l.inf
	for i, m := range l.mass {
		if x := step * float64(l.low+i); x > y {
			sum += m * -math.Expm1(y-x)
		}
	}
	return sum
}

// TestCoarse: laws on a coarser lattice are above and below for every α, and the difference is of second order.
func TestCoarse(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 3))
	for range 20 {
		fine, ratio := 0.002, []int{4, 16, 64}[rng.IntN(3)]
		l := randomLaw(rng, -rng.IntN(900), 1500, 0.004+0.01*rng.Float64(), 1e-6)
		up, down := l.coarseAbove(ratio, fine), l.coarseBelow(ratio, fine)
		worst := 0.0
		for i := -1000; i <= 1500; i += 7 {
			y := fine * (float64(i) + 0.5*rng.Float64())
			a, b, c := down.hockey(y, fine*float64(ratio)), l.hockey(y, fine), up.hockey(y, fine*float64(ratio))
			if !(a <= b*(1+1e-14) && b <= c*(1+1e-14)) {
				t.Fatalf("at %v: %v, %v, %v do not ascend", y, a, b, c)
			}
			worst = max(worst, c-a)
		}
		w := fine * float64(ratio)
		if !(worst < 2*w*w/(fine*100)) {
			t.Errorf("ratio %d: the laws differ by %v", ratio, worst)
		}
		if up.total()+up.inf < l.total()+l.inf || down.total() > l.total()*(1+1e-13) {
			t.Errorf("masses %v, %v, %v", up.total(), l.total(), down.total())
		}
	}
}

// TestCuts: losses that are taken in leave a law on its side.
func TestCuts(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 4))
	const step = 0.01
	for range 20 {
		l := randomLaw(rng, -200-rng.IntN(100), 500, 0.03, 1e-6)
		for _, up := range []bool{true, false} {
			c := &law{low: l.low, mass: append([]float64(nil), l.mass...), inf: l.inf}
			c.trim(math.Log(1e-3), up)
			c.trimBelow(2, step, 1e-2, up)
			c.cut(60+rng.IntN(60), up)
			if len(c.mass) == len(l.mass) || c.low == l.low {
				t.Fatal("nothing was cut")
			}
			for y := -3.0; y < 4; y += 0.013 {
				a, b := c.hockey(y, step), l.hockey(y, step)
				if up && a < b*(1-1e-14) || !up && a > b*(1+1e-14) {
					t.Fatalf("above %v: %v at %v, where the law has %v", up, a, y, b)
				}
			}
			if total := c.total() + c.inf; up && total < 1-1e-15 || !up && total > 1 {
				t.Errorf("above %v: mass 1 + %v", up, total-1)
			}
		}
	}
}

// TestSettle: a law above gets what its mass lacks at +∞, one below is scaled.
func TestSettle(t *testing.T) {
	l := &law{mass: []float64{0.5, 0.5 - 1e-9}}
	if err := l.settle(true); err != nil || l.total()+l.inf < 1 || l.inf > 2e-9 {
		t.Errorf("%v: mass at +∞ %v", err, l.inf)
	}
	l = &law{mass: []float64{0.5, 0.5 + 1e-9}}
	if err := l.settle(false); err != nil || l.total()+l.inf > 1 || l.total() < 1-1e-12 {
		t.Errorf("%v: mass 1 + %v", err, l.total()-1)
	}
	l = &law{mass: []float64{0.5}}
	if l.settle(true) == nil {
		t.Error("a law above with half of the mass")
	}
}

// TestRecursionErrors: values by transforms are on their side of direct sums on a lattice three times as wide, at every level and
// point, also where the tilt does not fit and at both ends, where bounds stand for what lies beyond.
func TestRecursionErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 5))
	const step, units = 0.02, 12
	laws := []*law{randomLaw(rng, -100, 300, 0.05, 1e-9), randomLaw(rng, -150, 500, 0.03, 0)}
	cost := []int{1, 2}
	reference := func(low, high int) [][]float64 {
		at := func(v []float64, k int) float64 {
			switch {
			case k < low:
				return 0
			case k > high:
				return -math.Expm1(-step * float64(k))
			}
			return v[k-low]
		}
		out := [][]float64{make([]float64, high-low+1)}
		for k := max(low, 0); k <= high; k++ {
			out[0][k-low] = -math.Expm1(-step * float64(k))
		}
		for b := 1; b <= units; b++ {
			v := append([]float64(nil), out[b-1]...)
			for i, l := range laws {
				if cost[i] > b {
					continue
				}
				for k := range v {
					sum := l.inf
					for j, m := range l.mass {
						sum += m * at(out[b-cost[i]], low+k+l.low+j)
					}
					v[k] = max(v[k], sum)
				}
			}
			out = append(out, v)
		}
		return out
	}
	const low, high = -500, 150
	want := reference(4*low, 6*high)
	for _, theta := range []float64{0, 2, 8} {
		for _, up := range []bool{true, false} {
			r := newRecursion(laws, cost, up, step, theta, low, high)
			if r.n == 0 {
				t.Fatal("no transform")
			}
			for b := 1; b <= units; b++ {
				if err := r.advance(t.Context()); err != nil {
					t.Fatal(err)
				}
				for k, v := range r.value {
					x := want[b][k+low-4*low]
					if up && v < x*(1-1e-13) || !up && v > x*(1+1e-13) {
						t.Fatalf("θ = %v, above %v: %v at level %d, point %d, where the recursion has %v", theta, up, v, b, low+k, x)
					}
				}
			}
			if j := -20; theta == 2 && math.Abs(r.at(-j)-want[units][j-4*low]) > 1e-4 {
				t.Errorf("θ = %v, above %v: %v, want %v", theta, up, r.at(-j), want[units][j-4*low])
			}
		}
	}
}

// TestDisplacement: losses that are known within 0.01 count as larger by as much at each use.
func TestDisplacement(t *testing.T) {
	const x, off, units = 0.25, 0.01, 4
	p := 1 / (1 + math.Exp(-x))
	d, err := profiles.NewDiscrete([]profiles.Atom{{Loss: x, LogP: math.Log(p), LogQ: math.Log1p(-p)}, {Loss: -x, LogP: math.Log1p(-p), LogQ: math.Log(p)}},
		math.Inf(-1), math.Inf(-1), 1e-15, off)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(t.Context(), []Type{{Name: "a", Cost: 1, Runs: profiles.Repeat(profiles.NewBounds("a", profiles.AddRemove, d), 1)}}, Options{Units: units, Delta: 1e-2})
	if err != nil {
		t.Fatal(err)
	}
	for _, eps := range []float64{0, 0.3, 0.5, 0.9} {
		iv, err := m.Delta(t.Context(), eps)
		if err != nil {
			t.Fatal(err)
		}
		for sign := -1.0; sign <= 1; sign += 2 {
			// The same masses with both losses moved one way: a measure that the interval must hold for.
			truth := 0.0
			for k := 0; k <= units; k++ {
				l := x*float64(2*k-units) + sign*off*units
				mass := float64([]int{1, 4, 6, 4, 1}[k]) * math.Pow(p, float64(k)) * math.Pow(1-p, float64(units-k))
				truth += mass * max(0, -math.Expm1(eps-l))
			}
			if !(iv.Lower <= truth+1e-12 && truth-1e-12 <= iv.Upper) {
				t.Errorf("ε = %v: [%v, %v] without %v", eps, iv.Lower, iv.Upper, truth)
			}
		}
	}
}

// TestReading: between lattice points both bounds hold for a profile that is known: that of 4 units of RR(0.25).
func TestReading(t *testing.T) {
	const x = 0.25
	p := 1 / (1 + math.Exp(-x))
	l := &law{low: -1, mass: []float64{1 - p, 0, p}}
	d := direction{above: newRecursion([]*law{l}, []int{1}, true, x, 0, -12, 6), below: newRecursion([]*law{l}, []int{1}, false, x, 0, -12, 6)}
	for range 4 {
		if d.above.advance(t.Context()) != nil || d.below.advance(t.Context()) != nil {
			t.Fatal("no level")
		}
	}
	truth := func(eps float64) (delta float64) {
		for k := 0; k <= 4; k++ {
			mass := float64([]int{1, 4, 6, 4, 1}[k]) * math.Pow(p, float64(k)) * math.Pow(1-p, float64(4-k))
			delta += mass * max(0, -math.Expm1(eps-x*float64(2*k-4)))
		}
		return delta
	}
	for eps := 0.0; eps < 1.2; eps += 0.01 {
		want := truth(eps)
		if lo, up := d.lower(eps), d.upper(eps); !(lo <= want*(1+1e-13) && up >= want*(1-1e-13) && up-lo < 0.02) {
			t.Errorf("ε = %v: [%v, %v], want %v", eps, lo, up, want)
		}
	}
	for _, delta := range []float64{0.15, 0.05, 1e-3} {
		lo, up := d.epsilon(delta)
		if !(truth(lo) >= delta*(1-1e-12) && truth(up) <= delta*(1+1e-12) && up-lo < 0.1) {
			t.Errorf("δ = %v: ε in [%v, %v] with δ %v and %v", delta, lo, up, truth(lo), truth(up))
		}
	}
}

// TestDirectRounding: direct sums are on their side of the recursion with the same masses in 200 bits, without any tolerance.
func TestDirectRounding(t *testing.T) {
	const low, high, units = -20, 20, 40
	real := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(41, seed))
		l := randomLaw(rng, -3, 7, 0.3, 0.001)
		for _, up := range []bool{true, false} {
			r := newRecursion([]*law{l}, []int{1}, up, 0.1, 0, low, high)
			// What is below and above the ends stays as the recursion has it, so that sums are all that differs.
			v := make([]*big.Float, high-low+1)
			for i, x := range r.value {
				v[i] = real(x)
			}
			for range units {
				padded := append([]float64(nil), r.kept[r.units%len(r.kept)].padded...)
				if err := r.advance(t.Context()); err != nil {
					t.Fatal(err)
				}
				next := make([]*big.Float, len(v))
				for k := range next {
					sum := real(l.inf)
					for j, m := range l.mass {
						from := real(padded[r.pads[0]+k+l.low+j])
						if i := k + l.low + j; i >= 0 && i < len(v) {
							from = v[i]
						}
						sum.Add(sum, new(big.Float).SetPrec(200).Mul(real(m), from))
					}
					if next[k] = sum; sum.Cmp(v[k]) < 0 {
						next[k] = v[k]
					}
					got := real(r.value[k])
					if up && got.Cmp(next[k]) < 0 && r.value[k] < 1 || !up && got.Cmp(next[k]) > 0 {
						t.Fatalf("seed %d, above %v: %v at level %d, where sums have %v", seed, up, got, r.units, next[k])
					}
				}
				v = next
			}
		}
	}
}

// TestProfileIsThatOfTheMenu: what composes with other steps says of one part nearly what the menu itself does, at a small and at a large δ.
func TestProfileIsThatOfTheMenu(t *testing.T) {
	g, err := profiles.NewGaussianMechanism(8.9)
	if err != nil {
		t.Fatal(err)
	}
	pure, err := profiles.NewPure(0.2917483489467235)
	if err != nil {
		t.Fatal(err)
	}
	var types []Type
	for i, m := range []profiles.Mechanism{pure, g} {
		p, err := m.Pair(profiles.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		one := []profiles.Repeated{{Profile: p, Count: 1}}
		types = append(types, Type{Name: m.Name(), Cost: 3 - 2*i, Runs: profiles.Composition{Upper: [2][]profiles.Repeated{one, one}, Lower: [2][]profiles.Repeated{one, one}}})
	}
	m, err := New(t.Context(), types, Options{Units: 21, Relative: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	both, _, err := m.Profiles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum := fourier.New(fourier.Options{Relative: 1e-6})
	if err := sum.Add(both[0], 1); err != nil {
		t.Fatal(err)
	}
	for _, delta := range []float64{1e-6, 4e-5, 1e-3, 0.1} {
		own, err := m.Epsilon(t.Context(), delta)
		if err != nil {
			t.Fatal(err)
		}
		composed, err := sum.Epsilon(t.Context(), delta)
		if err != nil || !(composed.Upper >= own.Lower && composed.Upper <= own.Upper*1.01) {
			t.Errorf("δ = %v: the profile has ε ≤ %v, the menu [%v, %v] (%v)", delta, composed.Upper, own.Lower, own.Upper, err)
		}
	}
}
