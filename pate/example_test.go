package pate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/dpaccountant/accountant/pate"
)

func ExampleAccount() {
	votes, _ := pate.SynthS1(250, 10, 640)
	mechanism, _ := pate.NewConfident(200, 150, 40)
	ledger, err := pate.Account(votes, mechanism, pate.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range []pate.Report{pate.Worst, pate.DataIndependent} {
		cost, _ := ledger.Cost(r, nil)
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
	ledger, _ := pate.Account(votes, pate.GNMax{Sigma: 40}, pate.Options{})
	// The order, β and σ are fixed before the votes are looked at.
	sensitivity, err := ledger.NewSensitivity(14, pate.Worst, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	report, _ := pate.Sanitize(1e-5, pate.Improved, rand.NewPCG(1, 2), pate.Round{Sensitivity: sensitivity, Beta: 0.2 / 14, Sigma: 5})
	fmt.Printf("may be published: ε = %.2f\n", report.Epsilon)
	fmt.Printf("private: mean %.4f, standard deviation %.4f\n", report.Private.Fixed, report.Private.StdDev)
	// Output:
	// may be published: ε = 2.74
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
	ledger, _ := pate.Account(votes, pate.LNMax{Gamma: 0.05}, pate.Options{})
	costs, _ := ledger.Running(pate.Worst, nil, []int{100, 300, 640})
	for _, c := range costs {
		eps, _, _ := pate.Classic.Epsilon(c.Total, 1e-5)
		fmt.Printf("%v queries: ε = %.3f\n", c.Answered, eps)
	}
	// Output:
	// 100 queries: ε = 1.127
	// 300 queries: ε = 2.123
	// 640 queries: ε = 3.705
}
