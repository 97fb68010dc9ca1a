package accountant_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/fourier/godsp"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// More accuracy costs longer transforms, not another answer.
func ExampleOptions_accuracy() {
	gaussian, _ := profiles.NewGaussianMechanism(1)
	batches, _ := subsample.NewPoisson(0.01)
	for _, accuracy := range []float64{1e-2, 1e-5} {
		acct := accountant.New(profiles.AddRemove, accountant.Options{Accuracy: accuracy})
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
func ExampleOptions_memory() {
	laplace, _ := profiles.NewLaplaceMechanism(3)
	acct := accountant.New(profiles.AddRemove, accountant.Options{Accuracy: 1e-8, Memory: 1_000_000, Transform: fourier.Gonum})
	if err := acct.Add(context.Background(), accountant.Step{Mechanism: laplace}, 1000); err != nil {
		fmt.Println(err)
		return
	}
	iv, err := acct.Epsilon(context.Background(), 1e-5)
	fmt.Println(iv.Upper > iv.Lower, len(iv.Warnings), err)
	// Output: true 1 <nil>
}

// A second, independent transform is a check of the first.
func ExampleOptions_transform() {
	laplace, _ := profiles.NewLaplaceMechanism(30)
	for _, t := range []fourier.Transform{fourier.Gonum, godsp.Transform} {
		acct := accountant.New(profiles.AddRemove, accountant.Options{Transform: t})
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

func ExampleCalibrate() {
	p, err := plan.Parse(context.Background(), []byte(`
neighbors: add-remove
steps:
  - mechanism: {laplace: {noise-multiplier: 1}}
    count: 10
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := accountant.Calibrate(context.Background(), p, accountant.Goal{Epsilon: 2, Delta: 1e-6, Solve: accountant.NoiseMultiplier})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f meets the budget: %v\n", c.Value, c.Meets.Upper <= 2)
	fmt.Printf("%.6f less does not: %v\n", c.Value-c.Fails.At, c.Fails.Upper > 2)
	// Output:
	// 4.997 meets the budget: true
	// 0.000005 less does not: true
}

func ExamplePlan_Compare() {
	p, err := plan.Parse(context.Background(), []byte(`
neighbors: add-remove
steps:
  - mechanism: {gaussian: {noise-multiplier: 1}}
    sampling: {poisson: {rate: 0.01}}
    count: 1000
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := p.Compare(context.Background(), 1e-5)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range rows {
		fmt.Printf("%s: %.2f (%v)\n", r.Method, r.Epsilon, r.Kind)
	}
	// Output:
	// basic composition: 839.39 (upper bound)
	// advanced composition: 456.32 (upper bound)
	// RDP, classic conversion: 2.54 (upper bound)
	// RDP, improved conversion: 2.10 (upper bound)
	// zCDP: 651.74 (upper bound)
	// GDP central limit: 1.62 (approximate)
	// Fourier accountant: 1.83 (certified)
}

// Every constructor names the field that is wrong by type, so that a program can show the
// problem under a name of its own.
func ExampleFieldError() {
	_, err := profiles.NewGaussianMechanism(-1)
	var wrong *accountant.FieldError
	if errors.As(err, &wrong) {
		fmt.Println(err)
		fmt.Printf("%q\n", wrong.Path)
		fmt.Println("noise level:", wrong.Problem)
	}
	// Output:
	// gaussian: noise-multiplier: -1 is not in [1e-06, 1e+15]
	// ["gaussian" "noise-multiplier"]
	// noise level: -1 is not in [1e-06, 1e+15]
}
