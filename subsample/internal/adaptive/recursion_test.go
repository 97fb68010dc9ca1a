package adaptive

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

// smallTheta is of a setting for which the family is not near the limits of anything: one
// of three records, noise multiplier 1.5, so that a substitution moves the mean by 2/1.5.
const smallTheta = 2 / 1.5

func familyOf(t *testing.T) *family {
	t.Helper()
	p, err := newPalette(t.Context(), Single(1./3), smallTheta, -40)
	if err != nil {
		t.Fatal(err)
	}
	f, err := newFamily(t.Context(), p, 2)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func run(t *testing.T, r recursion, g []float64, k int64) {
	t.Helper()
	if err := r.run(t.Context(), g, k); err != nil {
		t.Fatal(err)
	}
}

// TestFamilyCovers draws configurations of the other record in the unit ball and
// looks for a member above each, at every node.
func TestFamilyCovers(t *testing.T) {
	slow.Test(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	theta, rate := smallTheta, 1./3
	f := familyOf(t)
	s := singleStep(theta, rate)
	for n := range 32 {
		// x and x' opposite or anywhere, z anywhere, in the plane of the three.
		point := func() (float64, float64) {
			r, a := math.Sqrt(rnd.Float64()), 2*math.Pi*rnd.Float64()
			if rnd.IntN(2) == 0 {
				r = 1
			}
			return r * math.Cos(a), r * math.Sin(a)
		}
		x1, x2 := point()
		y1, y2 := -x1, -x2
		if n%3 == 0 {
			y1, y2 = point()
		}
		z1, z2 := point()
		if n%4 == 0 { // near the corner
			z1, z2 = y1*0.98+z1*0.02, y2*0.98+z2*0.02
		}
		g := triangle{math.Hypot(x1-z1, x2-z2), math.Hypot(y1-z1, y2-z2), math.Hypot(x1-y1, x2-y2)}
		value := func(g triangle, i int) float64 {
			w := s.shares(f.x[i])[0]
			k := theta / 2
			return rate * triangle{g.s * k, g.t * k, g.r * k}.estimate(w.logA, w.logB)
		}
		var nodes []int
		var ups, downs []float64
		for i := 0; i < len(f.x); i += 5 { // some, to save time
			nodes, ups, downs = append(nodes, i), append(ups, value(g, i)), append(downs, value(triangle{g.t, g.s, g.r}, i))
		}
		found := false
		for _, m := range f.members {
			above := true
			for n, i := range nodes {
				up, down := 0., 0.
				for j, w := range m {
					up, down = up+w*f.laws[j].up[i], down+w*f.laws[j].down[i]
				}
				// The trapezoid rule has an error at the kink of flat triangles.
				if ups[n]*(1-2e-5) > up || downs[n]*(1-2e-5) > down {
					above = false
					break
				}
			}
			if above {
				found = true
				break
			}
		}
		if !found {
			t.Errorf("no member is above s=%v t=%v r=%v", g.s, g.t, g.r)
		}
	}
}

// TestRecursionTwoSteps computes two steps by explicit sums over the laws.
func TestRecursionTwoSteps(t *testing.T) {
	f := familyOf(t)
	var laws []massLaw
	for _, l := range f.laws {
		laws = append(laws, l.masses(f.node, f.x))
	}
	step := func(g func(i int) float64, i int) float64 {
		e := make([]float64, len(laws))
		for l := range e {
			e[l] = laws[l].inf
			for n, p := range laws[l].mass {
				e[l] += p * g(i-laws[l].index[n])
			}
		}
		best := 0.0
		for _, m := range f.members {
			sum := 0.0
			for j, w := range m {
				sum += w * e[j]
			}
			best = max(best, sum)
		}
		return best
	}
	zero := func(i int) float64 { return max(0, -math.Expm1(float64(i)*f.step)) }
	memo := map[int]float64{}
	var one func(i int) float64
	one = func(i int) float64 {
		if i < 0 { // G is symmetric, which members need not be
			x := float64(i) * f.step
			return -math.Expm1(x) + math.Exp(x)*one(-i)
		}
		v, ok := memo[i]
		if !ok {
			v = step(zero, i)
			memo[i] = v
		}
		return v
	}
	for _, c := range []float64{0, 1} {
		r := recursion{step: f.step, c: c, laws: laws, upper: true, join: (&joint{members: f.members, worst: worst}).join}
		g := make([]float64, 3*f.node[len(f.node)-1])
		run(t, r, g, 2)
		for _, i := range []int{0, 1, 7, 20, 40} {
			want := step(one, i)
			// The slack only adds; want itself has errors of u.
			if g[i] < want*(1-1e-14) || g[i] > want*(1+2e-3) {
				t.Errorf("c=%v: G_2 at %d is %v, want %v", c, i, g[i], want)
			}
		}
	}
}

// TestLatticeAtTrainingScale: 14,063 steps with 256 draws from 60,000 records at noise 1.1 need few enough
// points for a recursion of minutes: no more than half the lattice is for the losses of one step,
// most of which are too rare to matter.
func TestLatticeAtTrainingScale(t *testing.T) {
	slow.Test(t)
	pair, err := profiles.NewGaussian(0.55)
	if err != nil {
		t.Fatal(err)
	}
	p, c, err := NewBound(2/1.1, Repeated(copies.WithReplacement(60000, 256), 1, 0), pair, nil).(*bound).prepare(t.Context(), 14063, 16.3, math.Log(1e-5))
	if err != nil {
		t.Fatal(err)
	}
	reach := p.node[len(p.node)-1]
	top, err := latticeTop(16.3, c, p.step, reach, 1<<18)
	if err != nil {
		t.Fatal(err)
	}
	if top+2*reach > 1<<14 || reach > top {
		t.Errorf("%d points of G, %d of one step", top, reach)
	}
}

// TestRecursionTinySteps: a loss of one lattice step, for certain, has
// G_1(1) = 1 − e^−step, which is not to be computed as a difference.
func TestRecursionTinySteps(t *testing.T) {
	for i := range 20 {
		step := math.Pow(2.1, -float64(i)) * 1e-5
		for _, upper := range []bool{true, false} {
			r := recursion{step: step, laws: []massLaw{{index: []int{1}, mass: []float64{1}}}, upper: upper, join: func(v [][]float64, g []float64) { copy(g, v[0]) }}
			g := make([]float64, 3)
			run(t, r, g, 1)
			want := -math.Expm1(-step)
			if upper && !(g[0] >= want && g[0] < want*(1+1e-12)) || !upper && !(g[0] <= want && g[0] > want*(1-1e-12)) {
				t.Errorf("step %v, upper %v: %v, want about %v", step, upper, g[0], want)
			}
		}
	}
}
