package darrm_test

import (
	"context"
	"fmt"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/darrm"
	"github.com/dpaccountant/accountant/profiles"
)

// Eleven mechanisms of ε = 0.1 may answer together for three times that.
func ExampleOptimize() {
	p := darrm.Params{Mechanisms: 11, Epsilon: 0.1, Allowance: 3}
	r, err := darrm.Optimize(context.Background(), p, darrm.Surrogate{Mean: 0.75}, darrm.Options{})
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
	c, err := darrm.Certify(context.Background(), darrm.Params{Mechanisms: 5, Epsilon: 0.1, Allowance: 2}, g)
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
	// Output: [1 1 0.4 0.4 1 1]
}

func ExampleRelease() {
	g, _ := darrm.Constant(3, 1) // no noise, so that the answer is known here
	answer, err := darrm.Release(g, []bool{true, false, true}, nil)
	fmt.Println(answer, err)
	// Output: true <nil>
}

// With what probability a majority of 6 of 11 is told, by two ways that cost 3ε or less.
func ExampleSubsampling() {
	three, err := darrm.Subsampling(11, 3)
	if err != nil {
		panic(err)
	}
	five, err := darrm.DoubleSubsampling(11, 3) // 2·3 − 1 votes, for the same price
	if err != nil {
		panic(err)
	}
	fmt.Printf("γ(6): %.4f and %.4f\n", three[6], five[6])
	// Output: γ(6): 0.1515 and 0.2165
}

// Randomized response on the majority: one γ for every count of votes.
func ExampleConstant() {
	p := darrm.Params{Mechanisms: 11, Epsilon: 0.1, Allowance: 3}
	best, cert, err := darrm.BestConstant(context.Background(), p)
	if err != nil {
		panic(err)
	}
	g, _ := darrm.Constant(11, best)
	again, _ := darrm.Certify(context.Background(), p, g)
	fmt.Printf("γ = %.4f, certified %v, %v\n", best, cert.Certified, again.Certified)
	// Output: γ = 0.8720, certified true, true
}

// The paper's constant is sound, and much smaller.
func ExampleBestConstant() {
	p := darrm.Params{Mechanisms: 11, Epsilon: 0.1, Allowance: 1}
	best, _, err := darrm.BestConstant(context.Background(), p)
	if err != nil {
		panic(err)
	}
	paper, _ := darrm.RRConstant(0.1, 1, 11, 0, 0)
	fmt.Printf("%.4f, the paper's %.4f\n", best, paper)
	// Output: 0.3709, the paper's 0.0998
}

func ExampleRRConstant() {
	// Table 3 of the paper, K = 35, M = 10.
	c, err := darrm.RRConstant(0.1, 6.4521, 14.0328, 0.1003, 0.1001)
	fmt.Printf("%.3f %v\n", c, err)
	// Output: 0.590 <nil>
}

// A hundred answers, composed with whatever else ran.
func ExampleParams_Mechanism_once() {
	double, _ := darrm.DoubleSubsampling(11, 3)
	m, err := darrm.Params{Mechanisms: 11, Epsilon: 0.1, Allowance: 3}.Mechanism(context.Background(), profiles.AddRemove, double, 1, 1e-5)
	if err != nil {
		panic(err)
	}
	acct := accountant.New(profiles.AddRemove)
	if err := acct.AddBounds(m, 100); err != nil {
		panic(err)
	}
	iv, err := acct.Epsilon(context.Background(), 1e-5)
	fmt.Printf("ε ≤ %.2f, theory gap: %v, %v\n", iv.Upper, iv.Gap != nil, err)
	// Output: ε ≤ 9.57, theory gap: true, <nil>
}

// Every one of eleven voters says yes with probability 0.7.
func ExampleError() {
	p := []float64{.7, .7, .7, .7, .7, .7, .7, .7, .7, .7, .7}
	g, _ := darrm.DoubleSubsampling(11, 3)
	bias, _ := darrm.Error(g, p)
	flips, _ := darrm.Disagreement(g, p)
	fmt.Printf("error %.4f, disagreement %.4f\n", bias, flips)
	// Output: error 0.0849, disagreement 0.1365
}

// At p = ½ errors cancel, disagreements do not.
func ExampleDisagreement() {
	p := []float64{.5, .5, .5}
	g, _ := darrm.Subsampling(3, 1)
	bias, _ := darrm.Error(g, p)
	flips, _ := darrm.Disagreement(g, p)
	fmt.Printf("error %.4f, disagreement %.4f\n", bias, flips)
	// Output: error 0.0000, disagreement 0.2500
}

func ExampleExpectedError() {
	double, _ := darrm.DoubleSubsampling(11, 3)
	e, err := darrm.ExpectedError(double, 0.75)
	fmt.Printf("%.6f %v\n", e, err)
	// Output: 0.069188 <nil>
}

func ExampleParams_Value() {
	double, _ := darrm.DoubleSubsampling(11, 3)
	value, best, err := darrm.Params{Mechanisms: 11, Epsilon: 0.1, Allowance: 3}.Value(darrm.Surrogate{Mean: 0.75}, double)
	fmt.Printf("%.4f of at most %.4f, %v\n", value, best, err)
	// Output: 0.7930 of at most 0.9313, <nil>
}

func ExamplePoissonBinomial() {
	law, err := darrm.PoissonBinomial([]float64{0.5, 0.5, 1})
	fmt.Println(law, err)
	// Output: [0 0.25 0.5 0.25] <nil>
}

// Twenty answers of (0.0892, 1e-4) each, as the paper charges them.
func ExampleGeneralComposition() {
	eps, delta, err := darrm.GeneralComposition(0.0892, 1e-4, 20, 1e-4)
	fmt.Printf("(%.4f, %.5f) %v\n", eps, delta, err)
	// Output: (1.7040, 0.00210) <nil>
}

// A hundred answers, priced together, and unlike voters.
func ExampleParams_Mechanism() {
	ctx := context.Background()
	p := darrm.Params{Mechanisms: 5, Epsilon: 0.1, Allowance: 1, Voters: darrm.Group([]float64{0.1, 0.1, 0.05, 0.05, 0.05}, nil)}
	r, err := darrm.Optimize(ctx, p, darrm.Surrogate{Mean: 0.75}, darrm.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := p.Mechanism(ctx, profiles.AddRemove, r.Gamma, 100, 1e-5)
	if err != nil {
		fmt.Println(err)
		return
	}
	total := accountant.New(profiles.AddRemove)
	if err := total.AddBounds(m, 1); err != nil {
		fmt.Println(err)
		return
	}
	iv, err := total.Epsilon(ctx, 1e-5)
	fmt.Printf("ε between %.2f and %.2f, %v\n", iv.Lower, iv.Upper, err)
	// Output: ε between 3.69 and 3.69, <nil>
}

// The label of an absolute majority of teachers is told with probability γ.
func ExampleReleaseLabel() {
	sure, err := darrm.Constant(3, 1)
	fmt.Println(err)
	fmt.Println(darrm.ReleaseLabel(sure, []int{7, 2, 7}, 10, nil))
	// Output:
	// <nil>
	// 7 <nil>
}
