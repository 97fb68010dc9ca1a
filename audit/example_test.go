package audit_test

import (
	"context"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/audit"
)

// Canaries that took part have scores from 40 on, the others from 0; some are mixed up.
func scores() (s audit.Scores) {
	for i := range 100 {
		s.Members = append(s.Members, float64(40+i))
		s.NonMembers = append(s.NonMembers, float64(i))
	}
	return s
}

// down rounds to two decimals, down.
func down(x float64) float64 { return math.Floor(100*x) / 100 }

func ExampleManyRuns() {
	b, err := audit.ManyRuns(context.Background(), scores(), 1e-5, 0.95)
	fmt.Printf("ε ≥ %v, μ ≥ %v, %v\n", down(b.Epsilon), down(b.Mu), err)
	// Output: ε ≥ 2.37, μ ≥ 0.79, <nil>
}

func ExampleOneRun() {
	g, err := audit.OneRun(scores(), 1e-5, 0.95, 0)
	fmt.Printf("%d of %d right: ε ≥ %v, %v\n", g.Correct, g.In+g.Out, down(g.Epsilon(1e-5, 0.95)), err)
	// Output: 50 of 50 right: ε ≥ 2.33, <nil>
}

// A mechanism that is declared to be Gaussian has more ε for the same guesses.
func ExampleOneRunGaussian() {
	_, mu, err := audit.OneRunGaussian(context.Background(), scores(), 0.95, 0)
	fmt.Printf("μ ≥ %v: ε ≥ %v, %v\n", down(mu), down(audit.GaussianEpsilon(mu, 1e-5)), err)
	// Output: μ ≥ 0.89: ε ≥ 3.86, <nil>
}
