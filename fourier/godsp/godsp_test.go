package godsp_test

import (
	"context"
	"fmt"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/fourier/godsp"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// Two transforms of two libraries answer for the same lattices.
func Example() {
	sampling, _ := subsample.NewPoisson(0.01)
	noise, _ := profiles.NewGaussianMechanism(1)
	step, _ := sampling.Apply(noise, profiles.AddRemove)
	var r [2]fourier.Result
	for i, t := range []fourier.Transform{fourier.Gonum, godsp.Transform} {
		sum := fourier.New(fourier.Options{Transform: t, Laws: true})
		_ = sum.Add(step.Directions[0].Upper, 1000)
		r[i], _ = sum.Epsilon(context.Background(), 1e-5)
		fmt.Println(t.Name(), r[i].Upper-r[i].Lower < 1e-3*r[i].Upper)
	}
	fmt.Println(r[0].Lower <= r[1].Upper && r[1].Lower <= r[0].Upper)
	// Output:
	// gonum true
	// go-dsp true
	// true
}
