package subsample_test

import (
	"fmt"
	"log"

	"github.com/dpaccountant/accountant/subsample"
)

func ExampleNewWithoutReplacement() {
	s, err := subsample.NewWithoutReplacement(60000, 256)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %.4f%% of the batches hold a given record\n", s.Name(), 100*s.InclusionProbability())
	batch, err := s.Sample(nil, 60000)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(batch), "distinct records")
	// Output:
	// without-replacement: 0.4267% of the batches hold a given record
	// 256 distinct records
}

func ExampleNewWithReplacement() {
	s, err := subsample.NewWithReplacement(1000, 100)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %.1f distinct records in 100 draws\n", s.Name(), s.ExpectedDistinct())
	// Output: with-replacement: 95.2 distinct records in 100 draws
}

// MUST.WO is sampling with replacement in disguise: its subset does not matter.
func ExampleNewMustWO() {
	for _, subset := range []int64{200, 900} {
		s, err := subsample.NewMustWO(1000, subset, 100)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.1f\n", s.ExpectedDistinct())
	}
	// Output:
	// 95.2
	// 95.2
}

func ExampleNewMustWW() {
	s, err := subsample.NewMustWW(1000, 200, 100)
	if err != nil {
		log.Fatal(err)
	}
	law := s.Multiplicity()
	fmt.Printf("%.1f distinct records; E[U] = %.2f\n", s.ExpectedDistinct(), law.Mean())
	// Output: 75.8 distinct records; E[U] = 0.10
}
