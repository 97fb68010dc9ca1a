package labeldp

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// bucketed is the law of a noisy count rounded to one of cuts (post-processing of the
// Laplace mechanism): the masses between the midpoints.
func bucketed(count float64, cuts []float64, scale float64) []float64 {
	cdf := func(x float64) float64 {
		if x < 0 {
			return math.Exp(x/scale) / 2
		}
		return 1 - math.Exp(-x/scale)/2
	}
	out, last := make([]float64, len(cuts)), 0.0
	for i := range cuts {
		next := 1.0
		if i+1 < len(cuts) {
			next = cdf((cuts[i]+cuts[i+1])/2 - count)
		}
		out[i], last = next-last, next
	}
	return out
}

// TestGroupsByEnumeration: everything that a release of two groups of three labels tells,
// enumerated for two data sets that differ in one label, costs no more than the stages
// that are charged; and more if the noise of the histogram were only half of what it is.
func TestGroupsByEnumeration(t *testing.T) {
	const eps1, eps2 = 1.0, 0.8
	labels := seq(0, 2)
	cuts := []float64{0, 2, 4}
	sizes := [2][]int64{{2, 1, 1}, {1, 2, 1}}
	// The example of group 0 has label 0 in one data set and label 2 in the other; another
	// example of each group has label 1 in both.
	moved := []int64{1, 1, 2}
	released := func(halved float64) func(e float64) float64 {
		scale := 2 / eps1 * halved
		type outcome struct{ p, q float64 }
		var laws []outcome
		for code := range 3 * 3 * 3 * 3 * 3 * 3 {
			p, q := 1.0, 1.0
			noise := make([][]*big.Int, 2)
			rest := code
			for g := range 2 {
				for i := range 3 {
					b := rest % 3
					rest /= 3
					own, other := sizes[g][i], sizes[g][i]
					if g == 0 {
						other = moved[i]
					}
					p *= bucketed(float64(own), cuts, scale)[b]
					q *= bucketed(float64(other), cuts, scale)[b]
					noise[g] = append(noise[g], big.NewInt(int64(cuts[b]-float64(own))<<noiseBits))
				}
			}
			priors := must(groupPriors(labels, [][]int64{sizes[0], sizes[1]}, noise, eps1, 1e-3))
			var rows [2][3][]float64
			for g, prior := range priors {
				r, _ := optimal(t, prior, eps2)
				for i := range rows[g] {
					rows[g][i] = r.Row(i)
				}
			}
			for j := range rows[0][0] {
				for _, own := range rows[0][1] { // the other example of the group
					for _, far := range rows[1][1] {
						laws = append(laws, outcome{p * rows[0][0][j] * own * far, q * rows[0][2][j] * own * far})
					}
				}
			}
		}
		return func(e float64) float64 {
			sum := 0.0
			for _, o := range laws {
				sum += max(o.p-math.Exp(e)*o.q, 0)
			}
			return sum
		}
	}
	hist := pairOf(t, histogram{eps1})
	charged := func(e float64) float64 {
		sum := 0.0
		for _, a := range pairOf(t, worstCase{eps2}).(*profiles.Discrete).Atoms() {
			x, d := e-a.Loss, 0.0
			switch {
			case x < -eps1:
				d = -math.Expm1(x)
			case x < eps1:
				d = twoLaplace(t, hist, eps1/2, x)
			}
			sum += math.Exp(a.LogP) * d
		}
		return sum
	}
	honest, cheap := released(1), released(0.5)
	noticed := false
	for _, e := range []float64{0, 0.2, 0.5, 0.8, 1.2, 1.6, 1.79, 1.81} {
		got, want := honest(e), charged(e)
		if got > want*(1+1e-9)+1e-14 {
			t.Errorf("δ(%v) of the release is %v, above the %v that is charged", e, got, want)
		}
		if e < 0.3 && got < want/2 {
			t.Errorf("δ(%v) of the release is %v, far below the %v that is charged: the test sees too little", e, got, want)
		}
		noticed = noticed || cheap(e) > want*(1+1e-9)+1e-14
	}
	if !noticed {
		t.Error("half of the noise is not noticed")
	}
}

// TestGroupsNeverLoseWithKnownPriors: the least half-loss is concave in the prior.
func TestGroupsNeverLoseWithKnownPriors(t *testing.T) {
	rng := testSource(19)
	for range 40 {
		k, eps := 2+rng.IntN(8), math.Exp(4*rng.Float64()-2)
		a, b := randomPrior(rng, k, 0.2), randomPrior(rng, k, 0)
		b = newPrior(a.labels, b.probs)
		w := rng.Float64()
		mix := make([]float64, k)
		for i := range mix {
			mix[i] = w*a.probs[i] + (1-w)*b.probs[i]
		}
		_, ca := optimal(t, a, eps)
		_, cb := optimal(t, b, eps)
		_, cm := optimal(t, newPrior(a.labels, mix), eps)
		// Certificates: the groups' losses from above, the pooled one from below.
		if lost := w*ca.Primal + (1-w)*cb.Primal; lost > cm.Primal*(1+1e-9) {
			t.Errorf("groups lose %v, one prior %v", lost, cm.Primal)
		}
	}
}

// TestGroups: groups gain where their labels differ, stay unbiased, and small ones use
// the prior of all.
func TestGroups(t *testing.T) {
	rng := testSource(21)
	var column []float64
	var groups []int
	for i := range 60000 {
		g := 0
		if i%3 == 1 {
			g = 1
		}
		if i%1000 == 2 {
			g = 2
		}
		column = append(column, min(math.Floor(rng.ExpFloat64()*2)+[]float64{0, 12, 4}[g], 20))
		groups = append(groups, g)
	}
	pl := Plan{Labels: seq(0, 20), Epsilon: 2, Floor: 1e-3}
	noisy, rs, err := pl.RandomizeColumn(context.Background(), column, groups, rng)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "ε₂", rs[0].Epsilon(), 2-math.Sqrt(63.0/60000), 1e-14)
	one, all, err := pl.RandomizeColumn(context.Background(), column, nil, rng)
	if err != nil {
		t.Fatal(err)
	}
	r := all[0]
	var byGroup, pooled, sum, want, variance float64
	for i, y := range column {
		_, v, _ := rs[groups[i]].Moments(y)
		_, u, _ := r.Moments(y)
		byGroup, pooled, variance = byGroup+v/2, pooled+u/2, variance+v
		sum, want = sum+noisy[i], want+y
	}
	nearAbs(t, "sum of noisy labels", sum, want, 5*math.Sqrt(variance))
	if byGroup > 0.9*pooled {
		t.Errorf("half-loss by groups %v, with one prior %v", byGroup, pooled)
	}
	if len(one) != len(noisy) {
		t.Error("lost rows")
	}

	counts := make([][]int64, 3)
	for g := range counts {
		counts[g] = make([]int64, 21)
	}
	for i, y := range column {
		counts[groups[i]][int(y)]++
	}
	_, certs, priors, stages, err := pl.Design(context.Background(), counts, rng)
	if err != nil {
		t.Fatal(err)
	}
	for g, c := range certs {
		if c.RelGap > 1e-9 {
			t.Errorf("group %d: gap %v", g, c.RelGap)
		}
	}
	if len(stages) != 2 || stages[0].Epsilon+stages[1].Epsilon != 2 || stages[0].Count != 2 {
		t.Errorf("stages %+v", stages)
	}
	// 60 examples among noise of scale 62: nothing of their own is left.
	if p := priors[2].Probs()[0]; p < 0.1 {
		t.Errorf("a small group has %v at 0, as if it had a prior of its own", p)
	}
	// An empty group has the prior of all.
	none := append(slices.Clone(counts), make([]int64, 21))
	if _, _, ps, _, err := pl.Design(context.Background(), none, rng); err != nil || ps[3].Probs()[0] < 0.1 {
		t.Errorf("an empty group: %v, %v", ps, err)
	}
	for what, err := range map[string]error{
		"none": func() error { _, _, _, _, err := pl.Design(context.Background(), nil, rng); return err }(),
		"ragged": func() error {
			_, _, _, _, err := pl.Design(context.Background(), [][]int64{counts[0], {1}}, rng)
			return err
		}(),
		"negative": func() error {
			_, _, _, _, err := pl.Design(context.Background(), [][]int64{counts[0], slices.Repeat([]int64{-1}, 21)}, rng)
			return err
		}(),
		"length": func() error {
			_, _, err := pl.RandomizeColumn(context.Background(), column, groups[1:], rng)
			return err
		}(),
		"group": func() error {
			_, _, err := pl.RandomizeColumn(context.Background(), column[:1], []int{-1}, rng)
			return err
		}(),
		"many": func() error {
			_, _, err := pl.RandomizeColumn(context.Background(), column[:1], []int{1 << 18}, rng)
			return err
		}(),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
