package positive

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// exact returns E(Σ − k)₊ and E(k − Σ)₊ of t independent copies of d, by enumeration.
func exact(d *Law, t int, k float64) (above, below float64) {
	var walk func(t int, x, m float64)
	walk = func(t int, x, m float64) {
		if t == 0 {
			above += m * max(x-k, 0)
			below += m * max(k-x, 0)
			return
		}
		for i, v := range d.X {
			walk(t-1, x+v, m*d.Mass[i])
		}
	}
	walk(t, 0, 1)
	return above, below
}

// any returns a random law of mean 1 with an atom at 0.
func random(r *rand.Rand) *Law {
	n := 2 + r.IntN(4)
	d := &Law{}
	total, mean := 0.0, 0.0
	for range n {
		d.X = append(d.X, math.Exp(3*r.NormFloat64()/2))
	}
	d.X = append(d.X, 0)
	slices.Sort(d.X)
	for _, x := range d.X {
		m := r.Float64()
		d.Mass = append(d.Mass, m)
		total, mean = total+m, mean+m*x
	}
	for i := range d.X {
		d.X[i] *= total / mean
		d.Mass[i] /= total
	}
	return d
}

// TestAnyGridBounds is the property that needs no good grid: sums on random ones of 2 to 8
// points stay above and below the truth, in both directions.
func TestAnyGridBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 600 {
		d := random(r)
		copies := 2 + r.IntN(5)
		for _, above := range []bool{true, false} {
			l := d
			grid := func() []float64 {
				g := make([]float64, 2+r.IntN(7))
				for i := range g {
					g[i] = float64(copies) * math.Exp(2*r.NormFloat64())
				}
				slices.Sort(g)
				return g
			}
			for i := 1; i < copies; i++ {
				if i == 1 && r.IntN(2) == 0 && copies >= 4 {
					l = combine(add, l, l, grid(), above)
					l = combine(add, l, l, grid(), above)
					i = 3
					continue
				}
				l = combine(add, l, d, grid(), above)
			}
			for _, k := range []float64{0.2, 0.5, 0.9, 1, 1.3, 2, 5} {
				k *= float64(copies)
				a, b := exact(d, copies, k)
				const tol = 1e-13
				x, y := l.Above(k), l.Below(k)
				if above && (x < a*(1-tol) || y < b*(1-tol)-1e-15*k) || !above && (x > a*(1+tol)+1e-15*k || y > b*(1+tol)+1e-15*k) {
					t.Fatalf("above %v, %d copies of %v, k %v: E(S−k)₊ %v against %v, E(k−S)₊ %v against %v", above, copies, d, k, x, a, y, b)
				}
			}
		}
	}
}

// TestProductsBound is the same for products.
func TestProductsBound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		a, b := random(r), random(r)
		grid := make([]float64, 2+r.IntN(7))
		for i := range grid {
			grid[i] = math.Exp(2 * r.NormFloat64())
		}
		slices.Sort(grid)
		up, low := combine(multiply, a, b, grid, true), combine(multiply, a, b, grid, false)
		for _, k := range []float64{0.1, 0.5, 1, 2, 5} {
			var above, below float64
			for i, x := range a.X {
				for j, y := range b.X {
					above += a.Mass[i] * b.Mass[j] * max(x*y-k, 0)
					below += a.Mass[i] * b.Mass[j] * max(k-x*y, 0)
				}
			}
			const tol = 1e-14
			if up.Above(k) < above*(1-tol) || low.Above(k) > above*(1+tol)+tol || up.Below(k) < below*(1-tol)-tol || low.Below(k) > below*(1+tol)+tol {
				t.Fatalf("k %v: [%v, %v] does not hold %v, or [%v, %v] %v", k, low.Above(k), up.Above(k), above, low.Below(k), up.Below(k), below)
			}
		}
	}
}

// TestMassAndMean: an upper law keeps the mass and the mean, and little of it is at infinity.
func TestMassAndMean(t *testing.T) {
	p := &Program{}
	s := p.Sum(p.Source(LogNormal{S: 1}), 1000)
	p.Affine(s, 1e-3, 0, u)
	const delta = 1e-30
	up, low, err := p.Run(context.Background(), Target{Delta: delta, Relative: 1e-2})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*Law{up, low} {
		m, x := 0.0, l.Top
		for i := range l.X {
			m += l.Mass[i]
			x += l.Mass[i] * l.X[i]
		}
		if math.Abs(m-1) > l.MassErr || math.Abs(x-1) > l.MassErr+l.ValueErr || l.MassErr > 1e-7 {
			t.Errorf("mass 1%+g, mean 1%+g, with errors of %g and %g", m-1, x-1, l.MassErr, l.ValueErr)
		}
		if l.Top > 1e-3*delta {
			t.Errorf("mean at infinity %v", l.Top)
		}
	}
}

// TestLostMassShows is sabotage: a law above that leaves out what lies beyond its grid, or a
// law below that spreads, does not pass the property above.
func TestLostMassShows(t *testing.T) {
	d := &Law{X: []float64{0.5, 1.5}, Mass: []float64{0.5, 0.5}}
	grid := []float64{1.2, 2.2}
	up := combine(add, d, d, grid, true)
	if up.Top == 0 {
		t.Fatal("3 lies beyond 2.2, and nothing is at infinity")
	}
	up.Top = 0
	if a, _ := exact(d, 2, 2.5); up.Above(2.5) >= a {
		t.Error("the mean beyond the grid does not count")
	}
	// The spread itself is above, never below.
	low := combine(add, d, d, grid, true)
	if a, _ := exact(d, 2, 2.1); low.Above(2.1) <= a {
		t.Error("a spread is not above")
	}
}

// TestNoNegativeMass: erratum A8. With all values just below the upper end of a cell the rest is
// a difference that rounding makes negative; it is clamped.
func TestNoNegativeMass(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 3000 {
		g := 1 + r.Float64()
		end := g + math.Exp(-8*r.Float64())
		x := &Law{X: []float64{0}, Mass: []float64{1}}
		y := &Law{}
		v := math.Nextafter(end, 0)
		for i := range 6 {
			y.X, y.Mass = append(y.X, v-float64(5-i)*1e-15), append(y.Mass, r.Float64())
		}
		for _, m := range combine(add, x, y, []float64{g, end}, true).Mass {
			if !(m > 0) {
				t.Fatalf("a mass of %v", m)
			}
		}
	}
}

// TestSource: masses and means of the cells of a source, with their errors.
func TestSource(t *testing.T) {
	for _, s := range []float64{0.05, 1, 3} {
		for _, above := range []bool{true, false} {
			var grid []float64
			for z := -9.0; z < 9+s; z += 0.25 {
				grid = append(grid, math.Exp(s*z-s*s/2))
			}
			l := (LogNormal{S: s}).Round(grid, above)
			m, x := 0.0, l.Top
			for i := range l.X {
				m += l.Mass[i]
				x += l.Mass[i] * l.X[i]
			}
			if math.Abs(m-1) > l.MassErr || math.Abs(x-1) > l.MassErr+l.ValueErr {
				t.Errorf("s = %v, above %v: mass %v, mean %v, errors %v and %v", s, above, m, x, l.MassErr, l.ValueErr)
			}
		}
	}
}

// TestCellWithoutWidth: the end of a grid may be the value of an atom but for an ulp of its logarithm. The atom is kept.
func TestCellWithoutWidth(t *testing.T) {
	p, err := profiles.NewLaplace(100)
	if err != nil {
		t.Fatal(err)
	}
	end := math.Exp(0.01)
	for _, grid := range [][]float64{
		{math.Exp(-0.01), 1, end}, {math.Exp(-0.01), 1, math.Nextafter(end, 2)}, {math.Exp(-0.01), 1, math.Nextafter(end, 0), end, math.Nextafter(end, 2)},
		{math.Nextafter(math.Exp(-0.01), 0), math.Exp(-0.01), math.Nextafter(math.Exp(-0.01), 1), 1, end},
	} {
		for _, above := range []bool{true, false} {
			l := FromProfile{Profile: p}.Round(grid, above)
			mass, mean := 0.0, l.Top
			for i, x := range l.X {
				mass, mean = mass+l.Mass[i], mean+l.Mass[i]*x
				if i > 0 && !(x > l.X[i-1]) {
					t.Errorf("values %v do not ascend", l.X)
				}
			}
			if math.Abs(mass-1) > 1e-12 || math.Abs(mean-1) > 1e-12 {
				t.Errorf("%v, above: %v: the mass is %v, the mean %v", grid, above, mass, mean)
			}
		}
	}
}

// TestProductsOfTinyMasses: 1.7e-162 squared is 2.89e-324, and as a float64 4.94e-324. At a value of e^600 a law below must not have
// that much.
func TestProductsOfTinyMasses(t *testing.T) {
	l := &Law{X: []float64{0.5, 1e130}, Mass: []float64{1, 1.7e-162}}
	low := combine(multiply, l, l, []float64{0.25, 1e129, 1e259}, false)
	for i, x := range low.X {
		if x > 1e200 && low.Mass[i] > 0 { // at least 4.94e-324
			t.Errorf("mass %v at %v, want at most 2.89e-324", low.Mass[i], x)
		}
	}
	if up := combine(multiply, l, l, []float64{0.25, 1e129, 1e259}, true); !(up.Above(1e200) >= 1.7e-162*1e130*1.7e-162*1e130*(1-1e-9)) {
		t.Errorf("E(X − 1e200)₊ is at most %v above", up.Above(1e200))
	}
}

// TestInfiniteMeansDoNotVanish: a loss that is infinite with a probability below all float64 has a mean at infinity above, and
// keeps it through sums, products and scales; below it may be left out.
func TestInfiniteMeansDoNotVanish(t *testing.T) {
	d, err := profiles.NewDiscrete([]profiles.Atom{{Loss: 0, LogP: 0, LogQ: 0}}, -921, -921, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, build := range map[string]func(p *Program, a int){
		"source":  func(p *Program, a int) {},
		"affine":  func(p *Program, a int) { p.Affine(a, 0.25, 0.75, u) },
		"sum":     func(p *Program, a int) { p.Affine(p.Sum(a, 5), 0.2, 0, u) },
		"product": func(p *Program, a int) { p.Power(a, 5) },
	} {
		p := &Program{}
		build(p, p.Source(FromProfile{d}))
		up, _, err := p.Run(t.Context(), Target{Delta: 1e-10, Relative: 1e-3})
		if err != nil {
			t.Fatal(err)
		}
		if !(up.Top > 0) || up.Top > 1e-300 {
			t.Errorf("%s: a mean of %v at infinity", name, up.Top)
		}
	}
}

// Below returns E(k − X)₊ of the numbers as they stand.
func (l *Law) Below(k float64) float64 {
	var s xmath.Sum
	for i := 0; i < len(l.X) && l.X[i] < k; i++ {
		s.Add(l.Mass[i] * (k - l.X[i]))
	}
	return s.Value()
}
