package labeldp_test

import (
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/labeldp"
	"github.com/dpaccountant/accountant/profiles"
)

func ExampleOptimalUnbiased() {
	prior, err := labeldp.NewPrior([]float64{0, 1, 2}, []float64{0.6, 0.25, 0.15})
	if err != nil {
		panic(err)
	}
	r, cert, err := labeldp.OptimalUnbiased(prior, 1)
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
	laplace, err := labeldp.NewLaplace(prior.Labels(), 0.5)
	if err != nil {
		panic(err)
	}
	optimal, _, err := labeldp.OptimalUnbiased(prior, 0.5)
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
	noisy, _, err := plan.RandomizeColumn(column, labeldp.NewSeededSource(1))
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
	prior, err := labeldp.Uniform([]float64{0, 1, 2, 3, 4})
	if err != nil {
		panic(err)
	}
	_, _, err = labeldp.OptimalUnbiasedGrid(prior, 1, []float64{0, 1, 2, 3, 4})
	fmt.Println(err)
	grid, err := labeldp.FeasibleGrid(prior.Labels(), 1, 65)
	if err != nil {
		panic(err)
	}
	_, cert, err := labeldp.OptimalUnbiasedGrid(prior, 1, grid)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.6f\n", cert.Primal)
	// Output:
	// grid: infeasible: outputs in [0, 4] cannot be unbiased, must reach [-2.327906827477306, 6.327906827477306]
	// 7.935969
}
