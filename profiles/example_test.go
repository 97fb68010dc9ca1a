package profiles_test

import (
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
		m, _ := profiles.Unsampled(b, r)
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
	// Output: neighbors: "swap" is not one of add-remove, substitute
}
