package accountant_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
)

const gaussianPlan = `
neighbors: add-remove
steps:
  - mechanism: {gaussian: {noise-multiplier: 10}}
    count: 25
`

func examplePlan() *accountant.Plan {
	plan, err := plan.Parse(context.Background(), []byte(gaussianPlan))
	if err != nil {
		log.Fatal(err)
	}
	return plan
}

// The best attacker on 25 Gaussian releases: with 1 % of false alarms, it finds
// one record in twenty that it looks for.
func ExampleAccountant_Risk() {
	plan := examplePlan()
	acct := plan.Accountant()
	if err := acct.AddPlan(context.Background(), plan); err != nil {
		log.Fatal(err)
	}
	risk, err := acct.Risk(context.Background(), nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("advantage %.3f\n", risk.Advantage.Upper)
	for _, r := range risk.TruePositive {
		fmt.Printf("true-positive rate at %v false positives: %.4f\n", r.At, r.Estimate)
	}
	fmt.Printf("right about a coin toss: %.3f\n", risk.Bayes[0].Upper)
	// Output:
	// advantage 0.197
	// true-positive rate at 0.001 false positives: 0.0048
	// true-positive rate at 0.01 false positives: 0.0339
	// true-positive rate at 0.1 false positives: 0.2172
	// right about a coin toss: 0.599
}

func ExampleAccountant_TradeOff() {
	acct := accountant.New(profiles.AddRemove)
	if err := acct.AddPlan(context.Background(), examplePlan()); err != nil {
		log.Fatal(err)
	}
	points, err := acct.TradeOff(context.Background(), []float64{0.05})
	if err != nil {
		log.Fatal(err)
	}
	// f(0.05) = Φ(Φ⁻¹(0.95) − μ) with μ = √25/10.
	truth := math.Erfc((0.5-1.6448536269514722)/math.Sqrt2) / 2
	p := points[0]
	fmt.Printf("%.2f: %v\n", truth, p.TypeII.Lower <= truth && truth <= p.TypeII.Upper)
	// Output: 0.87: true
}

func ExampleAccountant_DeltaCurve() {
	acct := accountant.New(profiles.AddRemove)
	if err := acct.AddPlan(context.Background(), examplePlan()); err != nil {
		log.Fatal(err)
	}
	points, err := acct.DeltaCurve(context.Background(), []float64{-1, 0, 1, 2})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range points {
		fmt.Printf("δ(%v) = %.3g\n", p.At, p.Estimate)
	}
	// Output:
	// δ(-1) = 0.635
	// δ(0) = 0.197
	// δ(1) = 0.00683
	// δ(2) = 9.44e-06
}

func ExamplePlan_StepsCurve() {
	points, err := examplePlan().StepsCurve(context.Background(), 1e-5, 5)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range points {
		fmt.Printf("%.0f runs: ε = %.2f\n", p.At, p.Upper)
	}
	// Output:
	// 5 runs: ε = 0.82
	// 10 runs: ε = 1.20
	// 15 runs: ε = 1.50
	// 20 runs: ε = 1.76
	// 25 runs: ε = 1.99
}
