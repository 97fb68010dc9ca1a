package subsample

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

// cloud is a finite mixture of normals of unit variance in R³; masses need not be 1.
type cloud struct {
	mass   []float64
	centre [][3]float64
}

func (c cloud) density(x, y, z float64) float64 {
	s := 0.0
	for i, m := range c.mass {
		dx, dy, dz := x-c.centre[i][0], y-c.centre[i][1], z-c.centre[i][2]
		s += m * math.Exp(-(dx*dx+dy*dy+dz*dz)/2)
	}
	return s / math.Pow(2*math.Pi, 1.5)
}

// divergences returns ∫[p − αq]₊ for every α by the trapezoid rule on a grid that
// starts at the fraction shift of a step.
func divergences(p, q cloud, alphas []float64, shift float64) []float64 {
	const step, reach = 0.3, 6.5
	lo, hi := [3]float64{}, [3]float64{}
	for _, c := range []cloud{p, q} {
		for _, v := range c.centre {
			for i, x := range v {
				lo[i], hi[i] = min(lo[i], x-reach), max(hi[i], x+reach)
			}
		}
	}
	out := make([]float64, len(alphas))
	for x := lo[0] + shift*step; x < hi[0]; x += step {
		for y := lo[1] + shift*step; y < hi[1]; y += step {
			for z := lo[2] + shift*step; z < hi[2]; z += step {
				a, b := p.density(x, y, z), q.density(x, y, z)
				for i, alpha := range alphas {
					out[i] += max(0, a-alpha*b)
				}
			}
		}
	}
	for i := range out {
		out[i] *= step * step * step
	}
	return out
}

func dist2(a, b [3]float64) float64 {
	d := 0.0
	for i := range a {
		d += (a[i] - b[i]) * (a[i] - b[i])
	}
	return d
}

// Theorem C of docs/theory/subsampling.md §3 (must-gap.md §1) on random
// configurations: hypothesis (K) by construction, (D) by rejection. The two grids
// of the trapezoid rule tell its error.
func TestTheoremC(t *testing.T) {
	slow.Test(t)
	r := rand.New(rand.NewPCG(11, 12))
	draw := func(n int, size float64) cloud {
		c := cloud{}
		for range n {
			c.mass = append(c.mass, 0.1+r.Float64())
			c.centre = append(c.centre, [3]float64{size * r.NormFloat64(), size * r.NormFloat64(), size * r.NormFloat64()})
		}
		return c
	}
	alphas := []float64{0.3, 0.8, 1, 1.5, 4}
	check := func(what string, p, q, wideP, wideQ cloud) {
		t.Helper()
		near, near2 := divergences(p, q, alphas, 0), divergences(p, q, alphas, 0.5)
		far, far2 := divergences(wideP, wideQ, alphas, 0), divergences(wideP, wideQ, alphas, 0.5)
		for i, a := range alphas {
			// The error of the rule flips its sign, more or less, between the grids.
			slack := 2*(math.Abs(near[i]-near2[i])+math.Abs(far[i]-far2[i])) + 1e-9
			if near[i] > far[i]+slack {
				t.Errorf("%s, alpha %v: %v ± %v above %v for %v | %v against %v | %v", what, a, near[i], slack, far[i], p, q, wideP, wideQ)
			}
			if slack > 0.01 {
				t.Errorf("%s, alpha %v: the rule is off by %v, which tests nothing", what, a, slack)
			}
		}
	}
	for n := range 8 {
		// (K): in the plane first; a third coordinate ≥ 0 for P and ≤ 0 for Q raises
		// the products inside and lowers those across.
		p, q := draw(1+n%3, 0.7), draw(1+n%2, 0.7)
		flat := func(c cloud) {
			for i := range c.centre {
				c.centre[i][2] = 0
			}
		}
		flat(p)
		flat(q)
		wide := func(c cloud, sign float64) cloud {
			w := cloud{c.mass, append([][3]float64(nil), c.centre...)}
			for i := range w.centre {
				w.centre[i][2] = sign * r.Float64()
			}
			return w
		}
		check("(K)", p, q, wide(p, 1), wide(q, -1))
	}
	for found := 0; found < 8; {
		// (D): farther across, nearer inside.
		p, q := draw(2, 0.8), draw(1+found%2, 0.8)
		a, b := draw(2, 0.8), draw(1+found%2, 0.8)
		a.mass, b.mass = p.mass, q.mass
		holds := dist2(p.centre[0], p.centre[1]) >= dist2(a.centre[0], a.centre[1])
		if len(q.mass) == 2 {
			holds = holds && dist2(q.centre[0], q.centre[1]) >= dist2(b.centre[0], b.centre[1])
		}
		for i := range p.centre {
			for j := range q.centre {
				holds = holds && dist2(p.centre[i], q.centre[j]) <= dist2(a.centre[i], b.centre[j])
			}
		}
		if holds {
			check("(D)", p, q, a, b)
			found++
		}
	}
}

// The Kahane tool, Corollary 1: any centres within 2u of e are at most as far
// apart as those on a line.
func TestCorollary1(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 3 {
		const scale = 0.6 // 2/σ
		p := cloud{mass: []float64{0.5, 0.3, 0.2}}
		line := cloud{mass: p.mass}
		for u := 1; u <= 3; u++ {
			v := [3]float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
			n := math.Sqrt(dist2(v, [3]float64{}))
			d := scale * float64(u) * math.Sqrt(r.Float64()) / n
			p.centre = append(p.centre, [3]float64{v[0] * d, v[1] * d, v[2] * d})
			line.centre = append(line.centre, [3]float64{scale * float64(u)})
		}
		q := cloud{[]float64{1}, [][3]float64{{}}}
		alphas := []float64{0.5, 1, 1.3, 2.5}
		got, again := divergences(p, q, alphas, 0), divergences(p, q, alphas, 0.5)
		for i, a := range alphas {
			// J on the line, exactly.
			law := copies.NewLaw([]float64{math.Inf(-1), math.Log(0.5), math.Log(0.3), math.Log(0.2)}, make([]float64, 4), math.Inf(-1), 1, math.Inf(-1))
			bound := deltaOf(copies.NewGaussianAttack(law, scale), math.Log(a))
			if got[i] > bound+2*math.Abs(got[i]-again[i])+1e-9 {
				t.Errorf("alpha %v: %v above %v on the line", a, got[i], bound)
			}
		}
	}
}

// threeCentres is ∫[q N(x) − (α−1)(1−q) N(z) − αq N(x')]₊ for the triangle with
// sides s = |x−z|, t = |x'−z|, r = |x−x'|, by the trapezoid rule in the plane on a
// grid that starts at the fraction shift of a step.
func threeCentres(s, t, r, q, alpha, shift float64) float64 {
	z1 := (s*s + r*r - t*t) / (2 * r)
	z2 := math.Sqrt(max(0, s*s-z1*z1))
	const step, reach = 0.05, 5.5
	sum := 0.0
	n := func(x, y float64) float64 { return math.Exp(-(x*x+y*y)/2) / (2 * math.Pi) }
	for x := shift*step - reach; x < reach; x += step {
		for y := shift*step - reach; y < reach; y += step {
			sum += max(0, q*n(x, y)-(alpha-1)*(1-q)*n(x-z1, y-z2)-alpha*q*n(x-r, y))
		}
	}
	return sum * step * step
}

// Corollary 2 (must-gap.md §1): the integral grows with |x−z| and |x−x'| and falls
// with |z−x'|, on a grid of triangles.
func TestCorollary2(t *testing.T) {
	const q = 0.3
	grid := []float64{0.5, 0.8, 1.1, 1.4}
	for _, alpha := range []float64{1, 1.2, 2} {
		value, slack := map[[3]float64]float64{}, 0.0
		for _, s := range grid {
			for _, u := range grid {
				for _, r := range grid {
					if r <= s+u && s <= r+u && u <= r+s {
						v := threeCentres(s, u, r, q, alpha, 0)
						value[[3]float64{s, u, r}] = v
						slack = max(slack, 2*math.Abs(v-threeCentres(s, u, r, q, alpha, 0.5)))
					}
				}
			}
		}
		if len(value) < 40 {
			t.Fatalf("%d triangles", len(value))
		}
		steps := 0
		for key, v := range value {
			for side, sign := range []float64{1, -1, 1} {
				for _, x := range grid {
					next := key
					next[side] = x
					w, is := value[next]
					if !is || x <= key[side] {
						continue
					}
					steps++
					if sign*(w-v) < -2*slack { // of two values, from the two grids
						t.Errorf("alpha %v: %v at %v, %v at %v", alpha, v, key, w, next)
					}
				}
			}
		}
		if steps < 100 || slack > 1e-4 {
			t.Errorf("%d comparisons, quadrature off by %v", steps, slack)
		}
	}
}
