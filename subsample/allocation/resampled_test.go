package allocation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// twoResamples returns δ(ε) of one subset with two batches by a sum over a fine grid of both outputs, on the data sets
// where all other records contribute others and the record x or y.
func twoResamples(s subsample.FixedSize, noise, others, x, y, eps float64) float64 {
	first := must(subsample.NewWithReplacement(s.Population(), s.Subset()))
	if s.Name() == "must-ow" {
		first = must(subsample.NewWithoutReplacement(s.Population(), s.Subset()))
	}
	law := first.Multiplicity()
	step, reach := 0.1, float64(s.Batch())+7*noise
	var density [2][][]float64 // of data set, slots, output
	n := int(2*reach/step) + 1
	for i, record := range []float64{x, y} {
		for u := range law.LogP {
			row := make([]float64, n)
			for v := range int(s.Batch()) + 1 {
				w := distuv.Binomial{N: float64(s.Batch()), P: float64(u) / float64(s.Subset())}.Prob(float64(v))
				if u == 0 || int64(u) == s.Subset() {
					w = map[bool]float64{true: 1}[v == u*int(s.Batch())/int(s.Subset())]
				}
				centre := record*float64(v) + others*float64(int(s.Batch())-v)
				for k := range row {
					z := (-reach + float64(k)*step - centre) / noise
					row[k] += w * math.Exp(-z*z/2) / (noise * math.Sqrt(2*math.Pi))
				}
			}
			density[i] = append(density[i], row)
		}
	}
	sum := 0.0
	for i := range n {
		for j := range n {
			var p [2]float64
			for x := range p {
				for u, row := range density[x] {
					p[x] += math.Exp(law.LogP[u]) * row[i] * row[j]
				}
			}
			sum += max(0, p[0]-math.Exp(eps)*p[1]) * step * step
		}
	}
	return sum
}

// Tiny designs, exactly: no data set is above the bound, and the attack is not above the best of them.
func TestResampledExactly(t *testing.T) {
	for _, stages := range []subsample.FixedSize{must(subsample.NewMustOW(3, 2, 2)), must(subsample.NewMustWW(2, 2, 2))} {
		const noise = 1.5
		b := gaussian(noise)
		s := must(NewResampled(stages, 2))
		bounds := map[profiles.Relation]profiles.Bounds{}
		for _, r := range []profiles.Relation{profiles.Substitute, profiles.ZeroOut} {
			bounds[r] = must(s.Apply(b, r))
		}
		for _, c := range []struct {
			r    profiles.Relation
			x, y float64
		}{{profiles.Substitute, 1, -1}, {profiles.ZeroOut, 1, 0}, {profiles.ZeroOut, 0, 1}} {
			at := 0
			if c.x == 0 {
				at = 1
			}
			d := bounds[c.r].Directions
			for _, eps := range []float64{0.1, 1} {
				up, low, best := deltaOf(d[at].Upper, eps), deltaOf(d[at].Lower, eps), 0.0
				for _, others := range []float64{-1, 0, 1} {
					best = max(best, twoResamples(stages, noise, others, c.x, c.y, eps))
				}
				// The sum over the grid is good to 4e-6 of δ, its kinks included.
				if !(low <= best+4e-6 && best <= up+4e-6) {
					t.Errorf("%+v, %v, %v against %v at %v: attack %v, best data set %v, bound %v", stages, c.r, c.x, c.y, eps, low, best, up)
				}
			}
		}
	}
}

// With one batch of each subset the design is MUST, under every relation.
func TestOneResample(t *testing.T) {
	for _, stages := range []subsample.FixedSize{must(subsample.NewMustOW(1000, 100, 50)), must(subsample.NewMustWW(1000, 100, 50))} {
		for _, b := range []profiles.Mechanism{gaussian(5), must(profiles.NewLaplaceMechanism(8))} {
			for _, r := range profiles.Relations() {
				if stages.Name() == "must-ww" && r == profiles.AddRemove {
					continue
				}
				got, want := must(must(NewResampled(stages, 1)).Apply(b, r)), must(stages.Apply(b, r))
				for i := range got.Directions {
					for _, eps := range []float64{0, 0.05, 0.2} {
						up, low := deltaOf(got.Directions[i].Upper, eps), deltaOf(want.Directions[i].Lower, eps)
						// 1e-9 is given away for a δ of 1e-6; under zero-out MUST has a sharper bound.
						if !(up >= low*(1-1e-9)) || r == profiles.Substitute && math.Abs(up-deltaOf(want.Directions[i].Upper, eps)) > 1e-4*up+2e-9 {
							t.Errorf("%s, %s, %v at %v: %v, the scheme has %v to %v", stages.Name(), b.Name(), r, eps, up, low, deltaOf(want.Directions[i].Upper, eps))
						}
					}
				}
			}
		}
	}
}

// The batches of one subset are what a kept subset gives: the law of two of them, by enumeration of the stages.
func TestResampledBatches(t *testing.T) {
	for _, stages := range []subsample.FixedSize{must(subsample.NewMustOW(3, 2, 1)), must(subsample.NewMustWW(3, 2, 1))} {
		want := map[string]float64{}
		for i := range int64(3) {
			for j := range int64(3) {
				p := 1. / 9
				if stages.Name() == "must-ow" {
					if p = 1. / 6; i == j {
						continue
					}
				}
				for _, a := range []int64{i, j} {
					for _, b := range []int64{i, j} {
						want[fmt.Sprint(a, b)] += p / 4
					}
				}
			}
		}
		const runs = 40_000
		got := map[string]float64{}
		n, before := 0, int64(0)
		for batch := range must(must(NewResampled(stages, 2)).Batches(rand.NewPCG(7, 1), 3)) {
			if n++; n%2 == 0 {
				got[fmt.Sprint(before, batch[0].Index)]++
			}
			if before = batch[0].Index; n == 2*runs {
				break
			}
		}
		chi := 0.0
		for k, p := range want {
			chi += math.Pow(got[k]-runs*p, 2) / (runs * p)
		}
		// χ² of 8 degrees of freedom is above 35 once in 3e4 times; the seed is fixed. Independent subsets have 1,600 and more.
		if chi > 35 || len(got) != len(want) {
			t.Errorf("%s: χ² = %v, %v, want %v", stages.Name(), chi, got, want)
		}
	}
}

func TestResampledRefuses(t *testing.T) {
	ow, ww := must(subsample.NewMustOW(100, 20, 10)), must(subsample.NewMustWW(100, 20, 10))
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(NewResampled(must(subsample.NewMustWO(100, 20, 10)), 3)), "must-wo: resamples: is for must-ow and must-ww, whose second stage draws with replacement; nothing is proved about must-wo"},
		{second(NewResampled(ow, 0)), "must-ow: resamples: 0 is not in [1, 1000000]"},
		{second(must(NewResampled(ww, 3)).Laws(gaussian(2), profiles.AddRemove)), "resamples: nothing is proved about batches of a kept subset of must-ww under add-remove; substitute and zero-out are"},
		{second(must(NewResampled(ww, 3)).Laws(must(profiles.NewPure(1)), profiles.Substitute)), `mechanism: "pure" is not in [gaussian, laplace], for which batches of a kept subset are proved`},
		{second(must(NewResampled(ow, 3)).WithBatch(0)), "must-ow: batch: 0 is not in [1, 1000000]"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("got %v, want %s", c.err, c.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func deltaOf(p profiles.Profile, eps float64) float64 {
	l, _ := profiles.LogDelta(p, eps)
	return math.Exp(l)
}
