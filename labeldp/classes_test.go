package labeldp

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	gonumlp "gonum.org/v1/gonum/optimize/convex/lp"
)

// kept is the probability that a label of the prior comes out unchanged.
func kept(r Randomizer, p Prior) float64 {
	sum := 0.0
	for i, y := range p.labels {
		row := r.Row(i)
		for j, out := range r.Outputs() {
			if out == y {
				sum += p.probs[i] * row[j]
			}
		}
	}
	return sum
}

// bestKept is the largest probability to keep a label by any ε-DP randomizer: the linear
// program over all staircase columns of all outputs, by gonum. For a pattern the best
// output is the one with the largest p_y s_y.
func bestKept(t *testing.T, p Prior, eps float64) float64 {
	t.Helper()
	k := len(p.labels)
	e := math.Exp(eps)
	var cost []float64
	var cols [][]float64
	for set := range 1<<k - 1 {
		best := 0.0
		col := make([]float64, k)
		for y := range k {
			col[y] = 1
			if set>>y&1 == 1 {
				col[y] = e
			}
			best = max(best, p.probs[y]*col[y])
		}
		cost, cols = append(cost, -best), append(cols, col)
	}
	a := mat.NewDense(k, len(cols), nil)
	for j, col := range cols {
		a.SetCol(j, col)
	}
	f, _, err := gonumlp.Simplex(cost, a, filled(k, 1), 1e-12, nil)
	if err != nil {
		t.Fatal(err)
	}
	return -f
}

func filled(n int, x float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = x
	}
	return v
}

// TestRRWithPrior: the law is that of the definition, and no ε-DP randomizer keeps labels
// more often (Ghazi et al. 2021, Theorem 3), here by a linear program over all of them.
func TestRRWithPrior(t *testing.T) {
	rng := testSource(31)
	for i := range 60 {
		k := 2 + rng.IntN(4)
		p, eps := randomPrior(rng, k, 0.1), 0.1+3*rng.Float64()
		r := must(RRWithPrior(p, eps, 0))
		near(t, fmt.Sprintf("kept, k = %d, ε = %v", k, eps), kept(r, p), bestKept(t, p, eps), 1e-9)
		top := 1 + i%k
		r = must(RRWithPrior(p, eps, top))
		if len(r.Outputs()) != top {
			t.Fatalf("%d outputs of the top %d", len(r.Outputs()), top)
		}
		isTop := map[float64]bool{}
		for _, out := range r.Outputs() {
			isTop[out] = true
		}
		e := math.Exp(eps)
		for i, y := range p.labels {
			row := r.Row(i)
			for j, out := range r.Outputs() {
				want := 1 / float64(top)
				if isTop[y] && y == out {
					want = e / (e + float64(top) - 1)
				} else if isTop[y] {
					want = 1 / (e + float64(top) - 1)
				}
				near(t, "P", row[j], want, 1e-13)
			}
		}
	}
	// By hand: ε = ln 3, prior (½, ⅓, ⅙): top 1 keeps ½, top 2 keeps ¾·⅚ = ⅝, top 3 keeps ⅗.
	p := must(NewPrior(seq(0, 2), []float64{3, 2, 1}))
	for top, want := range []float64{0.625, 0.5, 0.625, 0.6} {
		near(t, fmt.Sprintf("kept by top %d", top), kept(must(RRWithPrior(p, math.Log(3), top)), p), want, 1e-14)
	}
	near(t, "τ", must(RRWithPrior(p, math.Log(3), 2)).Tau(), 0.25, 1e-14)
	for _, top := range []int{-1, 4} {
		if _, err := RRWithPrior(p, 1, top); err == nil {
			t.Errorf("top %d: no error", top)
		}
	}
	if _, err := RRWithPrior(Prior{}, 1, 0); err == nil {
		t.Error("no prior: no error")
	}
}
