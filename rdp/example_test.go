package rdp_test

import (
	"errors"
	"fmt"

	"github.com/dpaccountant/accountant/choice"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
	"github.com/dpaccountant/accountant/subsample"
)

func ExampleEpsilon() {
	noise, err := rdp.Gaussian(1) // the noise multiplier
	if err != nil {
		panic(err)
	}
	step, err := rdp.Poisson(noise, 0.01) // the sampling rate
	if err != nil {
		panic(err)
	}
	eps, order, err := rdp.Epsilon(rdp.Repeat(step, 1000), 1e-5)
	fmt.Printf("ε = %.4f at order %.2f, %v\n", eps, order, err)
	// Output: ε = 2.1013 at order 7.78, <nil>
}

func ExampleDelta() {
	noise, _ := rdp.Gaussian(10)
	delta, _, err := rdp.Delta(rdp.Repeat(noise, 50), 4)
	fmt.Printf("δ = %.2e, %v\n", delta, err)
	// Output: δ = 3.54e-08, <nil>
}

func ExampleCompose() {
	noise, _ := rdp.Gaussian(4)
	mechanism, _ := choice.NewExponential(0.1)
	pick, _ := rdp.Of(mechanism, nil, profiles.AddRemove)
	eps, _, err := rdp.Epsilon(rdp.Compose(rdp.Repeat(noise, 3), pick), 1e-6)
	fmt.Printf("ε = %.4f, %v\n", eps, err)
	// Output: ε = 2.0827, <nil>
}

func ExampleOf() {
	mechanism, _ := profiles.NewLaplaceMechanism(2)
	sampling, _ := subsample.NewPoisson(0.1)
	c, err := rdp.Of(mechanism, sampling, profiles.AddRemove)
	fmt.Printf("D_8 = %.6f, %v\n", c.RDP(8), err)
	// Output: D_8 = 0.009086, <nil>
}

// Steps whose parameters depend on earlier outputs need a filter.
func ExampleFilter() {
	filter, err := rdp.NewFilterFor(2, 1e-6, 8, 12, 16, 24)
	if err != nil {
		panic(err)
	}
	steps := 0
	for sigma := 40.0; ; sigma *= 0.9 { // in earnest: chosen from what was seen
		step, _ := rdp.Gaussian(sigma)
		if err := filter.Spend(step); errors.Is(err, rdp.ErrBudget) {
			break
		}
		steps++ // run the step here, and only here
	}
	fmt.Println(steps, "steps")
	// Output: 19 steps
}

func ExampleGrid() {
	// A curve known at some orders only, as an accountant of another kind gives.
	g := rdp.Grid{Orders: []float64{2, 4, 8}, Values: []float64{0.1, 0.21, 0.45}}
	eps, order, err := rdp.Epsilon(g, 1e-3)
	if err != nil {
		panic(err)
	}
	fmt.Printf("ε = %.4f at order %v; D_3 ≤ %.4f\n", eps, order, g.RDP(3))
	// Output: ε = 1.0062 at order 8; D_3 ≤ 0.1825
}

func ExampleWithoutReplacement() {
	// Substituting a record moves the mean by 1/1.1 standard deviations.
	noise, _ := rdp.Gaussian(1.1)
	step, _ := rdp.WithoutReplacement(noise, 60000, 256)
	eps, _, err := rdp.Epsilon(rdp.Repeat(step, 14062), 1e-5)
	fmt.Printf("ε = %.3f, %v\n", eps, err)
	// Output: ε = 5.243, <nil>
}

// The curves of single mechanisms, at order 8.
func ExampleGaussian() {
	c, err := rdp.Gaussian(2) // α/(2σ²) = 8/8
	fmt.Printf("%.6f, %v\n", c.RDP(8), err)
	// Output: 1.000000, <nil>
}

func ExamplePure() {
	c, err := rdp.Pure(0.5)
	fmt.Printf("%.6f at 8, %.6f at 1e9, %v\n", c.RDP(8), c.RDP(1e9), err)
	// Output: 0.432354 at 8, 0.500000 at 1e9, <nil>
}

func ExamplePoisson() {
	// A mechanism of which only ρ is known, on a Poisson sample.
	c := rdp.Func(func(alpha float64) float64 { return 0.5 * alpha })
	sampled, err := rdp.Poisson(c, 0.01)
	fmt.Printf("%.4e of %.1f, %v\n", sampled.RDP(4), c.RDP(4), err)
	// Output: 4.1880e-04 of 2.0, <nil>
}

func ExampleRepeat() {
	c, _ := rdp.Gaussian(10)
	fmt.Printf("%.4f, 50 times %.4f\n", c.RDP(4), rdp.Repeat(c, 50).RDP(4))
	// Output: 0.0200, 50 times 1.0000
}

func ExampleDefaultOrders() {
	orders := rdp.DefaultOrders()
	fmt.Println(len(orders) > 50, orders[0] > 1)
	// A Grid on them answers without computing the curve again.
	noise, _ := rdp.Gaussian(2)
	eps, _, err := rdp.Epsilon(rdp.OnOrders(noise, orders), 1e-5)
	fmt.Printf("ε = %.3f, %v\n", eps, err)
	// Output:
	// true true
	// ε = 2.166, <nil>
}

func ExampleEpsilonClassic() {
	noise, _ := rdp.Gaussian(2)
	classic, _, _ := rdp.EpsilonClassic(noise, 1e-5)
	improved, _, _ := rdp.Epsilon(noise, 1e-5)
	fmt.Printf("%.4f, improved %.4f\n", classic, improved)
	// Output: 2.5243, improved 2.1657
}

func ExampleDeltaClassic() {
	noise, _ := rdp.Gaussian(2)
	classic, _, _ := rdp.DeltaClassic(noise, 2)
	improved, _, _ := rdp.Delta(noise, 2)
	fmt.Printf("%.3e, improved %.3e\n", classic, improved)
	// Output: 8.838e-04, improved 3.949e-05
}
