package accountant_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// Noise that plans do not know, by the logarithms of its densities on a grid.
func Example_ownMechanism() {
	logistic := func(x float64) float64 { // of scale 1
		x = math.Abs(x)
		return -x - 2*math.Log1p(math.Exp(-x))
	}
	// A second derivative of the logarithm is at most ½, and e^−39 of either law is beyond the grid.
	grid := profiles.Grid{Curvature: 0.5, Err: 1e-13, Outside: 1.2e-17}
	for i := -40 * 256; i <= 41*256; i++ {
		x := float64(i) / 256
		grid.At = append(grid.At, x)
		grid.LogP, grid.LogQ = append(grid.LogP, logistic(x-1)), append(grid.LogQ, logistic(x))
	}
	table, err := grid.Table()
	if err != nil {
		fmt.Println(err)
		return
	}
	noise, err := profiles.NewTable(table)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	acct := accountant.New(profiles.AddRemove)
	if err := acct.Add(ctx, accountant.Step{Mechanism: noise}, 10); err != nil {
		fmt.Println(err)
		return
	}
	iv, err := acct.Epsilon(ctx, 1e-5)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f ≤ ε ≤ %.3f\n", iv.Lower, iv.Upper)

	// What is stated is checked: here a curvature that the density does not have.
	grid.Curvature = 0.2
	_, err = grid.Table()
	fmt.Println(err)
	// Output:
	// 7.613 ≤ ε ≤ 7.635
	// density: log-q[9712]: -2.3018593303797545, between -2.3048858917159496 and -2.298835823018579, has a second derivative of about -0.200145 near the point -2.0625, which is not within curvature 0.2; a point where it may bend belongs into kinks
}

// A table of cells is on both sides of the pair of outcomes that it was made of: alone, composed and on samples, in
// every relation, with masses and ranges off by what is stated.
func TestTableIsOnBothSides(t *testing.T) {
	poisson, err := subsample.NewPoisson(0.2)
	if err != nil {
		t.Fatal(err)
	}
	batch, err := subsample.NewWithoutReplacement(10, 3)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 43))
		const massErr, lossErr = 1e-6, 1e-4
		p, q := make([]float64, 9), make([]float64, 9)
		sp, sq := 0.0, 0.0
		for i := range p {
			p[i], q[i] = 0.05+r.Float64(), 0.05+r.Float64()
			sp, sq = sp+p[i], sq+q[i]
		}
		tab := profiles.Table{MassErr: massErr, LossErr: lossErr}
		for c := 0; c < 9; c += 3 {
			var a, b float64
			low, high := math.Inf(1), math.Inf(-1)
			for i := c; i < c+3; i++ {
				p[i], q[i] = p[i]/sp, q[i]/sq
				a, b = a+p[i], b+q[i]
				l := math.Log(p[i] / q[i])
				low, high = min(low, l), max(high, l)
			}
			tab.LogP = append(tab.LogP, math.Log(a)+massErr*(2*r.Float64()-1))
			tab.LogQ = append(tab.LogQ, math.Log(b)+massErr*(2*r.Float64()-1))
			tab.Low, tab.High = append(tab.Low, low+lossErr), append(tab.High, high-lossErr)
		}
		exact, err := profiles.NewFiniteMechanism(p, q)
		if err != nil {
			t.Fatal(err)
		}
		own, err := profiles.NewTable(tab)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			scheme    subsample.Scheme
			count     int64
			relations []profiles.Relation
		}{
			{nil, 1, profiles.Relations()}, {nil, 4, profiles.Relations()[:1]},
			{poisson, 1, profiles.Relations()}, {poisson, 5, profiles.Relations()[:1]},
			{batch, 1, profiles.Relations()},
		} {
			for _, rel := range c.relations {
				ask := func(m profiles.Mechanism) accountant.Interval {
					a := accountant.New(rel)
					if err := a.Add(t.Context(), accountant.Step{Mechanism: m, Sampling: c.scheme}, c.count); err != nil {
						t.Fatal(err)
					}
					answer, err := a.Delta(t.Context(), 0.4)
					if err != nil {
						t.Fatal(err)
					}
					return answer
				}
				truth, got := ask(exact), ask(own)
				if where := fmt.Sprintf("seed %d, %T, %d runs, %v", seed, c.scheme, c.count, rel); !(got.Lower <= truth.Upper && truth.Lower <= got.Upper) {
					t.Errorf("%s: δ in [%v, %v], outcomes have [%v, %v]", where, got.Lower, got.Upper, truth.Lower, truth.Upper)
				} else if !(got.Upper < 1 && (truth.Upper < 1e-3 || got.Upper < 5*truth.Upper)) {
					t.Errorf("%s: δ in [%v, %v] says nothing of [%v, %v]", where, got.Lower, got.Upper, truth.Lower, truth.Upper)
				}
			}
		}
	}
}
