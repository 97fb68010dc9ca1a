package adaptive_test

import (
	"math"
	"sync"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
	"github.com/dpaccountant/accountant/subsample/internal/adaptive"
)

// must-gap.md §5.4 and §6, two-point recursion: ε(1e-5) on the pessimistic lattice
// of step 1e-3, and extrapolated; six digits after the point. fixed is pair B
// (composedGolden; must-gap.md §6). 1000 runs and MUST.OW take seconds:
// SLOW=2 runs them.
//
// MUST.OW is not extrapolated there: taken off is what pair B on the same lattice
// (3.706443, 6.259884, 9.408555) is above its exact value. With the loss a few
// steps wide, a lower law of it does not converge as step² either: no more than
// the bracket is checked.
func TestAdaptiveAttackGolden(t *testing.T) {
	wor, wr, ow, _, _ := paperSetting()
	const step, digits = 1e-3, 5e-7
	for _, c := range []struct {
		name                  string
		s                     subsample.FixedSize
		sigma, reach, tilt    float64
		runs                  []int
		lattice, limit, fixed []float64
		deltas                [3]float64 // δ(0.1), δ(0.5), δ(1) of 1000 runs, extrapolated; five digits
	}{
		{"WOR", wor, 4, 2, 5, []int{10, 100, 1000}, []float64{.142779, .406687, 1.333163}, []float64{.142735, .406447, 1.332183}, []float64{.141981, .404725, 1.329675}, [3]float64{.095223, .013761, 3.0665e-4}},
		{"WR", wr, 4, 2, 5, []int{10, 100, 1000}, []float64{.145477, .409744, 1.339058}, []float64{.145436, .409507, 1.338083}, []float64{.144653, .407738, 1.335496}, [3]float64{}},
		// n = 1000, m = 50. One run has no choice: it is pair B.
		{"WOR 2", must(subsample.NewWithoutReplacement(1000, 50)), 5, 3.5, 5, []int{1, 10, 100, 1000}, []float64{.115379, .273163, .820451, 2.783053}, []float64{.115379, .273135, .820314, 2.782489}, []float64{0, .272125, .817784, 2.778765}, [3]float64{}},
		{"OW", ow, 4, 20, 0.8, []int{10, 100, 1000}, []float64{3.707345, 6.266281, 9.436253}, []float64{3.707344, 6.266265, 9.436099}, []float64{3.706442, 6.259868, 9.408401}, [3]float64{}},
	} {
		if c.name == "OW" && !slow.All() {
			continue
		}
		p := must(c.s.Attack(gaussian(c.sigma)))
		coarse := adaptive.Tilted(p, 2*step, c.reach, c.tilt)
		down, up := adaptive.Pessimistic(p, step, c.reach, c.tilt, false), adaptive.Pessimistic(p, step, c.reach, c.tilt, true)
		all, fine := []*adaptive.Attack{coarse, down, up}, coarse
		if c.name != "OW" {
			fine = adaptive.Tilted(p, step, c.reach, c.tilt)
			all = append(all, fine)
		}
		done := 0
		for i, k := range c.runs {
			if k == 1000 && !slow.All() {
				continue
			}
			var wait sync.WaitGroup
			for _, a := range all {
				wait.Go(func() { must(0, a.Run(t.Context(), k-done)) })
			}
			wait.Wait()
			done = k
			a, _ := adaptive.Crossing(coarse, 1e-5)
			l, slope := adaptive.Crossing(fine, 1e-5)
			d, _ := adaptive.Crossing(down, 1e-5)
			u, _ := adaptive.Crossing(up, 1e-5)
			// A lattice's δ is linear in e^ε between its points: log δ is off from linear by
			// step²/8·(slope² + slope) at most, ε by this.
			between := step * step / 8 * (slope + 1)
			if w := c.lattice[i]; d > w+digits+between || u < w-digits-between {
				t.Errorf("%s, %d runs: pessimistic [%.8f, %.8f], want %v", c.name, k, d, u, w)
			}
			if w := c.limit[i]; l > w+digits+between || u < w-digits-between {
				t.Errorf("%s, %d runs: [%.8f, %.8f], want %v", c.name, k, l, u, w)
			}
			// As in checkComposition: what is left of the extrapolation is up to a tenth of
			// what it added, and each of its terms is read between lattice points.
			if x, w := (4*l-a)/3, c.limit[i]; c.name != "OW" && math.Abs(x-w) > digits+(l-a)/30+4*between {
				t.Errorf("%s, %d runs: extrapolated %.8f, want %v", c.name, k, x, w)
			}
			if k == 1000 && c.deltas[0] > 0 {
				for j, at := range []int{100, 500, 1000} {
					w, low, high := c.deltas[j], fine.At(at), up.At(at)
					x := (4*low - coarse.At(at/2)) / 3
					half := 0.5 * math.Pow(10, math.Floor(math.Log10(w))-4)
					if low > w+half || high < w-half || math.Abs(x-w) > half+(low-coarse.At(at/2))/30 {
						t.Errorf("%s: delta no. %d of %d runs is in [%v, %v], about %v, want %v", c.name, j, k, low, high, x, w)
					}
				}
			}
			// What the method returns: rounded down to the lattice, and more than the fixed
			// data set.
			e := fine.Epsilon(1e-5)
			if !(e <= l && e > l-fine.Step()-1e-12 && fine.Delta(e) > 1e-5) {
				t.Errorf("%s, %d runs: attack %v, want just below %v", c.name, k, e, l)
			}
			if !(l > c.fixed[i]) {
				t.Errorf("%s, %d runs: adaptive %v, fixed %v", c.name, k, l, c.fixed[i])
			}
		}
	}
}

func TestAdaptiveAttackOneStep(t *testing.T) {
	_, wr, _, _, base := paperSetting()
	p := must(wr.Attack(base))
	a := adaptive.Tilted(p, 1e-3, 1, 0)
	must(0, a.Run(t.Context(), 1))
	for _, eps := range []float64{0, 0.02, 0.05} {
		// Second order in the step: the lower law of one run.
		if got, want := a.Delta(eps), deltaOf(p, eps); got > want || got < want*0.99-1e-9 {
			t.Errorf("delta(%v) = %v, want just below %v", eps, got, want)
		}
	}
}

// TestAdaptiveAttackMoved: what a profile does not know of its losses is taken off
// the attack's in every step.
func TestAdaptiveAttackMoved(t *testing.T) {
	reached := func(lossErr float64) float64 {
		atoms := []profiles.Atom{{Loss: 0.1, LogP: math.Log(0.5), LogQ: math.Log(0.5) - 0.1}, {Loss: -0.1, LogP: math.Log(0.4), LogQ: math.Log(0.4) + 0.1},
			{Loss: 0, LogP: math.Log(0.05), LogQ: math.Log(0.05)}}
		rest := math.Log(0.95 - 0.5*math.Exp(-0.1) - 0.4*math.Exp(0.1))
		p := must(profiles.NewDiscrete(atoms, math.Log(0.05), rest, 0, lossErr))
		a := adaptive.Tilted(p, 0.01, 2, 0)
		must(0, a.Run(t.Context(), 3))
		return a.Epsilon(0.16)
	}
	if sure, unsure := reached(0), reached(1e-3); !(sure > 0 && unsure <= sure-3e-3) {
		t.Errorf("reached %v with losses known, %v with losses known to 1e-3, after 3 steps", sure, unsure)
	}
	if d := adaptive.Tilted(profiles.Identical(), 0.01, 1, 0).Delta(math.NaN()); d != 0 {
		t.Errorf("δ at no number is at least %v", d)
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func gaussian(sigma float64) profiles.Mechanism { return must(profiles.NewGaussianMechanism(sigma)) }

func deltaOf(p profiles.Profile, eps float64) float64 {
	l, _ := profiles.LogDelta(p, eps)
	return math.Exp(l)
}

func paperSetting() (wor, wr, ow, ww subsample.FixedSize, base profiles.Mechanism) {
	return must(subsample.NewWithoutReplacement(10000, 200)), must(subsample.NewWithReplacement(10000, 200)), must(subsample.NewMustOW(10000, 118, 200)), must(subsample.NewMustWW(10000, 118, 200)), gaussian(4)
}
