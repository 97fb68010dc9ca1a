package selection_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/selection"
)

// The first of a stream of mechanisms that succeeds nearly always.
func ExampleSparseVector() {
	chances := []float64{0.1, 0.2, 0.99999, 0.3}
	v := selection.SparseVector{Percentile: 0.9, CandidateEpsilon: 0.1, Epsilon: 2}
	i, err := v.Run(context.Background(), rand.NewChaCha8([32]byte{1}), len(chances), func(_ context.Context, i int) (float64, error) { return chances[i], nil })
	fmt.Println(i, err)
	// Output: 2 <nil>
}

// Coming near 2ε without a threshold takes more calls than anybody has.
func ExampleRunTwoStage() {
	try := func(_ context.Context, rng *rand.Rand) (string, float64, error) { return "", rng.Float64(), nil }
	s := selection.TwoStage{Candidates: 10, CandidateEpsilon: 1, Slack: 1, Delta: 1e-6, Beta: 0.1, Resolution: 10}
	_, err := selection.RunTwoStage(context.Background(), nil, s, try)
	fmt.Println(err)
	// Output: max-calls: 1e+08 is below 3.041e+59, the number of calls that the guarantee needs
}

// Scores at or above the threshold win against all that are below.
func ExampleDummyExponential() {
	d := selection.DummyExponential{Threshold: 0.9, Gamma: 0.125, Exponent: math.Inf(1)}
	eps, err := d.Epsilon(0.5)
	fmt.Printf("%.2f %v\n", eps, err)
	// Output: 1.50 <nil>
}
