package pate_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/dpaccountant/accountant/pate"
)

func ExampleAccount() {
	votes, _ := pate.SynthS1(250, 10, 640)
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
	// worst: ε = 2.0857 at order 10.5
	// independent: ε = 4.2472 at order 6
}

func ExampleConfident_Label() {
	mechanism, _ := pate.NewConfident(60, 20, 10)
	// A known seed is for examples and tests: it gives no privacy.
	seed := rand.NewPCG(1, 2)
	for _, votes := range [][]int64{{95, 3, 2}, {40, 35, 25}} {
		answer, _ := mechanism.Label(votes, seed)
		fmt.Println(answer.Answered, answer.Class)
	}
	// Output:
	// true 0
	// false -1
}

func ExampleReadVotes() {
	file := "cat,dog,fish\n8,1,1\n3,4,3\n"
	votes, err := pate.ReadVotes(strings.NewReader(file), pate.Format{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(votes.Queries(), votes.Classes(), votes.Teachers())
	_, err = pate.ReadVotes(strings.NewReader("8,1,1\n3,4,2\n"), pate.Format{})
	fmt.Println(err)
	// Output:
	// 2 3 10
	// votes: row 2: 9 votes are not the 10 of row 1 (give the number of teachers if some abstain)
}

func ExampleSanitize() {
	votes, _ := pate.SynthS1(250, 10, 640)
	ledger, _ := pate.Account(context.Background(), votes, pate.GNMax{Sigma: 40}, pate.Options{})
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

func ExampleThresholdRDP() {
	// 231 of 250 teachers agree; the check asks for 170 with noise of 20.
	dependent, _ := pate.ThresholdRDP(170, 20, 231, 8)
	fmt.Printf("%.3e of %.3e\n", dependent, 8/(2*20.0*20))
	// Output: 6.626e-04 of 1.000e-02
}

func ExampleNewLocalBound() {
	_, err := pate.NewLocalBound(20, 25, 10, 250)
	fmt.Println(strings.Contains(err.Error(), "condition C6"))
	// Output: true
}

func ExampleGNMax_DependentRDP() {
	mechanism, _ := pate.NewGNMax(40)
	logQ, _ := mechanism.LogQ([]int64{220, 20, 10})
	dependent, _ := mechanism.DependentRDP(logQ, 8)
	fmt.Printf("%.2g of %.2g\n", dependent, mechanism.RDP(8))
	// Output: 0.00012 of 0.005
}

func ExampleGNSSRDP() {
	exact, _ := pate.GNSSRDP(14, 0.0329, 6.23)
	printed, proved, _ := pate.GNSSPrintedNotABound(14, 0.0329, 6.23)
	fmt.Printf("exact %.4f; as printed %.4f, proved: %v\n", exact, printed, proved)
	// Output: exact 1.6071; as printed 0.5184, proved: false
}

func ExampleLedger_Running() {
	votes, _ := pate.SynthS1(250, 10, 640)
	ledger, _ := pate.Account(context.Background(), votes, pate.LNMax{Gamma: 0.05}, pate.Options{})
	costs, _ := ledger.Running(context.Background(), pate.Worst, nil, []int{100, 300, 640})
	for _, c := range costs {
		eps, _, _ := pate.Classic.Epsilon(c.Total, 1e-5)
		fmt.Printf("%v queries: ε = %.3f\n", c.Answered, eps)
	}
	// Output:
	// 100 queries: ε = 1.127
	// 300 queries: ε = 2.123
	// 640 queries: ε = 3.705
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
	fmt.Println(m.Reinforces([]float64{0.95, 0.03, 0.02}), m.Reinforces([]float64{0.5, 0.3, 0.2}))
	// Output: true false
}

func ExampleNewLNMax() {
	m, err := pate.NewLNMax(0.05)
	fmt.Printf("%v: %.4f at order 8, %v\n", m, m.RDP(8), err)
	// Output: lnmax(gamma=0.05): 0.0400 at order 8, <nil>
}

func ExampleNewVotes() {
	votes, err := pate.NewVotes([][]int64{{90, 8, 2}, {40, 35, 25}}, 100)
	fmt.Println(votes.Queries(), votes.Classes(), votes.Teachers(), err)
	_, err = pate.NewVotes([][]int64{{90, 8, 4}}, 100)
	fmt.Println(err)
	// Output:
	// 2 3 100 <nil>
	// votes: row 1: 102 votes are not in [0, 100], the number of teachers
}

// The labels of each teacher, counted.
func ExampleFromLabels() {
	votes, err := pate.FromLabels([][]int64{
		{0, 2, 1}, // teacher 0, on three queries
		{0, 2, 2},
		{1, 2, 2},
	}, 3)
	fmt.Println(votes.Row(0), votes.Row(1), votes.Row(2), err)
	// Output: [2 1 0] [0 0 3] [0 1 2] <nil>
}

// Votes that anybody can make again, to try things out.
func ExampleSynthS1() {
	votes, err := pate.SynthS1(250, 10, 640)
	fmt.Println(votes.Row(0), err)
	// Output: [0 0 0 250 0 0 0 0 0 0] <nil>
}

// Which queries were answered: a 0 or 1 for each, or the numbers of the answered.
func ExampleReadAnswered() {
	answered, err := pate.ReadAnswered(strings.NewReader("1\n0\n1\n"), 3)
	fmt.Println(answered, err)
	// Output: [true false true] <nil>
}

func ExampleNewScores() {
	scores, err := pate.NewScores([][]float64{{0.95, 0.03, 0.02}, {0.4, 0.4, 0.2}}, 100)
	fmt.Println(scores != nil, err)
	_, err = pate.NewScores([][]float64{{0.95, 0.03}}, 0)
	fmt.Println(err)
	// Output:
	// true <nil>
	// teachers: 0 is not in [1, 1000000000]
}

func ExampleReadScores() {
	scores, err := pate.ReadScores(strings.NewReader("0.95,0.03,0.02\n0.4,0.4,0.2\n"), 100, false)
	fmt.Println(scores != nil, err)
	// Output: true <nil>
}

func ExampleParseReport() {
	r, err := pate.ParseReport("independent")
	fmt.Println(r, err)
	_, err = pate.ParseReport("exact")
	fmt.Println(err)
	// Output:
	// independent <nil>
	// report: "exact" is not in [expected, realised, worst, independent]
}

func ExampleEpsilonAt() {
	eps, _ := pate.EpsilonAt(14, 1.1144, 1e-5, pate.Classic)
	fmt.Printf("%.2f\n", eps) // MNIST in the paper
	eps, _ = pate.EpsilonAt(14, 1.1144, 1e-5, pate.Improved)
	fmt.Printf("%.2f\n", eps)
	// Output:
	// 2.00
	// 1.72
}

func ExampleDefaultOrders() {
	orders := pate.DefaultOrders()
	fmt.Println(orders[0], orders[len(orders)-1])
	// Output: 1.5 100
}

// Theorem 6 with the orders of Proposition 10, against the bound that holds
// whatever the votes are.
func ExampleTheorem6() {
	const sigma, order = 40.0, 8.0
	m := pate.GNMax{Sigma: sigma}
	logQ, _ := m.LogQ([]int64{220, 20, 10})
	mu2 := sigma * math.Sqrt(-logQ)
	mu1 := mu2 + 1
	cost, err := pate.Theorem6(logQ, mu1, mu1/(sigma*sigma), mu2, mu2/(sigma*sigma), order)
	fmt.Printf("%.2e of %.2e, %v\n", cost, order/(sigma*sigma), err)
	// Output: 1.22e-04 of 5.00e-03, <nil>
}

// Both tails by themselves: one minus the other would be 0 here.
func ExampleThresholdLogs() {
	pass, fail, err := pate.ThresholdLogs(0, 0.5, 20)
	fmt.Printf("%.1f %.1f %v\n", pass, fail, err)
	// Output: -0.0 -804.6 <nil>
}

func ExampleOptimalGNSSSigma() {
	sigma, err := pate.OptimalGNSSSigma(14, 0.0329, 0.0618)
	printed, _ := pate.PrintedGNSSSigma(14, 0.0329, 0.0618)
	fmt.Printf("%.2f, by the paper's rule %.2f, %v\n", sigma, printed, err)
	// Output: 9.93, by the paper's rule 6.23, <nil>
}

func ExampleGNMax_Label() {
	mechanism, _ := pate.NewGNMax(1)
	class, err := mechanism.Label([]int64{1000, 0}, nil)
	fmt.Println(class, err)
	// Output: 0 <nil>
}

func ExampleGNSSPrintedNotABound() {
	// Proved where λβ is at most ¼.
	printed, proved, err := pate.GNSSPrintedNotABound(14, 0.01, 6)
	exact, _ := pate.GNSSRDP(14, 0.01, 6)
	fmt.Printf("%.4f, proved: %v, exact %.4f, %v\n", printed, proved, exact, err)
	// Output: 0.4201, proved: true, exact 0.2654, <nil>
}

func ExamplePrintedGNSSSigma() {
	sigma, err := pate.PrintedGNSSSigma(14, 0.0329, 0.0618) // MNIST in the paper
	fmt.Printf("%.2f %v\n", sigma, err)
	// Output: 6.23 <nil>
}

// Scores that are counted in votes already.
func ExampleNewVoteScores() {
	scores, err := pate.NewVoteScores([][]float64{{95, 3, 2}, {40, 40, 20}}, 100)
	fmt.Println(scores != nil, err)
	// Output: true <nil>
}
