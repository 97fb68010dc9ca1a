package plan_test

import (
	"context"
	"fmt"

	"github.com/dpaccountant/accountant/plan"
)

func ExampleParse() {
	p, err := plan.Parse(context.Background(), []byte(`
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
	step := p.Steps[0]
	fmt.Println(p.Neighbors, step.Name, step.Mechanism.Name(), step.Sampling.Name(), step.Count)
	// Output: add-remove training gaussian poisson 1000
}

// A mistake is named with its line.
func ExampleError() {
	_, err := plan.Parse(context.Background(), []byte(`
neighbors: add-remove
steps:
  - mechanism: {gausian: {noise-multiplier: 1.1}}
`))
	fmt.Println(err)
	// Output: line 4: steps[0].mechanism: unknown key "gausian"; did you mean "gaussian"?
}
