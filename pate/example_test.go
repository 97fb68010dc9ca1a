package pate_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/pate"
	"github.com/dpaccountant/accountant/pate/ballots"
	"github.com/dpaccountant/accountant/rdp"
)

func ExampleAccount() {
	votes, _ := ballots.SynthS1(250, 10, 640)
	mechanism, _ := pate.NewConfident(200, 150, 40)
	ledger, err := pate.Account(context.Background(), votes, mechanism, pate.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range []pate.Report{pate.Worst, pate.DataIndependent} {
		cost, _ := ledger.Cost(context.Background(), r, nil)
		eps, order, _ := pate.Improved.Epsilon(cost.Total, 1e-5)
		fmt.Printf("%v: ε = %.4f at order %v\n", r, eps, order)
	}
	// Output:
	// worst: ε = 1.4765 at order 12.5
	// independent: ε = 4.2472 at order 6
}

func ExampleAggregator() {
	mechanism, _ := pate.NewConfident(60, 20, 10)
	// A known seed is for examples and tests: it gives no privacy.
	seed := rand.NewPCG(1, 2)
	for _, votes := range [][]int64{{95, 3, 2}, {40, 35, 25}} {
		answer, _ := mechanism.Label(votes, 0, nil, seed)
		fmt.Println(answer.Answered, answer.Class)
	}
	// Output:
	// true 0
	// false -1
}

func ExampleSanitize() {
	votes, _ := ballots.SynthS1(250, 10, 640)
	mechanism, _ := pate.NewGNMax(40)
	ledger, _ := pate.Account(context.Background(), votes, mechanism, pate.Options{})
	// The order, β and σ are fixed before the votes are looked at.
	sensitivity, err := ledger.NewSensitivity(context.Background(), 14, pate.Worst, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	report, _ := pate.Sanitize(1e-5, pate.Improved, rand.NewPCG(1, 2), pate.Round{Sensitivity: sensitivity, Beta: 0.2 / 14, Sigma: 5})
	fmt.Printf("may be published: ε = %.2f\n", report.Epsilon)
	fmt.Printf("private: mean %.4f, standard deviation %.4f\n", report.Private.Fixed, report.Private.StdDev)
	// Output:
	// may be published: ε = 1.86
	// private: mean 2.4348, standard deviation 0.8071
}

func ExampleLedger_NewSensitivity_refused() {
	votes, _ := ballots.SynthS1(250, 10, 640)
	mechanism, _ := pate.NewGNMax(20)
	ledger, _ := pate.Account(context.Background(), votes, mechanism, pate.Options{Orders: []float64{25}})
	_, err := ledger.NewSensitivity(context.Background(), 25, pate.Worst, nil)
	var failed *accountant.FieldError
	fmt.Println(errors.As(err, &failed), failed.Path, failed.Problem[:38])
	// Output: true [order] 25: condition C6 of smooth sensitivity
}

func ExampleNoisyMax() {
	mechanism, _ := pate.NewGNMax(40)
	logQ, _ := mechanism.LogQ([]int64{220, 20, 10})
	dependent, _ := mechanism.DependentRDP(logQ, 8)
	fmt.Printf("%.2g of %.2g\n", dependent, mechanism.RDP(8))
	// Output: 0.00012 of 0.005
}

func ExampleGNSS() {
	exact, _ := pate.GNSS{Order: 14, Beta: 0.0329}.RDP(6.23)
	printed, proved, _ := pate.GNSS{Order: 14, Beta: 0.0329}.PrintedNotABound(6.23)
	fmt.Printf("exact %.4f; as printed %.4f, proved: %v\n", exact, printed, proved)
	// Output: exact 1.6071; as printed 0.5184, proved: false
}

func ExampleLedger_Running() {
	votes, _ := ballots.SynthS1(250, 10, 640)
	mechanism, _ := pate.NewLNMax(0.05)
	ledger, _ := pate.Account(context.Background(), votes, mechanism, pate.Options{})
	costs, _ := ledger.Running(context.Background(), pate.Worst, nil, []int{100, 300, 640})
	for _, c := range costs {
		eps, _, _ := pate.Classic.Epsilon(c.Total, 1e-5)
		fmt.Printf("%v queries: ε = %.3f\n", c.Answered, eps)
	}
	// Output:
	// 100 queries: ε = 0.989
	// 300 queries: ε = 1.519
	// 640 queries: ε = 2.173
}

func ExampleNewConfident() {
	_, err := pate.NewConfident(200, 0, 40)
	fmt.Println(err)
	m, err := pate.NewConfident(200, 150, 40) // threshold, noise of the check and of the answer, in votes
	fmt.Println(m, err)
	// Output:
	// sigma1: 0 is not in [0.0001, 1e+09]
	// confident(threshold=200, sigma1=150, sigma2=40) <nil>
}

func ExampleNewGNMax() {
	m, err := pate.NewGNMax(40)
	fmt.Printf("%v: %.4f at order 8 whatever the votes are, %v\n", m, m.RDP(8), err)
	// Output: gnmax(sigma2=40): 0.0050 at order 8 whatever the votes are, <nil>
}

// The student's guess is told right without an answer when it is sure.
func ExampleNewInteractive() {
	m, err := pate.NewInteractive(60, 0.9, 20, 10, true)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, scores := range [][]float64{{0.95, 0.03, 0.02}, {0.5, 0.3, 0.2}} {
		answer, _ := m.Label([]int64{50, 30, 20}, 100, scores, rand.NewPCG(1, 2))
		fmt.Println(answer.Answered, answer.Class)
	}
	// Output:
	// false 0
	// false -1
}

func ExampleNewLNMax() {
	m, err := pate.NewLNMax(0.05)
	fmt.Printf("%v: %.4f at order 8, %v\n", m, m.RDP(8), err)
	// Output: lnmax(gamma=0.05): 0.0400 at order 8, <nil>
}

func ExampleConversion() {
	cost := rdp.Grid{Orders: []float64{14}, Values: []float64{1.1144}} // MNIST in the paper
	for _, c := range []pate.Conversion{pate.Classic, pate.Improved} {
		eps, _, _ := c.Epsilon(cost, 1e-5)
		fmt.Printf("%.2f\n", eps)
	}
	// Output:
	// 2.00
	// 1.72
}

func ExampleGNSS_OptimalSigma() {
	sigma, err := pate.GNSS{Order: 14, Beta: 0.0329}.OptimalSigma(0.0618)
	printed, _ := pate.GNSS{Order: 14, Beta: 0.0329}.PrintedSigma(0.0618)
	fmt.Printf("%.2f, by the paper's rule %.2f, %v\n", sigma, printed, err)
	// Output: 9.93, by the paper's rule 6.23, <nil>
}

func ExampleGNSS_PrintedNotABound() {
	// Proved where λβ is at most ¼.
	printed, proved, err := pate.GNSS{Order: 14, Beta: 0.01}.PrintedNotABound(6)
	exact, _ := pate.GNSS{Order: 14, Beta: 0.01}.RDP(6)
	fmt.Printf("%.4f, proved: %v, exact %.4f, %v\n", printed, proved, exact, err)
	// Output: 0.4201, proved: true, exact 0.2654, <nil>
}
