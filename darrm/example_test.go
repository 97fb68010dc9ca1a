package darrm_test

import (
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/darrm"
	"github.com/dpaccountant/accountant/profiles"
)

// Eleven mechanisms of ε = 0.1 may answer together for three times that.
func ExampleOptimize() {
	p := darrm.Params{Mechanisms: 11, Epsilon: 0.1, Allowance: 3}
	r, err := darrm.Optimize(p, darrm.Surrogate{Mean: 0.75}, darrm.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("γ(6..11) = %.4f\n", r.Gamma[6:])
	fmt.Println("certified:", r.Certificate.Certified)
	// Output:
	// γ(6..11) = [0.7078 0.7078 0.9266 1.0000 1.0000 1.0000]
	// certified: true
}

func ExampleCertify() {
	// Is the noise-free majority of five mechanisms 2ε-DP?
	g, _ := darrm.Constant(5, 1)
	c, err := darrm.Certify(darrm.Params{Mechanisms: 5, Epsilon: 0.1, Allowance: 2}, g)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%v: f is up to %.4f, and may be %.4f\n", c.Certified, c.MaxF, c.BudgetF)
	// Output: false: f is up to 0.2489, and may be 0.2214
}

func ExampleDoubleSubsampling() {
	g, err := darrm.DoubleSubsampling(5, 2)
	if err != nil {
		panic(err)
	}
	fmt.Println(g)
	// Output: [1/1 1/1 2/5 2/5 1/1 1/1]
}

func ExamplePrivacyProfile() {
	g, _ := darrm.Constant(5, 1)
	p, err := darrm.PrivacyProfile(5, 0.1, 0, g)
	if err != nil {
		panic(err)
	}
	for _, eps := range []float64{0.1, 0.2} {
		logDelta, _ := profiles.LogDelta(p, eps)
		fmt.Printf("δ(%g) = %.6f\n", eps, math.Exp(logDelta))
	}
	// Output:
	// δ(0.1) = 0.045848
	// δ(0.2) = 0.013769
}

func ExampleRelease() {
	g, _ := darrm.Constant(3, 1) // no noise, so that the answer is known here
	answer, err := darrm.Release(g, []bool{true, false, true}, nil)
	fmt.Println(answer, err)
	// Output: true <nil>
}
