package pate

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"
)

// exactGolden is testdata/golden/pate_exact.json.
type exactGolden struct {
	Laws, Laplace []struct {
		Votes        []int64
		Sigma, Gamma float64
		Order        float64
		P            []float64
		Forward      float64
		Reverse      float64
		BestForward  float64 `json:"best-forward"`
		BestReverse  float64 `json:"best-reverse"`
	}
	Best []struct {
		Log10Q                         float64 `json:"log10-q"`
		Sigma, Order, Forward, Reverse float64
	}
	Confident struct {
		Votes                            []int64
		Threshold, Sigma1, Sigma2, Order float64
		Fail                             float64
		P                                []float64
		Up                               struct{ Forward, Reverse float64 } `json:"up"`
		Down                             struct{ Forward, Reverse float64 } `json:"down"`
	}
	Gaussian []struct {
		Queries, Answers               int
		Sigma1, Sigma2, Delta, Epsilon float64
	}
	RunA struct {
		Exact     struct{ Order, Forward, Reverse float64 }
		Best      struct{ Epsilon []float64 }
		Theorem6  float64
		Composed  struct{ Limit, Upper, Lower []float64 }
		Published struct{ Order, Beta, Noise, Confidence, Cost, Smooth, Median float64 }
	}
	Programme struct {
		Votes                    [][]int64
		Sigma                    float64
		Epsilon, Fixed, Adaptive []float64
	}
}

func readExact(t *testing.T) (g exactGolden) {
	t.Helper()
	data, err := os.ReadFile("../testdata/golden/pate_exact.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	if len(g.Laws) == 0 || len(g.Best) == 0 || len(g.Gaussian) == 0 {
		t.Fatal("the golden file is empty")
	}
	return g
}

// Laws and divergences agree with 30 digits, to within what they say their errors are.
func TestLawGolden(t *testing.T) {
	g := readExact(t)
	check := func(w winner, votes []int64, p []float64, order, forward, reverse, least float64) {
		h := newHistogram(votes)
		logs, errs := w.law(nobody, votes)
		for i, want := range p {
			// The golden numbers have 15 digits and more.
			if d := math.Abs(logs[i] - math.Log(want)); d > errs[i]+least || errs[i] > 1e-10 {
				t.Errorf("%v: log probability %v ± %v, want %v", votes, logs[i], errs[i], math.Log(want))
			}
		}
		if order == 0 {
			return
		}
		var f, r, fe, re float64
		for _, x := range pairs(w, h, h.moves(false, false)) {
			if v, e := x.renyi(order); v > f {
				f, fe = v, e
			}
			if v, e := x.reversed().renyi(order); v > r {
				r, re = v, e
			}
		}
		for _, c := range [][3]float64{{f, fe, forward}, {r, re, reverse}} {
			if math.Abs(c[0]-c[2]) > c[1]+least*c[2] || c[1] > 1e-9*c[2] {
				t.Errorf("%v: divergence %v ± %v, want %v", votes, c[0], c[1], c[2])
			}
		}
	}
	for _, c := range g.Laws {
		w, ok := newGaussLaw(newHistogram(c.Votes), c.Sigma)
		if !ok {
			t.Fatalf("%v: no law", c.Votes)
		}
		check(w, c.Votes, c.P, c.Order, c.Forward, c.Reverse, 1e-15)
	}
	for _, c := range g.Laplace {
		w, ok := newLaplaceLaw(newHistogram(c.Votes), c.Gamma)
		if !ok {
			t.Fatalf("%v: no law", c.Votes)
		}
		check(w, c.Votes, c.P, c.Order, c.Forward, c.Reverse, 1e-11) // given to 11 digits
		if c.BestForward > 0 {
			best := lnMax{c.Gamma}.best(math.Log(c.P[1]), c.Order)
			near(t, "best forward", best[0], c.BestForward, 1e-11)
			near(t, "best reverse", best[1], c.BestReverse, 1e-11)
		}
	}
}

// The law's own error is needed: a step four times as wide leaves more than it says.
func TestLawNeedsItsStep(t *testing.T) {
	votes := []int64{6, 5, 4, 0}
	h := newHistogram(votes)
	g, _ := newGaussLaw(h, 1.5)
	fine, _ := g.law(nobody, votes)
	wide := &gaussLaw{h: h, sigma: g.sigma, step: 4 * g.step, column: map[int64]column{}}
	pick := func(x []float64) (out []float64) {
		for i := 0; i < len(x); i += 4 {
			out = append(out, x[i])
		}
		return out
	}
	for v, c := range g.column {
		wide.column[v] = column{pick(c.cdf), pick(c.err), pick(c.density), pick(c.densityErr)}
	}
	wide.sum, wide.sumErr = pick(g.sum), pick(g.sumErr)
	wide.scratch = make([]float64, len(wide.sum))
	coarse, errs := wide.law(nobody, votes)
	worst := 0.0
	for i := range coarse {
		worst = max(worst, math.Abs(coarse[i]-fine[i])/errs[i])
	}
	if worst < 10 {
		t.Errorf("a step four times as wide errs by %v times its error", worst)
	}
}

func TestTwoTailsGolden(t *testing.T) {
	for _, c := range readExact(t).Best {
		x := newTailCost(c.Log10Q*math.Ln10, c.Sigma)
		for d, want := range []float64{c.Forward, c.Reverse} {
			v, slack := x.direction(c.Order, d == 1, 1e-8)
			// Never below; log q is rounded to 1e-16·|log q|.
			if v < want*(1-1e-13*math.Abs(c.Log10Q)-2e-14) || v > want*(1+2e-8) || slack > 2e-8*v {
				t.Errorf("%+v, reverse %v: %v, slack %v", c, d == 1, v, slack)
			}
		}
	}
}

func TestJointGolden(t *testing.T) {
	c := readExact(t).Confident
	a := confident{c.Threshold, c.Sigma1, c.Sigma2}
	v := must(newVotes(c.Votes))
	l := must(Account(context.Background(), v, a, Options{Price: Exact, Orders: []float64{c.Order}}))
	_, _, joint, ok := l.laws(0)
	if !ok || len(joint) != 2 {
		t.Fatalf("%d neighbours", len(joint))
	}
	near(t, "fail", math.Exp(joint[0].p[0]), c.Fail, 1e-13)
	seen := 0
	for _, x := range joint {
		f, r := x.upper(c.Order), x.reversed().upper(c.Order)
		for _, want := range []struct{ Forward, Reverse float64 }{c.Up, c.Down} {
			if math.Abs(f-want.Forward) < 1e-10*f && math.Abs(r-want.Reverse) < 1e-10*r {
				seen++
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d of 2 golden pairs", seen)
	}
}

func TestGaussianGolden(t *testing.T) {
	for _, c := range readExact(t).Gaussian {
		rows := make([][]int64, c.Queries)
		for i := range rows {
			rows[i] = []int64{200, 50}
		}
		var a Aggregator = gnMax{c.Sigma2}
		o := Options{Orders: []float64{4, 8}}
		if c.Sigma1 > 0 {
			a, o.MaxAnswers = confident{200, c.Sigma1, c.Sigma2}, c.Answers
		}
		x := cost(t, must(Account(context.Background(), must(newVotes(rows...)), a, o)), DataIndependent, nil)
		eps, order, err := x.Epsilon(x.Total, Improved, c.Delta)
		if err != nil || order != 0 {
			t.Fatal(order, err)
		}
		near(t, "ε", eps, c.Epsilon, 1e-12)
		renyi, _, _ := Improved.Epsilon(x.Total, c.Delta)
		if eps < c.Epsilon*(1-1e-12) || renyi <= eps {
			t.Errorf("%+v: %v, by Rényi %v", c, eps, renyi)
		}
	}
}
