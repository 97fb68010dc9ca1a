package labeldp_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/labeldp"
	"github.com/dpaccountant/accountant/profiles"
)

func ExampleOptimalUnbiased() {
	prior, err := labeldp.NewPrior([]float64{0, 1, 2}, []float64{0.6, 0.25, 0.15})
	if err != nil {
		panic(err)
	}
	r, cert, err := labeldp.OptimalUnbiased(context.Background(), prior, 1)
	if err != nil {
		panic(err)
	}
	fmt.Printf("half-loss %.6f, certified within 1e-9: %v\n", cert.Primal, cert.RelGap <= 1e-9)
	for i, y := range r.Labels() {
		fmt.Printf("label %v:", y)
		for j, p := range r.Row(i) {
			fmt.Printf("  %.3f → %.3f", p, r.Outputs()[j])
		}
		fmt.Println()
	}
	// Output:
	// half-loss 1.933664, certified within 1e-9: true
	// label 0:  0.375 → -1.365  0.356 → -0.952  0.138 → 2.855  0.131 → 3.489
	// label 1:  0.138 → -1.365  0.356 → -0.952  0.375 → 2.855  0.131 → 3.489
	// label 2:  0.138 → -1.365  0.131 → -0.952  0.375 → 2.855  0.356 → 3.489
}

func ExampleHalfLoss() {
	prior, err := labeldp.NewPrior([]float64{0, 1, 2}, []float64{0.6, 0.25, 0.15})
	if err != nil {
		panic(err)
	}
	laplace, err := labeldp.NewAdditive(prior.Labels(), 0.5, labeldp.Noise{})
	if err != nil {
		panic(err)
	}
	optimal, _, err := labeldp.OptimalUnbiased(context.Background(), prior, 0.5)
	if err != nil {
		panic(err)
	}
	for _, m := range []labeldp.Method{laplace, optimal} {
		loss, err := labeldp.HalfLoss(m, prior)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s %.3f\n", m.Name(), loss)
	}
	// Output:
	// laplace 16.000
	// optimal-unbiased 7.929
}

// One randomized label is a mechanism with three privacy losses.
func ExampleRandomizer_Pair() {
	r, err := labeldp.DebiasedRR([]float64{0, 1, 2, 3}, 1)
	if err != nil {
		panic(err)
	}
	p, err := r.Pair(profiles.Substitute)
	if err != nil {
		panic(err)
	}
	for _, eps := range []float64{0, 0.5, 1} {
		logDelta, _ := profiles.LogDelta(p, eps)
		fmt.Printf("δ(%v) = %.4f\n", eps, math.Exp(logDelta))
	}
	// Output:
	// δ(0) = 0.3005
	// δ(0.5) = 0.1870
	// δ(1) = 0.0000
}

func ExamplePlan_RandomizeColumn() {
	column := make([]float64, 10000)
	for i := range column {
		column[i] = float64(i % 10 / 4) // 0, 1 and 2
	}
	plan := labeldp.Plan{Labels: []float64{0, 1, 2}, Epsilon: 2, Floor: 1e-3}
	noisy, _, err := plan.RandomizeColumn(context.Background(), column, nil, rand.NewChaCha8([32]byte{1}))
	if err != nil {
		panic(err)
	}
	sum := 0.0
	for _, y := range noisy {
		sum += y
	}
	fmt.Println("mean within 0.1 of 0.8:", math.Abs(sum/10000-0.8) < 0.1)
	// Output: mean within 0.1 of 0.8: true
}

func ExampleOptimalUnbiasedGrid() {
	prior, err := labeldp.NewPrior([]float64{0, 1, 2, 3, 4}, nil)
	if err != nil {
		panic(err)
	}
	_, _, err = labeldp.OptimalUnbiasedGrid(context.Background(), prior, 1, []float64{0, 1, 2, 3, 4})
	fmt.Println(err)
	grid, err := labeldp.FeasibleGrid(prior.Labels(), 1, 65)
	if err != nil {
		panic(err)
	}
	_, cert, err := labeldp.OptimalUnbiasedGrid(context.Background(), prior, 1, grid)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.6f\n", cert.Primal)
	// Output:
	// grid: infeasible: outputs in [0, 4] cannot be unbiased, must reach [-2.327906827477306, 6.327906827477306]
	// 7.935969
}

// The half-loss of every method at ε = 1 on one prior.
func ExampleMethods() {
	prior, err := labeldp.NewPrior([]float64{0, 1, 2}, []float64{0.6, 0.25, 0.15})
	if err != nil {
		panic(err)
	}
	methods, _, err := labeldp.Methods(context.Background(), prior, 1)
	if err != nil {
		panic(err)
	}
	for _, m := range methods {
		loss, err := labeldp.HalfLoss(m, prior)
		if err != nil {
			panic(err)
		}
		bias := 0.0
		for _, y := range prior.Labels() {
			b, _, _ := m.Moments(y)
			bias = max(bias, math.Abs(b))
		}
		fmt.Printf("%-25s %.3f, unbiased: %v\n", m.Name(), loss, bias < 1e-9)
	}
	// Output:
	// optimal-unbiased          1.934, unbiased: true
	// debiased-rr               2.253, unbiased: true
	// two-point                 1.966, unbiased: true
	// laplace                   4.000, unbiased: true
	// staircase                 3.836, unbiased: true
	// discrete-laplace          3.918, unbiased: true
	// discrete-staircase        3.858, unbiased: true
	// clipped-laplace           0.487, unbiased: false
	// clipped-discrete-laplace  0.494, unbiased: false
	// randomized-response       0.450, unbiased: false
	// rr-on-bins                0.227, unbiased: false
	// rp-with-prior             0.291, unbiased: false
}

// Unbiased without a prior, and nearly optimal for small ε: two outputs.
func ExampleTwoPoint() {
	r, err := labeldp.TwoPoint([]float64{0, 1, 2}, 0.5)
	fmt.Printf("%.3f %v\n", r.Outputs(), err)
	// Output: [-3.083 5.083] <nil>
}

func ExampleDebiasedRR() {
	r, err := labeldp.DebiasedRR([]float64{0, 1, 2}, 2)
	fmt.Printf("%.3f %v\n", r.Outputs(), err)
	// Output: [-0.470 1.000 2.470] <nil>
}

// Randomized response is biased: it pulls every label to the middle.
func ExampleRandomizedResponse() {
	r, err := labeldp.RandomizedResponse([]float64{0, 1, 2}, 1)
	bias, _, _ := r.Moments(0)
	fmt.Printf("%.3f %v\n", bias, err)
	// Output: 0.636 <nil>
}

func ExampleRROnBins() {
	prior, _ := labeldp.NewPrior([]float64{0, 1, 2}, []float64{0.6, 0.25, 0.15})
	r, err := labeldp.RROnBins(prior, 0.5)
	bias, _, _ := r.Moments(2)
	fmt.Printf("%.3f on label 2, %v\n", bias, err)
	// Output: -1.402 on label 2, <nil>
}

// The least loss with a bias of at most 0.1 on every label.
func ExampleBiasLimited() {
	prior, _ := labeldp.NewPrior([]float64{0, 1, 2}, []float64{0.6, 0.25, 0.15})
	grid, err := labeldp.FeasibleGrid(prior.Labels(), 1, 65)
	if err != nil {
		panic(err)
	}
	_, unbiased, err := labeldp.OptimalUnbiasedGrid(context.Background(), prior, 1, grid)
	if err != nil {
		panic(err)
	}
	_, biased, err := labeldp.BiasLimited(context.Background(), prior, 1, 0.1, grid)
	fmt.Printf("%.4f instead of %.4f, %v\n", biased.Primal, unbiased.Primal, err)
	// Output: 1.5706 instead of 1.9342, <nil>
}

func ExampleFeasibleGrid() {
	grid, err := labeldp.FeasibleGrid([]float64{0, 1, 2}, 1, 5)
	fmt.Printf("%.3f %v\n", grid, err)
	// Output: [-1.746 -0.373 1.000 2.373 3.746] <nil>
}

// Additive noise needs no prior, and has no limit on the outputs.
func ExampleNewAdditive() {
	for _, n := range []labeldp.Noise{{}, {Clipped: true}, {Staircase: true}} {
		m, err := labeldp.NewAdditive([]float64{0, 10}, 1, n)
		bias, mse, _ := m.Moments(3)
		fmt.Printf("%s %.2f %.2f %v\n", m.Name(), bias, mse, err)
	}
	// Whole labels stay whole.
	m, err := labeldp.NewAdditive([]float64{0, 2, 6}, 1, labeldp.Noise{Discrete: true}) // the largest step, 2
	y, _ := m.Sample(2, rand.NewChaCha8([32]byte{1}))
	fmt.Println(math.Mod(y, 2) == 0, err)
	// Output:
	// laplace 0.00 200.00 <nil>
	// clipped-laplace 1.22 19.27 <nil>
	// staircase 0.00 191.81 <nil>
	// true <nil>
}

func ExampleNewPrior() {
	p, err := labeldp.NewPrior([]float64{0, 1, 2}, []float64{3, 1, 0})
	fmt.Println(p.Probs(), err)
	p, err = labeldp.NewPrior([]float64{0, 5, 1, 2}, nil) // uniform
	fmt.Println(p.Labels(), p.Probs(), err)
	// Output:
	// [0.75 0.25 0] <nil>
	// [0 1 2 5] [0.25 0.25 0.25 0.25] <nil>
}

// Part of ε buys the prior, the rest randomizes the labels.
func ExampleSplitBudget() {
	eps1, eps2, err := labeldp.SplitBudget(1, 52, 1_000_000)
	fmt.Printf("%.4f %.4f %v\n", eps1, eps2, err)
	_, _, err = labeldp.SplitBudget(0.1, 52, 1000)
	fmt.Println(err != nil)
	// Output:
	// 0.0072 0.9928 <nil>
	// true
}

func ExampleEstimatePrior() {
	p, err := labeldp.EstimatePrior([]float64{0, 1, 2}, []int64{6000, 2500, 1500}, 0.1, 0.001, rand.NewChaCha8([32]byte{1}))
	fmt.Printf("%.2f %v\n", p.Probs(), err)
	// Output: [0.60 0.25 0.15] <nil>
}

// Many labels are rounded to a few first, without bias.
func ExampleNewRounder() {
	few := []float64{0, 10, 20}
	all, _ := labeldp.NewPrior([]float64{0, 3, 7, 12, 20}, nil)
	prior, err := all.Rounded(few)
	if err != nil {
		panic(err)
	}
	r, _, err := labeldp.OptimalUnbiased(context.Background(), prior, 1)
	if err != nil {
		panic(err)
	}
	m := labeldp.NewRounder(r)
	bias, _, err := m.Moments(7)
	fmt.Printf("%.2f, unbiased: %v, %v\n", prior.Probs(), math.Abs(bias) < 1e-9, err)
	// Output: [0.40 0.36 0.24], unbiased: true, <nil>
}

// Without a source the randomness is the operating system's; a seed is for tests, as
// whoever knows it can undo the noise.
func ExampleRandomizer_Sample() {
	r, _ := labeldp.TwoPoint([]float64{0, 1}, 1)
	_, err := r.Sample(1, nil)
	fmt.Println(err)
	_, err = r.Sample(2, rand.NewPCG(1, 2))
	fmt.Println(err)
	// Output:
	// <nil>
	// label: 2 is not one of the 2 labels in [0, 1]
}

// Morning and evening flights have different delays: each gets a prior of its own, for the
// budget of one.
func ExamplePlan_RandomizeColumn_groups() {
	var delays []float64
	var evening []int
	for i := range 40000 {
		delays, evening = append(delays, float64(i%5+8*(i%2))), append(evening, i%2)
	}
	plan := labeldp.Plan{Labels: []float64{0, 1, 2, 3, 4, 8, 9, 10, 11, 12}, Epsilon: 3, Floor: 1e-3}
	noisy, designs, err := plan.RandomizeColumn(context.Background(), delays, evening, rand.NewPCG(1, 2))
	fmt.Println(len(noisy), len(designs), err)
	fmt.Printf("each label: epsilon %.4f for its group's prior, %.4f for itself\n", 3-designs[0].Epsilon(), designs[0].Epsilon())
	// Output:
	// 40000 2 <nil>
	// each label: epsilon 0.0224 for its group's prior, 2.9776 for itself
}

// Four classes, the first two likely: the others are never an output.
func ExampleRRWithPrior() {
	prior, _ := labeldp.NewPrior([]float64{0, 1, 2, 3}, []float64{50, 40, 6, 4})
	r, err := labeldp.RRWithPrior(prior, 1, 0)
	for i, class := range prior.Labels() {
		fmt.Printf("%v %.4f\n", class, r.Row(i))
	}
	fmt.Println(r.Outputs(), err)
	// Output:
	// 0 [0.7311 0.2689]
	// 1 [0.2689 0.7311]
	// 2 [0.5000 0.5000]
	// 3 [0.5000 0.5000]
	// [0 1] <nil>
}

// It accepts labels that are not in the prior's support, and pulls them inwards.
func ExampleRPWithPrior() {
	prior, _ := labeldp.NewPrior([]float64{0, 10, 20, 30, 100}, []float64{20, 40, 30, 9, 1})
	m, err := labeldp.RPWithPrior(prior, 2, 5)
	for _, y := range []float64{12.5, 90} {
		bias, mse, _ := m.Moments(y)
		fmt.Printf("%v: bias %.2f, MSE %.1f\n", y, bias, mse)
	}
	fmt.Println(err)
	// Output:
	// 12.5: bias -0.80, MSE 31.6
	// 90: bias -73.20, MSE 5408.9
	// <nil>
}
