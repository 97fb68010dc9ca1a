package accountant_test

import (
	"context"
	"fmt"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

func ExampleParsePlan() {
	plan, err := accountant.ParsePlan([]byte(`
neighbors: add-remove
steps:
  - name: training
    mechanism: {gaussian: {noise-multiplier: 1.1}}
    sampling: {poisson: {rate: 0.01}}
    count: 1000
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	step := plan.Steps[0]
	fmt.Println(plan.Neighbors, step.Name, step.Mechanism.Name(), step.Sampling.Name(), step.Count)
	// Output: add-remove training gaussian poisson 1000
}

// A mistake is named with its line.
func ExamplePlanError() {
	_, err := accountant.ParsePlan([]byte(`
neighbors: add-remove
steps:
  - mechanism: {gausian: {noise-multiplier: 1.1}}
`))
	fmt.Println(err)
	// Output: line 4: steps[0].mechanism: unknown key "gausian"; did you mean "gaussian"?
}

// More accuracy costs longer transforms, not another answer.
func ExampleWithAccuracy() {
	gaussian, _ := profiles.NewGaussianMechanism(1)
	batches, _ := subsample.NewPoisson(0.01)
	for _, accuracy := range []float64{1e-2, 1e-5} {
		acct := accountant.New(accountant.AddRemove, accountant.WithAccuracy(accuracy))
		if err := acct.Add(context.Background(), accountant.Step{Mechanism: gaussian, Sampling: batches}, 1000); err != nil {
			fmt.Println(err)
			return
		}
		iv, err := acct.Epsilon(context.Background(), 1e-5)
		fmt.Println("as narrow as asked:", iv.Upper-iv.Lower <= accuracy*iv.Upper, err)
	}
	// Output:
	// as narrow as asked: true <nil>
	// as narrow as asked: true <nil>
}

// With too little memory for a lattice the interval is wider than asked, and says so.
func ExampleWithMemory() {
	laplace, _ := profiles.NewLaplaceMechanism(3)
	acct := accountant.New(accountant.AddRemove, accountant.WithAccuracy(1e-8), accountant.WithMemory(100_000), accountant.WithEngine(fourier.Lattice))
	if err := acct.Add(context.Background(), accountant.Step{Mechanism: laplace}, 1000); err != nil {
		fmt.Println(err)
		return
	}
	iv, err := acct.Epsilon(context.Background(), 1e-5)
	fmt.Println(iv.Upper > iv.Lower, len(iv.Warnings), err)
	// Output: true 1 <nil>
}

// A second, independent transform is a check of the first.
func ExampleWithTransform() {
	laplace, _ := profiles.NewLaplaceMechanism(30)
	for _, t := range []fourier.Transform{fourier.Gonum, fourier.GoDSP} {
		acct := accountant.New(accountant.AddRemove, accountant.WithTransform(t))
		if err := acct.Add(context.Background(), accountant.Step{Mechanism: laplace}, 1000); err != nil {
			fmt.Println(err)
			return
		}
		iv, err := acct.Epsilon(context.Background(), 1e-5)
		fmt.Printf("%.3f, %v\n", iv.Estimate, err)
	}
	// Output:
	// 4.615, <nil>
	// 4.615, <nil>
}

func ExampleParseQuantity() {
	q, err := accountant.ParseQuantity("noise-multiplier")
	fmt.Println(q, err)
	_, err = accountant.ParseQuantity("noise")
	fmt.Println(err)
	// Output:
	// noise-multiplier <nil>
	// solve: "noise" is not one of noise-multiplier, count, rate, batch
}
