package matrix_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/matrix"
	"github.com/dpaccountant/accountant/profiles"
)

// What 20 epochs of 100 batches cost with the square-root matrix, in any order.
func ExampleNew() {
	strategy, err := matrix.SquareRoot(2000)
	if err != nil {
		log.Fatal(err)
	}
	schema, err := matrix.MinSeparation(100, 20)
	if err != nil {
		log.Fatal(err)
	}
	run, err := matrix.New(matrix.Config{NoiseMultiplier: 60, Steps: 2000, Strategy: strategy, Participation: schema})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	s, err := run.Sensitivity(ctx)
	if err != nil {
		log.Fatal(err)
	}
	acct := accountant.New(profiles.AddRemove)
	if err := acct.Add(ctx, accountant.Step{Mechanism: run}, 1); err != nil {
		log.Fatal(err)
	}
	eps, err := acct.Epsilon(ctx, 1e-5)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("sensitivity %.9f, exact: %v\nε ≤ %.7f\n", s.Upper, s.Exact, eps.Upper)
	// Output:
	// sensitivity 17.190574671, exact: true
	// ε ≤ 1.0759185
}

// A matrix from a file, and its sensitivity to two participations two steps apart.
func ExampleReadCSV() {
	strategy, err := matrix.ReadCSV(strings.NewReader("1\n0.5,1\n0.25,0.5,0.8\n0.1,0.2,0.3,1.2\n"))
	if err != nil {
		log.Fatal(err)
	}
	schema, err := matrix.MinSeparation(2, 2)
	if err != nil {
		log.Fatal(err)
	}
	run, err := matrix.New(matrix.Config{NoiseMultiplier: 1, Steps: 4, Strategy: strategy, Participation: schema})
	if err != nil {
		log.Fatal(err)
	}
	s, err := run.Sensitivity(context.Background())
	fmt.Printf("%.6f ≤ sensitivity ≤ %.6f %v\n", s.Lower, s.Upper, err)
	// Output: 1.791647 ≤ sensitivity ≤ 1.791647 <nil>
}

// A training loop hands each step's sum of clipped gradients to a stream.
func ExampleStream() {
	strategy, err := matrix.BLT([]float64{0.12, 0.25}, []float64{0.98, 0.6})
	if err != nil {
		log.Fatal(err)
	}
	const clip, weights = 1.0, 3
	config := matrix.Config{NoiseMultiplier: 10, Steps: 1000, Strategy: strategy, Participation: matrix.Single()}
	stream, err := matrix.NewStream(config, clip, weights, nil)
	if err != nil {
		log.Fatal(err)
	}
	model := make([]float64, weights)
	for range config.Steps {
		gradients := make([]float64, weights) // the sum of a batch, clipped
		noisy, err := stream.Next(gradients)
		if err != nil {
			log.Fatal(err)
		}
		for i, g := range noisy {
			model[i] -= 0.01 * g
		}
	}
	fmt.Println(len(model), "weights moved:", model[0] != 0)
	// Output: 3 weights moved: true
}
