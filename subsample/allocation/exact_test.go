package allocation

import (
	"errors"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/positive"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// within fails unless log δ of the direction's laws encloses want, both sides at every ε.
func encloses(t *testing.T, what any, d profiles.Direction, eps, want float64) {
	t.Helper()
	move := d.Upper.Support().LossErr
	up, eu := profiles.LogDelta(d.Upper, eps-move)
	low, el := profiles.LogDelta(d.Lower, eps+d.Lower.Support().LossErr)
	if math.IsInf(eu, 1) {
		up, eu = d.Upper.Tails(eps-move, 0).P, 1e-9
	}
	if math.IsInf(el, 1) {
		low, el = math.Inf(-1), 0
	}
	if !(up+eu >= want-1e-12*math.Abs(want)-1e-12 && low-el <= want+1e-12*math.Abs(want)+1e-12) {
		t.Errorf("%v, ε = %v: log δ in [%v, %v], want %v", what, eps, low, up, want)
	}
}

// TestOneStep: check 1 of the page. The laws of one step and more epochs, which no plan takes, hold
// the base's own; one step, or all steps, are the base itself.
func TestOneStep(t *testing.T) {
	for _, sigma := range []float64{0.3, 0.5, 1, 2, 5, 20} {
		s := must(must(NewRandom(1)).WithEpochs(3))
		upper, lower, err := source(gaussian(sigma), profiles.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		up, low, err := s.(randomScheme).laws(t.Context(), upper, lower)
		if err != nil {
			t.Fatal(err)
		}
		m := must(twoSided("laws", profiles.AddRemove, up, low))
		g := must(profiles.NewGaussian(sigma)).Repeat(3, nil)
		if one := must(s.Apply(gaussian(sigma), profiles.AddRemove)); !profiles.Equal(one.Directions[0].Upper, g) {
			t.Errorf("σ = %v: one step and three epochs are not three runs of the base", sigma)
		}
		for i := range 200 {
			eps := (float64(i)/100 - 0.5) * (3/sigma + 5/sigma/sigma)
			want, err := profiles.LogDelta(g, eps)
			if math.IsInf(err, 1) || want < math.Log(1e-100) {
				continue
			}
			for _, d := range m.Directions {
				encloses(t, sigma, d, eps, want)
			}
		}
	}
	one := must(must(NewRandom(1)).Apply(gaussian(2), profiles.AddRemove))
	if !profiles.Equal(one.Directions[0].Upper, must(profiles.NewGaussian(2))) {
		t.Error("one step is not the base")
	}
	all := must(must(must(NewRandom(7)).WithUses(7)).Apply(gaussian(2), profiles.AddRemove))
	if !profiles.Equal(all.Directions[0].Upper, must(profiles.NewGaussian(2)).Repeat(7, nil)) {
		t.Error("7 of 7 steps are not 7 runs of the base")
	}
	if none := must(must(must(NewRandom(7)).First(0)).Apply(gaussian(2), profiles.AddRemove)); !profiles.Equal(none.Directions[0].Upper, profiles.Identical()) {
		t.Error("no step costs something")
	}
}

// twoSteps returns E(A_1 + A_2 − 2α)₊/2 for two likelihood ratios under Q, by quadrature over the
// first: n(x, w) lists the first one, above(k) is E(A − k)₊.
func twoSteps(xs, ws []float64, alpha float64, above func(k float64) float64) float64 {
	var s xmath.Sum
	for i, x := range xs {
		s.Add(ws[i] * above(2*alpha-x))
	}
	return s.Value() / 2
}

// TestTwoSteps: every ε in both directions against quadrature.
func TestTwoSteps(t *testing.T) {
	for _, sigma := range []float64{0.5, 1, 2, 5} {
		s := 1 / sigma
		g := must(profiles.NewGaussian(sigma))
		var xs, ws []float64
		const h = 1. / 512
		for z := -14.0; z <= 14+s; z += h {
			xs, ws = append(xs, math.Exp(s*z-s*s/2)), append(ws, h*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi))
		}
		above := func(k float64) float64 {
			if k <= 0 {
				return 1 - k
			}
			d, _ := profiles.LogDelta(g, math.Log(k))
			return math.Exp(d)
		}
		m := must(sharp(must(NewRandom(2)), target{Delta: 1e-6, Relative: 1e-3}).Apply(gaussian(sigma), profiles.AddRemove))
		for _, eps := range []float64{0, 0.3, 1, 2, 3} {
			eps *= s
			want := twoSteps(xs, ws, math.Exp(eps), above)
			// The trapezoidal rule meets a function with a kink in its second derivative.
			if want > 1e-12 {
				near(t, sigma, m.Directions[0], eps, want, 1e-6)
			}
			// E(1 − αM)₊ = α(E(M − 1/α)₊ − 1 + 1/α).
			want = math.Exp(eps)*twoSteps(xs, ws, math.Exp(-eps), above) - math.Expm1(eps)
			if want > 1e-7 {
				near(t, sigma, m.Directions[1], eps, want, 1e-5)
			}
		}
	}
}

// near is encloses for a reference that is known to a relative error.
func near(t *testing.T, what any, d profiles.Direction, eps, want, rel float64) {
	t.Helper()
	up, _ := profiles.LogDelta(d.Upper, eps)
	low, el := profiles.LogDelta(d.Lower, eps)
	if math.IsInf(el, 1) {
		low = math.Inf(-1)
	}
	if !(math.Exp(up) >= want*(1-rel) && math.Exp(low) <= want*(1+rel)) {
		t.Errorf("%v, ε = %v: δ in [%v, %v], want %v", what, eps, math.Exp(low), math.Exp(up), want)
	}
}

// inversion returns δ(ε) of t steps by an inverse Laplace transform, in another way altogether:
// E(k − S)₊ = (1/2πi)∫ φ(θ)^t e^{θk}/θ² dθ with φ(θ) = E e^{−θA} on a line right of 0.
func inversion(sigma float64, t int64, eps float64, add bool) float64 {
	s, n := 1/sigma, float64(t)
	const h = 0.02
	var as, ws []float64
	for z := -10.0; z <= 10+s; z += h {
		as, ws = append(as, math.Exp(s*z-s*s/2)-1), append(ws, h*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi))
	}
	sd := math.Sqrt(n * math.Expm1(s*s))
	k := n * math.Expm1(eps)
	if add {
		k = n * math.Expm1(-eps)
	}
	c, du := 1/sd, 0.1/sd
	if add {
		c = 5 / sd
	}
	sum := 0.0
	for j := 0; j < 130; j++ {
		th := complex(c, (float64(j)+0.5)*du)
		var m complex128
		for i, a := range as {
			x := -th * complex(a, 0)
			sin, cos := math.Sincos(imag(x))
			half := math.Sin(imag(x) / 2)
			e := math.Exp(real(x))
			m += complex(ws[i], 0) * complex(math.Expm1(real(x))*cos-2*half*half, e*sin)
		}
		l := cmplx.Log(1 + m)
		if cmplx.Abs(m) < 1e-3 {
			l = m - m*m/2 + m*m*m/3 - m*m*m*m/4 + m*m*m*m*m/5
		}
		sum += real(cmplx.Exp(complex(n, 0)*l+th*complex(k, 0)) / (th * th))
	}
	put := sum * du / math.Pi
	if add {
		return put / (n + k)
	}
	return (put - k) / n
}

// TestInversion: laws against an inverse Laplace transform. The last row is the one for which the
// page has ε in [0.008442, 0.008447] (remove) and [0.008436, 0.008441] (add): both this and the
// laws have 0.008398 and 0.008392, so that random allocation costs less than Poisson sampling
// there (0.008434), too.
func TestInversion(t *testing.T) {
	for _, r := range []row{
		{Sigma: 2, Steps: 100, Delta: 1e-5}, {Sigma: 1, Steps: 1000, Delta: 1e-6}, {Sigma: 2, Steps: 100000, Delta: 1e-10},
	} {
		m := must(r.scheme().Apply(gaussian(r.Sigma), profiles.AddRemove))
		for d := range m.Directions {
			lo, hi := interval(t, m.Directions[d], 1, r.Delta)
			for _, eps := range []float64{lo, hi} {
				near(t, r, m.Directions[d], eps, inversion(r.Sigma, r.Steps, eps, d == 1), 1e-6)
			}
			if r.Steps == 100000 && (hi > 0.00841 || hi-lo > 1e-3*hi) {
				t.Errorf("[%v, %v]", lo, hi)
			}
		}
	}
}

// TestLaplaceTwoSteps: check 6 of the page, a base with atoms.
func TestLaplaceTwoSteps(t *testing.T) {
	b := must(profiles.NewLaplaceMechanism(1))
	p := must(b.Pair(profiles.AddRemove))
	m := must(sharp(must(NewRandom(2)), target{Delta: 1e-3, Relative: 1e-4}).Apply(b, profiles.AddRemove))
	// Under Q the loss is 1 with probability e^{−1}/2, −1 with ½, between them it has the density
	// e^{−(1−l)/2}/4 at l; P has e^l times as much.
	var xs, ws []float64
	const n = 20000
	for i := range n {
		l := -1 + 2*(float64(i)+0.5)/n
		xs, ws = append(xs, math.Exp(l)), append(ws, 2./n*math.Exp(-(1+l)/2)/4)
	}
	xs, ws = append(xs, math.E, math.Exp(-1)), append(ws, math.Exp(-1)/2, 0.5)
	above := func(k float64) float64 {
		if k <= 0 {
			return 1 - k
		}
		d, _ := profiles.LogDelta(p, math.Log(k))
		return math.Exp(d)
	}
	total := 0.0
	for _, w := range ws {
		total += w
	}
	if math.Abs(total-1) > 1e-6 {
		t.Fatalf("the reference has the mass %v", total)
	}
	for _, eps := range []float64{0, 0.1, 0.3, 0.5, 0.8, 0.95} {
		near(t, "laplace", m.Directions[0], eps, twoSteps(xs, ws, math.Exp(eps), above), 1e-5)
		back := math.Exp(eps)*twoSteps(xs, ws, math.Exp(-eps), above) - math.Expm1(eps)
		near(t, "laplace", m.Directions[1], eps, back, 1e-4)
	}
	// A base that dominates another has an allocation that dominates.
	wide := must(must(NewRandom(2)).Apply(must(profiles.NewLaplaceMechanism(1.5)), profiles.AddRemove))
	for _, eps := range []float64{0.1, 0.5} {
		low, _ := profiles.LogDelta(wide.Directions[0].Lower, eps)
		up, _ := profiles.LogDelta(m.Directions[0].Upper, eps)
		if low > up {
			t.Errorf("ε = %v: more noise has log δ ≥ %v, less has at most %v", eps, low, up)
		}
	}
}

// TestFiniteBase: randomized response and a mechanism with infinite losses, by enumeration.
func TestFiniteBase(t *testing.T) {
	b := must(profiles.NewFiniteMechanism([]float64{0.5, 0.4, 0.1, 0}, []float64{0.2, 0.6, 0, 0.2}))
	m := must(must(NewRandom(3)).Apply(b, profiles.AddRemove))
	p, q := []float64{0.5, 0.4, 0.1, 0}, []float64{0.2, 0.6, 0, 0.2}
	for _, eps := range []float64{-0.5, 0, 0.2, 0.5, 1} {
		var remove, add float64
		a := math.Exp(eps)
		for i := range 64 {
			o := [3]int{i & 3, i >> 2 & 3, i >> 4}
			pr, qr := 0.0, 1.0
			for k := range 3 {
				x := 1.0 / 3
				for j := range 3 {
					if j == k {
						x *= p[o[j]]
					} else {
						x *= q[o[j]]
					}
				}
				pr += x
				qr *= q[o[k]]
			}
			remove += max(0, pr-a*qr)
			add += max(0, qr-a*pr)
		}
		near(t, "finite", m.Directions[0], eps, remove, 1e-12)
		near(t, "finite", m.Directions[1], eps, add, 1e-12)
	}
}

// TestOneSidedBaseUnderReports: erratum A5. A base that is right at α ≥ 1 only, with the values
// below 1 merged to their mean, gives laws below the truth: bases are one pair, right at every α.
func TestOneSidedBaseUnderReports(t *testing.T) {
	one := (positive.LogNormal{S: 1}).Round([]float64{1}, false)
	var grid []float64
	for x := 1.0; x < 1e6; x *= 1.002 {
		grid = append(grid, x)
	}
	side := (positive.LogNormal{S: 1}).Round(grid, true)
	if side.X[0] == 0 { // the spread's part at 0 belongs to the mean of what is below 1
		side.X[0] = one.X[0]
		m := one.Mass[0] - side.Mass[0]
		side.Mass[0] += m
		side.Mass[1] -= m
	}
	add := func(l *positive.Law, alpha float64) (sum float64) {
		for i, x := range l.X {
			for j, y := range l.X {
				sum += l.Mass[i] * l.Mass[j] * max(0, 1-alpha*(x+y)/2)
			}
		}
		return sum
	}
	m := must(sharp(must(NewRandom(2)), target{Delta: 0.0991, Relative: 1e-4}).Apply(gaussian(1), profiles.AddRemove))
	near(t, "one pair", m.Directions[1], math.Log(2), 0.099148, 1e-5)
	if low, _ := profiles.LogDelta(m.Directions[1].Lower, math.Log(2)); add(side, 2) > 0.055 || math.Exp(low) < 0.0985 {
		t.Errorf("one-sided %v, want about 0.050891; the pair %v, want 0.099148", add(side, 2), math.Exp(low))
	}
}

// TestOrder: checks 3 and 4 of the page.
func TestOrder(t *testing.T) {
	const delta = 1e-6
	ask := func(s Random, sigma float64, r profiles.Relation) (lo, hi float64) {
		m := must(sharp(s, target{Delta: delta, Relative: 1e-3}).Apply(gaussian(sigma), r))
		return interval(t, m.Directions[0], 1, delta)
	}
	s := must(NewRandom(50))
	lo, hi := ask(s, 1, profiles.AddRemove)
	if more, _ := ask(must(NewRandom(60)), 1, profiles.AddRemove); more > hi {
		t.Error("more steps cost more")
	}
	if noise, _ := ask(s, 1.2, profiles.AddRemove); noise > hi {
		t.Error("more noise costs more")
	}
	if _, again := ask(must(s.WithEpochs(2)), 1, profiles.AddRemove); again < lo {
		t.Error("two epochs cost less")
	}
	if l, h := ask(must(s.First(50)), 1, profiles.AddRemove); l > hi || h < lo {
		t.Error("all of an epoch is not the epoch")
	}
	if l, _ := ask(must(s.First(20)), 1, profiles.AddRemove); l > hi {
		t.Error("a part costs more than the whole")
	}
	a, b := ask(must(s.WithOneDraw(9)), 3, profiles.AddRemove)
	if a > hi || b < lo {
		t.Errorf("drawn once for 9 epochs at σ = 3: [%v, %v], one at σ = 1: [%v, %v]", a, b, lo, hi)
	}
	if l, h := ask(s, 1, profiles.ZeroOut); l != lo || h != hi {
		t.Error("an empty place is not a record that is not there")
	}
	_, substitute := ask(s, 1, profiles.Substitute)
	shuffled := must(sharpShuffle(must(NewShuffle(50)), target{Delta: delta, Relative: 1e-3}).Apply(gaussian(1), profiles.ZeroOut))
	from, to := interval(t, shuffled.Directions[0], 1, delta)
	if !(lo <= substitute && lo <= from && from <= to) {
		t.Errorf("allocation %v, substitute %v, shuffle [%v, %v]", lo, substitute, from, to)
	}
	if any, _ := profiles.LogDelta(must(profiles.NewGaussian(1)), to); math.Abs(any-math.Log(delta)) > 1e-3 {
		t.Error("the upper end of one shuffled epoch is not one use")
	}
}

// TestOddStepsMixBothPlaces: erratum A2. The attack on three steps stays below the truth of the
// pair on any grid: the special step may be the one that was added alone.
func TestOddStepsMixBothPlaces(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	// A discrete step: outcomes 0..3 under no, the P and the Q hypothesis.
	for range 300 {
		draw := func() []float64 {
			x := make([]float64, 4)
			sum := 0.0
			for i := range x {
				x[i] = math.Exp(2 * rnd.NormFloat64())
				sum += x[i]
			}
			for i := range x {
				x[i] /= sum
			}
			return x
		}
		none, p, q := draw(), draw(), draw()
		values := []float64{rnd.NormFloat64(), rnd.NormFloat64(), rnd.NormFloat64(), rnd.NormFloat64()}
		grid := func() []float64 {
			lo := -3 + rnd.NormFloat64()/3
			return positive.Spaced(lo, lo+3+4*rnd.Float64(), lo+1, 1, 3+rnd.IntN(7))
		}
		steps := []int{3, 5}[rnd.IntN(2)]
		one := positive.NewHypotheses(values, none, p, q, 0, grid())
		two := one.Join(one, grid())
		all := two.Join(one, grid())
		if steps == 5 {
			all = two.Join(two, grid()).Join(one, grid())
		}
		total := 1
		for range steps {
			total *= 4
		}
		for _, eps := range []float64{0, 0.5, 1, 2} {
			a := math.Exp(eps)
			var truth, claimed float64
			for o := range total {
				var pr, qr float64
				for k := range steps {
					x, y := 1.0, 1.0
					for j, c := 0, o; j < steps; j, c = j+1, c/4 {
						if v := c % 4; j == k {
							x, y = x*p[v], y*q[v]
						} else {
							x, y = x*none[v], y*none[v]
						}
					}
					pr, qr = pr+x/float64(steps), qr+y/float64(steps)
				}
				truth += max(0, pr-a*qr)
			}
			for i := range all.X {
				claimed += max(0, all.P[i]-a*all.Q[i])
			}
			if claimed > truth+1e-13 {
				t.Fatalf("%d steps, ε = %v: the attack claims %v, the truth is %v", steps, eps, claimed, truth)
			}
		}
	}
}

// TestFixedOrderRefusesAddRemove: erratum A3.
func TestFixedOrderRefusesAddRemove(t *testing.T) {
	s := must(NewFixed(3))
	if _, err := s.Apply(gaussian(1), profiles.AddRemove); err == nil {
		t.Error("a fixed order has an add-remove bound")
	}
	for r, mu := range map[profiles.Relation]float64{profiles.ZeroOut: math.Sqrt(3), profiles.Substitute: 2 * math.Sqrt(3)} {
		m := must(s.Apply(gaussian(1), r))
		if got := 1 / m.Directions[0].Upper.(profiles.Gaussian).NoiseMultiplier(); math.Abs(got-mu) > 1e-12 || m.Relation != r {
			t.Errorf("%v: μ = %v, want %v", r, got, mu)
		}
	}
}

// TestShuffleRelations: erratum A4. Upper ends are √E, 2√E and √(5E) over σ, and no relation has
// another one's attack: under add-remove it is random allocation's.
func TestShuffleRelations(t *testing.T) {
	s := must(must(NewShuffle(20)).WithEpochs(4))
	allocation := must(must(must(NewRandom(20)).WithEpochs(4)).Apply(gaussian(2), profiles.AddRemove))
	for r, mu := range map[profiles.Relation]float64{profiles.ZeroOut: 1, profiles.Substitute: 2, profiles.AddRemove: math.Sqrt(5)} {
		m := must(s.Apply(gaussian(2), r))
		if got := 1 / m.Directions[0].Upper.(profiles.Gaussian).NoiseMultiplier(); got < mu || got > mu*(1+1e-12) {
			t.Errorf("%v: μ = %v, want %v", r, got, mu)
		}
		if same := profiles.Equal(m.Directions[0].Lower, allocation.Directions[0].Lower); same != (r == profiles.AddRemove) {
			t.Errorf("%v: the attack is that of random allocation: %v", r, same)
		}
	}
}

// TestSubstituteLaws: h(α) = 1 − α + αh(1/α), for both laws.
func TestSubstituteLaws(t *testing.T) {
	m := must(sharp(must(NewRandom(3)), target{Delta: 1e-2, Relative: 1e-3}).Apply(gaussian(1), profiles.Substitute))
	for _, p := range []profiles.Profile{m.Directions[0].Upper, m.Directions[0].Lower} {
		for _, eps := range []float64{0.2, 0.5, 1} {
			a, _ := profiles.LogDelta(p, eps)
			b, _ := profiles.LogDelta(p, -eps)
			if want := -math.Expm1(-eps) + math.Exp(a-eps); math.Abs(math.Exp(b)-want) > 1e-9 {
				t.Errorf("h(e^−%v) = %v, want %v", eps, math.Exp(b), want)
			}
		}
	}
	// The page's value at three steps: avg N(e_i) against avg N(−e_i), by quadrature to 5e-4.
	up, _ := profiles.LogDelta(m.Directions[0].Upper, 0.5)
	low, _ := profiles.LogDelta(m.Directions[0].Lower, 0.5)
	if math.Exp(up) < 0.3038 || math.Exp(low) > 0.3048 {
		t.Errorf("δ(½) in [%v, %v], want 0.3043", math.Exp(low), math.Exp(up))
	}
}

// TestSubstituteTwoSteps: Theorem 2 against a double sum, deep enough that the Q-mass outside of
// the grid counts (erratum A7), and both ways round.
func TestSubstituteTwoSteps(t *testing.T) {
	m := must(sharp(must(NewRandom(2)), target{Delta: 1e-9, Relative: 1e-3}).Apply(gaussian(2), profiles.Substitute))
	const h, s = 1. / 64, 0.5
	var as, bs, ws []float64
	for z := -12.0; z <= 12; z += h {
		as, bs = append(as, math.Exp(s*z-s*s/2)), append(bs, math.Exp(-s*z-s*s/2))
		ws = append(ws, h*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi))
	}
	for _, eps := range []float64{0, 0.5, 1, 2, 3.4} {
		alpha, want := math.Exp(eps), 0.0
		for i := range as {
			row := 0.0
			for j := range as {
				row += ws[j] * max(0, as[i]+as[j]-alpha*(bs[i]+bs[j]))
			}
			want += ws[i] * row / 2
		}
		for d := range m.Directions {
			near(t, "substitute", m.Directions[d], eps, want, 2e-3)
		}
		up, _ := profiles.LogDelta(m.Directions[0].Upper, eps)
		low, _ := profiles.LogDelta(m.Directions[0].Lower, eps)
		if up-low > 0.3 { // half a fold or a whole one between rows away from the target
			t.Errorf("ε = %v: log δ in [%v, %v]", eps, low, up)
		}
	}
}

// TestShuffleBesideOthers composes shuffled batches with a step of little loss. No attack on them reaches
// more than noise whose batches are known, with all losses of the other step on top.
func TestShuffleBesideOthers(t *testing.T) {
	other, err := profiles.NewFinite([]float64{0.501, 0.499}, []float64{0.499, 0.501})
	if err != nil {
		t.Fatal(err)
	}
	const runs = 21
	const massTol = 1e-11 // at most 4,001 cells telescope to 1, each with roundings of a few 2⁻⁵²
	most := runs * math.Log(0.501/0.499)
	for _, c := range []struct {
		batches, epochs int64
		sigma           float64
	}{{2, 1, 0.5}, {3, 1, 0.3}, {3, 2, 0.5}, {13, 2, 0.4084}, {13, 1, 0.02}, {3, 1, 0.015}} {
		s, err := NewShuffle(c.batches)
		if err != nil {
			t.Fatal(err)
		}
		if s, err = s.WithEpochs(c.epochs); err != nil {
			t.Fatal(err)
		}
		s = sharpShuffle(s, target{Delta: 0.5, Relative: 1e-2, Runs: 1})
		for _, r := range []profiles.Relation{profiles.ZeroOut, profiles.Substitute} {
			m, err := s.Apply(gaussian(c.sigma), r)
			if err != nil {
				t.Fatal(err)
			}
			for d := range m.Directions {
				if x, ok := m.Directions[d].Lower.(*profiles.Discrete); ok {
					p, q := 0.0, 0.0
					for _, a := range x.Atoms() {
						p, q = p+math.Exp(a.LogP), q+math.Exp(a.LogQ)
					}
					if math.Abs(p-1) > massTol || math.Abs(q-1) > massTol {
						t.Errorf("%+v, %v, direction %d: the attack has masses of %v and %v", c, r, d, p, q)
					}
				}
				low, up := fourier.New(fourier.Options{}), fourier.New(fourier.Options{})
				if err := errors.Join(low.Add(m.Directions[d].Lower, 1), low.Add(other, runs), up.Add(m.Directions[d].Upper, 1)); err != nil {
					t.Fatal(err)
				}
				for _, eps := range []float64{0.1, 0.5, 0.92209, 2, 5} {
					x, err := low.Delta(t.Context(), eps)
					if err != nil {
						t.Fatal(err)
					}
					y, err := up.Delta(t.Context(), eps-most)
					if err != nil {
						t.Fatal(err)
					}
					// The loss of the other step is at most most.
					if x.Lower > y.Upper {
						t.Errorf("%+v, %v, direction %d, ε = %v: the attack reaches %v, known batches %v", c, r, d, eps, x.Lower, y.Upper)
					}
				}
			}
		}
	}
}
