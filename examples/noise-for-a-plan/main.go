// Noise-for-a-plan finds the least noise for which a plan keeps its budget. It shows the certified
// interval that proves it, and what other ways of accounting say of the same plan.
//
//	go run ./examples/noise-for-a-plan
package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/plan"
)

//go:embed plan.yaml
var planFile []byte

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	p, err := plan.Parse(ctx, planFile)
	if err != nil {
		return err // names the line, the field and what is allowed
	}
	goal := accountant.Goal{Epsilon: 2, Delta: 1e-6, Solve: accountant.NoiseMultiplier, Step: "histograms"}

	// Without an accuracy the deciding intervals are as narrow as 3e-7, which takes
	// seconds for a plan with sampling. 1e-4 costs a few digits of the noise, and
	// never the guarantee: the upper end is compared with the budget.
	c, err := accountant.Calibrate(ctx, p, goal, accountant.Options{Accuracy: 1e-4})
	if err != nil {
		return err // an infeasible budget says why
	}
	// Less noise is dearer: round it up.
	fmt.Fprintf(w, "noise multiplier of the histograms: %.4f\n", math.Ceil(1e4*c.Value)/1e4)
	fmt.Fprintf(w, "  there  %.5f ≤ ε ≤ %.5f, within the budget: %v\n", c.Meets.Lower, c.Meets.Upper, c.Meets.Upper <= goal.Epsilon)
	fmt.Fprintf(w, "  a millionth less, within the budget: %v\n\n", c.Fails.Upper <= goal.Epsilon)

	// The Fourier accountant is the measure of the others: they prove more ε than
	// there is, or, where the kind is "approximate", prove nothing.
	rows, err := c.Plan.Compare(ctx, goal.Delta, accountant.Options{Accuracy: 1e-4})
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.Kind == accountant.NotApplicable {
			fmt.Fprintf(w, "%-26s        –  %s\n", r.Method, r.Note)
			continue
		}
		fmt.Fprintf(w, "%-26s %8.3f  %v\n", r.Method, r.Epsilon, r.Kind)
	}
	return nil
}
