package profiles_test

import (
	"context"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/profiles"
)

func ExampleLogDelta() {
	g, err := profiles.NewGaussian(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	logDelta, _ := profiles.LogDelta(g, 1)
	fmt.Printf("one run is (1, %.4g)-private\n", math.Exp(logDelta))
	logDelta, _ = profiles.LogDelta(g, 60)
	fmt.Printf("and (60, e^%.1f)-private\n", logDelta)
	// Output:
	// one run is (1, 0.00683)-private
	// and (60, e^-7181.2)-private
}

func ExampleNewGaussian() {
	_, err := profiles.NewGaussian(-1)
	fmt.Println(err)
	// Output: gaussian: noise-multiplier: -1 is not in [1e-06, 1e+15]
}

func ExampleNewLaplace() {
	l, _ := profiles.NewLaplace(2)
	s := l.Support()
	fmt.Println(s.Min, s.Max, s.Atoms)
	// Output: -0.5 0.5 [-0.5 0.5]
}

func ExampleReverse() {
	p, _ := profiles.NewFinite([]float64{0.5, 0.5, 0}, []float64{0.5, 0, 0.5})
	fmt.Printf("%.2f\n", math.Exp(p.Support().LogPInf))
	q, _ := profiles.NewFinite([]float64{1, 0}, []float64{0.5, 0.5})
	fmt.Printf("%.2f %.2f\n", math.Exp(q.Support().LogPInf), math.Exp(profiles.Reverse(q).Support().LogPInf))
	// Output:
	// 0.50
	// 0.00 0.50
}

func ExampleUnsampled() {
	b, _ := profiles.NewGaussianMechanism(2)
	for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute} {
		m, _ := profiles.Unsampled(context.Background(), b, r)
		d, _ := profiles.LogDelta(m.Directions[0].Upper, 1)
		fmt.Printf("%s: %.4g\n", r, math.Exp(d))
	}
	// Output:
	// add-remove: 0.00683
	// substitute: 0.1269
}

func ExampleNewRandomizedResponse() {
	b, _ := profiles.NewRandomizedResponse(0.5, 2)
	p, _ := b.Pair(profiles.AddRemove)
	fmt.Printf("%s: largest loss %.4f\n", b.Name(), p.Support().Max) // log 3
	// Output: randomized-response: largest loss 1.0986
}

func ExampleNewApproximate() {
	b, _ := profiles.NewApproximate(1, 1e-5)
	p, _ := b.Pair(profiles.Substitute)
	d, _ := profiles.LogDelta(p, 1)
	fmt.Printf("%.3g\n", math.Exp(d))
	// Output: 1e-05
}

func ExampleNewDiscreteGaussianMechanism() {
	b, _ := profiles.NewDiscreteGaussianMechanism(10, 1)
	p, _ := b.Pair(profiles.AddRemove)
	d, _ := profiles.LogDelta(p, 0.5)
	fmt.Printf("%.3g\n", math.Exp(d))
	// Output: 6.93e-09
}

func ExampleParseRelation() {
	_, err := profiles.ParseRelation("swap")
	fmt.Println(err)
	// Output: neighbors: "swap" is not one of add-remove, substitute, zero-out
}

// delta returns δ(eps) of one run of b under add-remove.
func delta(b profiles.Mechanism, eps float64) float64 {
	p, err := b.Pair(profiles.AddRemove)
	if err != nil {
		panic(err)
	}
	logDelta, _ := profiles.LogDelta(p, eps)
	return math.Exp(logDelta)
}

func ExampleNewGaussianMechanism() {
	b, err := profiles.NewGaussianMechanism(1)
	fmt.Printf("%s: δ(1) = %.6f, %v\n", b.Name(), delta(b, 1), err)
	// Output: gaussian: δ(1) = 0.126937, <nil>
}

func ExampleNewLaplaceMechanism() {
	// Noise of scale 2 on a query of sensitivity 1 is ½-differentially private.
	b, err := profiles.NewLaplaceMechanism(2)
	fmt.Printf("%s: δ(0.4) = %.6f, δ(0.5) = %v, %v\n", b.Name(), delta(b, 0.4), delta(b, 0.5), err)
	// Output: laplace: δ(0.4) = 0.048771, δ(0.5) = 0, <nil>
}

func ExampleNewDiscreteLaplaceMechanism() {
	// A count that one record changes by at most 3, with noise of scale 2·3.
	b, err := profiles.NewDiscreteLaplaceMechanism(2, 3)
	fmt.Printf("%s: δ(0.4) = %.6f, %v\n", b.Name(), delta(b, 0.4), err)
	// Output: discrete-laplace: δ(0.4) = 0.051537, <nil>
}

func ExampleNewPure() {
	// All that is known of it: it is 1-differentially private. δ(0) is tanh(½).
	b, err := profiles.NewPure(1)
	fmt.Printf("%s: δ(0) = %.6f, %v\n", b.Name(), delta(b, 0), err)
	// Output: pure: δ(0) = 0.462117, <nil>
}

func ExampleNewFiniteMechanism() {
	// An answer that is "yes" with probability 0.6 with the record, 0.5 without.
	b, err := profiles.NewFiniteMechanism([]float64{0.6, 0.4}, []float64{0.5, 0.5})
	fmt.Printf("%s: δ(0) = %.2f, %v\n", b.Name(), delta(b, 0), err)
	// Output: finite: δ(0) = 0.10, <nil>
}

func ExampleNewFinite() {
	_, err := profiles.NewFinite([]float64{0.5, 0.25}, []float64{0.5, 0.5})
	fmt.Println(err)
	// Output: finite: p: sums to 0.75, must sum to 1 within 1e-9
}

func ExampleNewDiscrete() {
	// Randomized response on one bit at ε = 1: the loss is 1 or −1.
	p := math.E / (1 + math.E)
	atoms := []profiles.Atom{
		{Loss: -1, LogP: math.Log(1 - p), LogQ: math.Log(p)},
		{Loss: 1, LogP: math.Log(p), LogQ: math.Log(1 - p)},
	}
	d, err := profiles.NewDiscrete(atoms, math.Inf(-1), math.Inf(-1), 1e-15, 1e-15)
	if err != nil {
		fmt.Println(err)
		return
	}
	logDelta, _ := profiles.LogDelta(d, 0)
	fmt.Printf("δ(0) = %.6f\n", math.Exp(logDelta))
	// Output: δ(0) = 0.462117
}

func ExampleIdentical() {
	// What a step costs that does not look at the data.
	logDelta, _ := profiles.LogDelta(profiles.Identical(), 0)
	fmt.Println(math.Exp(logDelta))
	// Output: 0
}

func ExampleEqual() {
	a, _ := profiles.NewFinite([]float64{0.6, 0.4}, []float64{0.5, 0.5})
	b, _ := profiles.NewFinite([]float64{0.4, 0.6}, []float64{0.5, 0.5}) // outcomes renamed
	fmt.Println(profiles.Equal(a, b))
	// Output: true
}

func ExampleNewBounds() {
	p, _ := profiles.NewFinite([]float64{0.6, 0.4}, []float64{0.5, 0.5})
	m := profiles.NewBounds("survey", profiles.AddRemove, p)
	fmt.Println(m.Name, m.Relation, "theory gap:", m.TheoryGap())
	// Output: survey add-remove theory gap: false
}

func ExampleExact() {
	// A mechanism with a proved bound in one direction and no known attack.
	known, _ := profiles.NewFinite([]float64{0.6, 0.4}, []float64{0.5, 0.5})
	bound, _ := profiles.NewGaussian(2)
	m := profiles.Bounds{Name: "two directions", Relation: profiles.AddRemove,
		Directions: [2]profiles.Direction{{Upper: known, Lower: known}, {Upper: bound}}}
	fmt.Println("theory gap:", m.TheoryGap())
	// Output: theory gap: true
}
