package adaptive_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
	"github.com/dpaccountant/accountant/subsample/adaptive"
)

// What ten runs lose at least to an adversary who places the other records anew before
// each, when one of three records is drawn.
func ExampleNewAttack() {
	scheme, err := subsample.NewWithoutReplacement(3, 1)
	if err != nil {
		log.Fatal(err)
	}
	gaussian, err := profiles.NewGaussianMechanism(5)
	if err != nil {
		log.Fatal(err)
	}
	pair, err := scheme.Attack(gaussian) // what is attained in one run
	if err != nil {
		log.Fatal(err)
	}
	a, err := adaptive.NewAttack(pair, 1e-3, 4)
	if err != nil {
		log.Fatal(err)
	}
	if err := a.Run(context.Background(), 10); err != nil {
		log.Fatal(err)
	}
	fixed, _ := profiles.LogDelta(pair, 0.5)
	fmt.Printf("delta(0.5): one run %.1e, ten runs at least %.4f\n", math.Exp(fixed), a.Delta(0.5))
	// Output: delta(0.5): one run 2.4e-04, ten runs at least 0.0381
}
