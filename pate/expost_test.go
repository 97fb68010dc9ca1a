package pate

import (
	"context"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/pate/ballots"
)

// A path is what two Confident queries over two classes release, and its
// probability: for each query nothing, class 1 or class 2.
func paths(c confident, first, second [2]float64, most int) []float64 {
	cdf := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	step := func(n [2]float64, open bool) []float64 {
		if !open {
			return []float64{1, 0, 0}
		}
		pass := cdf((max(n[0], n[1]) - c.threshold) / c.sigma1)
		one := cdf((n[0] - n[1]) / (c.sigma2 * math.Sqrt2))
		return []float64{1 - pass, pass * one, pass * (1 - one)}
	}
	var out []float64
	for i, p := range step(first, true) {
		for _, q := range step(second, i == 0 || most > 1) {
			out = append(out, p*q)
		}
	}
	return out
}

// A limit of answers fixed in advance is a bound on the mechanism that stops
// there, by enumeration of all it can release; and the ex-post ε of a transcript
// is exceeded by its privacy loss with probability at most δ.
func TestMaxAnswersAndExPostByEnumeration(t *testing.T) {
	ctx := context.Background()
	v, err := ballots.NewVotes([][]int64{{5, 3}, {6, 2}}, 8)
	if err != nil {
		t.Fatal(err)
	}
	few := []float64{1.5, 2, 3, 5, 8, 13, 21, 34}
	for _, c := range []confident{{6, 3, 1}, {4, 10, 2}, {9, 1, 0.7}, {5, 2, 6}} {
		for most := 1; most <= 2; most++ {
			l, err := Account(ctx, v, c, Options{MaxAnswers: most, Orders: few})
			if err != nil {
				t.Fatal(err)
			}
			free, err := Account(ctx, v, c, Options{Orders: few})
			if err != nil {
				t.Fatal(err)
			}
			p := paths(c, [2]float64{5, 3}, [2]float64{6, 2}, most)
			for _, d := range [][2][2]float64{{{6, 2}, {7, 1}}, {{4, 4}, {5, 3}}, {{6, 2}, {5, 3}}, {{4, 4}, {7, 1}}} {
				q := paths(c, d[0], d[1], most)
				for _, r := range []Report{Worst, Joint, DataIndependent} {
					limited, err := l.Cost(ctx, r, nil)
					if err != nil {
						t.Fatal(err)
					}
					all, err := free.Cost(ctx, r, nil)
					if err != nil {
						t.Fatal(err)
					}
					if limited.Answered != float64(most) || !limited.Bound() {
						t.Errorf("%v: %v answers, bound %v", r, limited.Answered, limited.Bound())
					}
					for i, order := range limited.Total.Orders {
						if order > 40 {
							break
						}
						sum := 0.0
						for k := range p {
							if p[k] > 0 {
								sum += p[k] * math.Pow(p[k]/q[k], order-1)
							}
						}
						if exact := math.Log(sum) / (order - 1); exact > limited.Total.Values[i]*(1+1e-9) {
							t.Errorf("%v, at most %d answers, %v: divergence %v at order %v, cost %v", c, most, r, exact, order, limited.Total.Values[i])
						}
						if limited.Total.Values[i] > all.Total.Values[i]*(1+1e-12) || most == 1 && r != Joint && limited.Total.Values[i] >= all.Total.Values[i] {
							t.Errorf("%v: a limit of %d does not help at order %v: %v, %v", c, most, order, limited.Total.Values[i], all.Total.Values[i])
						}
					}
				}
				if most == 1 {
					continue
				}
				for _, delta := range []float64{0.3, 0.01, 1e-4} {
					above := 0.0
					for k := range p {
						cost, err := free.Cost(ctx, Realised, []bool{k/3 > 0, k%3 > 0})
						if err != nil {
							t.Fatal(err)
						}
						if !cost.ExPost || cost.Bound() {
							t.Fatal("a transcript's cost passes for a bound")
						}
						eps, _, err := epsilonExPost(cost.Total, delta)
						if err != nil {
							t.Fatal(err)
						}
						if p[k] > 0 && math.Log(p[k]/q[k]) > eps {
							above += p[k]
						}
					}
					if above > delta {
						t.Errorf("%v: the loss is above ε with probability %v, δ = %v", c, above, delta)
					}
				}
			}
		}
	}
	for _, most := range []int{-1, 1} {
		if _, err := Account(ctx, v, gnMax{1}, Options{MaxAnswers: most}); err == nil {
			t.Errorf("GNMax with at most %d answers", most)
		}
	}
	l, err := Account(ctx, v, confident{6, 3, 1}, Options{MaxAnswers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Cost(ctx, Realised, []bool{true, true}); err == nil {
		t.Error("two answers where one was the most")
	}
	if _, err := l.Cost(ctx, DataIndependent, []bool{true, false}); err == nil {
		t.Error("the data-independent cost takes a transcript")
	}
}
