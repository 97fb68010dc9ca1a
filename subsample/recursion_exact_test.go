package subsample

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
)

// A plane is one step's pair of densities, summed over a grid of outcomes in the
// plane by the midpoint rule: P-mass and ratio Q/P of each cell.
type plane struct{ p, ratio []float64 }

// newPlane is the pair of two mixtures of Gaussians of noise sigma.
func newPlane(sigma, h float64, p, q [][2]float64) plane {
	var l plane
	density := func(centres [][2]float64, y, z float64) float64 {
		sum := 0.0
		for _, c := range centres {
			a, b := (y-c[0])/sigma, (z-c[1])/sigma
			sum += math.Exp(-(a*a + b*b) / 2)
		}
		return sum / float64(len(centres)) * h * h / (2 * math.Pi)
	}
	reach := 5.0 + 2/sigma // what is left out only lowers the value
	for y := -reach; y < reach; y += h {
		for z := -reach; z < reach; z += h {
			if a := density(p, y*sigma, z*sigma); a > 0 {
				l.p, l.ratio = append(l.p, a), append(l.ratio, density(q, y*sigma, z*sigma)/a)
			}
		}
	}
	return l
}

// A tabulated function of log α: G on a grid, which adversaries play by.
type tabulated struct {
	lo, step float64
	g        []float64
}

// at is the value at the next larger grid point, 0 beyond: G decreases.
func (t tabulated) at(x float64) float64 {
	i := math.Ceil((x - t.lo) / t.step)
	switch {
	case i < 0:
		i = 0
	case !(i < float64(len(t.g))):
		return 0
	}
	return t.g[int(i)]
}

// play returns the value of one more step before g, the best of the places.
func (t tabulated) play(places []plane) tabulated {
	out := tabulated{t.lo, t.step, make([]float64, len(t.g))}
	logs := make([][]float64, len(places))
	for c, l := range places {
		for _, r := range l.ratio {
			logs[c] = append(logs[c], math.Log(r))
		}
	}
	for i := range out.g {
		x := t.lo + float64(i)*t.step
		for c, l := range places {
			sum := 0.0
			for j, p := range l.p {
				sum += p * t.at(x+logs[c][j])
			}
			out.g[i] = max(out.g[i], sum)
		}
	}
	return out
}

// first is one step: the hockey-stick divergences of the places.
func first(places []plane, lo, step float64, n int) tabulated {
	out := tabulated{lo, step, make([]float64, n)}
	for _, l := range places {
		order := make([]int, len(l.p))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int {
			if l.ratio[i] < l.ratio[j] {
				return -1
			}
			return 1
		})
		var p, q float64
		j := 0
		for i := n - 1; i >= 0; i-- {
			alpha := math.Exp(lo + float64(i)*step)
			for j < len(order) && l.ratio[order[j]]*alpha < 1 {
				p += l.p[order[j]]
				q += l.p[order[j]] * l.ratio[order[j]]
				j++
			}
			out.g[i] = max(out.g[i], p-alpha*q)
		}
	}
	return out
}

// TestAdaptiveBoundHoldsForProtocols plays two and three steps, with the other
// records of a small data set placed anew in the plane at each step as the
// outputs suggest, by sums over outcomes: the bound must be above.
func TestAdaptiveBoundHoldsForProtocols(t *testing.T) {
	slow.Test(t)
	rnd := rand.New(rand.NewPCG(9, 10))
	point := func() [2]float64 {
		a := 2 * math.Pi * rnd.Float64()
		r := 1.0
		if rnd.IntN(2) == 0 {
			r = math.Sqrt(rnd.Float64())
		}
		return [2]float64{r * math.Cos(a), r * math.Sin(a)}
	}
	add := func(a, b [2]float64) [2]float64 { return [2]float64{a[0] + b[0], a[1] + b[1]} }
	for _, c := range []struct {
		s     FixedSize
		sigma float64
		eps   float64 // about where δ is 1e-3
	}{
		{must(NewWithoutReplacement(3, 1)), 1.5, 2},
		{must(NewWithReplacement(3, 2)), 3, 2},
	} {
		var places, fine []plane // fine for one step, where the bound is nearest
		for n := range 6 {
			x, y, z, w := [2]float64{1}, [2]float64{-1}, point(), point()
			switch n {
			case 0: // the corners
				z, w = y, y
			case 1:
				z, w = x, x
			case 2:
				z, w = [2]float64{0, 1}, [2]float64{0, 1}
			case 3:
				x, y = point(), point()
			case 4:
				w = z
			}
			mixture := func(x [2]float64) (centres [][2]float64) {
				records := [][2]float64{x, z, w}
				for i, a := range records {
					for j, b := range records {
						switch {
						case c.s.Batch() == 1 && j == 0:
							centres = append(centres, a)
						case c.s.Batch() == 2 && (c.s.(fixedSize).kind == withReplacement || i < j):
							centres = append(centres, add(a, b))
						}
					}
				}
				return centres
			}
			p, q := mixture(x), mixture(y)
			places, fine = append(places, newPlane(c.sigma, 0.1, p, q)), append(fine, newPlane(c.sigma, 0.05, p, q))
		}
		a := boundOf(t, c.s, c.sigma)
		const lo, step, n = -4, 0.02, 400
		g := first(fine, lo, step, n)
		for k := int64(1); k <= 3; k++ {
			p, err := a.Upper(t.Context(), k, c.eps, math.Log(1e-3), 1<<16)
			if err != nil {
				t.Fatal(err)
			}
			tightest := math.Inf(1)
			for i := 0; i < n; i += 10 {
				x := lo + float64(i)*step
				if x > 2 || g.g[i] < 1e-6 {
					break
				}
				l, _ := profiles.LogDelta(p, x)
				// Midpoints of cells of h are good to h²/8 of a slope of order 1 at kinks, 1e-3
				// with h = 0.1, less with the 0.05 of one step. With 0.1 there, WR has 0.0178276 at
				// ε = 1 where the closed form of R6 is 0.0177988 and the bound 0.0178071.
				if up := math.Exp(l); up < g.g[i]*(1-1e-3) {
					t.Errorf("%s σ=%v k=%d ε=%v: bound %v, a protocol reaches %v", c.s.Name(), c.sigma, k, x, up, g.g[i])
				}
				if x > 0 && x < c.eps {
					tightest = min(tightest, math.Exp(l)/g.g[i])
				}
			}
			t.Logf("%s σ=%v k=%d: at best %v of a protocol", c.s.Name(), c.sigma, k, tightest)
			if k < 3 {
				g = g.play(places)
			}
		}
	}
}
