package accountant_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// logistic is logistic noise of scale 1 about a mean.
type logistic struct{ mean float64 }

func (l logistic) LogProb(x float64) float64 {
	x = math.Abs(x - l.mean)
	return -x - 2*math.Log1p(math.Exp(-x))
}
func (l logistic) CDF(x float64) float64      { return 1 / (1 + math.Exp(l.mean-x)) }
func (l logistic) Survival(x float64) float64 { return 1 / (1 + math.Exp(x-l.mean)) }

// Noise that plans do not know, by its density and distribution function.
func Example_ownMechanism() {
	points := []float64{0, 1} // the modes
	for x := 0.05; x < 40; x += 0.05 {
		points = append(points, -x, 1+x)
		if x < 0.99 {
			points = append(points, x)
		}
	}
	slices.Sort(points)
	table, err := profiles.Tabulate(logistic{1}, logistic{0}, points, 1e-14)
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
	acct := accountant.New(accountant.AddRemove)
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

	// What is stated is checked: here a scale that is not that of the density.
	_, err = profiles.Tabulate(logistic{1}, scaled{}, points, 1e-14)
	fmt.Println(err)
	// Output:
	// 7.622 ≤ ε ≤ 7.629
	// density: points: CDF and LogProb of Q do not agree: between -39.999999999999865 and -39.94999999999987 the mass is 4.39949999785e-21, and the density says that it is in [2.12417712765e-19, 2.23308601788e-19]
}

// scaled has a distribution function of another scale than its density.
type scaled struct{ logistic }

func (s scaled) CDF(x float64) float64      { return s.logistic.CDF(1.1 * x) }
func (s scaled) Survival(x float64) float64 { return s.logistic.Survival(1.1 * x) }

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
