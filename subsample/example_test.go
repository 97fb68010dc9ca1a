package subsample_test

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

func ExampleNewMustOW() {
	s, err := subsample.NewMustOW(10000, 118, 200)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("a record takes part with probability %.5f; %.1f distinct records\n", s.InclusionProbability(), s.ExpectedDistinct())
	law := s.Multiplicity()
	fmt.Printf("three times with probability %.2e\n", math.Exp(law.LogP[3]))
	// Output:
	// a record takes part with probability 0.00965; 96.5 distinct records
	// three times with probability 1.76e-03
}

func ExampleFixedSize_Apply() {
	s, err := subsample.NewWithReplacement(10000, 200)
	if err != nil {
		log.Fatal(err)
	}
	noise, err := profiles.NewGaussianMechanism(4)
	if err != nil {
		log.Fatal(err)
	}
	m, err := s.Apply(noise, profiles.Substitute)
	if err != nil {
		log.Fatal(err)
	}
	upper, _ := profiles.LogDelta(m.Directions[0].Upper, 0.01)
	attack, _ := profiles.LogDelta(m.Directions[0].Lower, 0.01)
	fmt.Printf("one step: delta(0.01) is in [%.8f, %.8f]\n", math.Exp(attack), math.Exp(upper))
	// Output: one step: delta(0.01) is in [0.00141941, 0.00141941]
}

func ExampleFixedSize_Sample() {
	s, err := subsample.NewMustWW(1_000_000_000, 3, 5)
	if err != nil {
		log.Fatal(err)
	}
	batch, err := s.Sample(rand.NewPCG(1, 2), 1_000_000_000)
	if err != nil {
		log.Fatal(err)
	}
	total := int64(0)
	for _, p := range batch {
		total += p.Copies
	}
	fmt.Println(total, "draws")
	// Output: 5 draws
}
