package profiles_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/dpaccountant/accountant/internal/profiletest"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/profiles"
)

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func pair(b profiles.Mechanism, r profiles.Relation) profiles.Profile { return must(b.Pair(r)) }

func mixture(b profiles.Mechanism, rate float64) profiles.Profile {
	p, _, err := b.(substituteMixer).SubstituteMixture(rate)
	return must(p, err)
}

// kind is a profile with its truth to hundreds of bits and the size of its
// losses.
type kind struct {
	name  string
	p     profiles.Profile
	exact profiletest.Exact
	size  float64
}

func bigs(xs ...float64) []*big.Float {
	out := make([]*big.Float, len(xs))
	for i, x := range xs {
		out[i] = oracle.F(x)
	}
	return out
}

// response is randomized response, with every number exact.
func response(prob float64, k int64) profiletest.Exact {
	lie := oracle.Div(oracle.F(prob), oracle.F(float64(k)))
	truth := oracle.Sub(oracle.F(1), oracle.Scale(lie, float64(k-1)))
	rest := oracle.Scale(lie, float64(k-2))
	return profiletest.Finite([]*big.Float{lie, rest, truth}, []*big.Float{truth, rest, lie})
}

func approximate(eps, delta float64) profiletest.Exact {
	keep := oracle.Sub(oracle.F(1), oracle.F(delta))
	e := oracle.Exp(oracle.F(eps))
	lo := oracle.Div(keep, oracle.Add(oracle.F(1), e))
	hi := oracle.Mul(lo, e)
	d, z := oracle.F(delta), oracle.New()
	return profiletest.Finite([]*big.Float{d, hi, lo, z}, []*big.Float{z, lo, hi, d})
}

// integers enumerates integer noise with weights w on |k| ≤ n.
func integers(w func(k int) *big.Float, n, shift int) profiletest.Exact {
	total := oracle.New()
	for k := -n; k <= n; k++ {
		total.Add(total, w(k))
	}
	var p, q []*big.Float
	for k := -n; k <= n+shift; k++ {
		p, q = append(p, oracle.Div(w(k-shift), total)), append(q, oracle.Div(w(k), total))
	}
	return profiletest.Finite(p, q)
}

// sampledIntegers enumerates the pair at ±shift of integer noise with weights w on |k| ≤ n, sampled at a rate.
func sampledIntegers(w func(k int) *big.Float, n, shift int, rate float64) profiletest.Exact {
	total := oracle.New()
	for k := -n; k <= n; k++ {
		total.Add(total, w(k))
	}
	mix := func(k, move int) *big.Float {
		drawn, rest := oracle.Scale(w(k-move), rate), oracle.Mul(w(k), oracle.Sub(oracle.F(1), oracle.F(rate)))
		return oracle.Div(oracle.Add(drawn, rest), total)
	}
	var p, q []*big.Float
	for k := -n; k <= n; k++ {
		p, q = append(p, mix(k, shift)), append(q, mix(k, -shift))
	}
	return profiletest.Finite(p, q)
}

func kinds() []kind {
	var out []kind
	for _, s := range []float64{0.05, 0.3, 1, 2, 10, 300, 1e4} {
		out = append(out, kind{name: "gaussian", p: must(profiles.NewGaussian(s)), exact: profiletest.Gaussian(s), size: 1/s + 0.5/(s*s)})
	}
	for _, b := range []float64{0.05, 0.5, 1, 20, 3e4} {
		out = append(out, kind{name: "laplace", p: must(profiles.NewLaplace(b)), exact: profiletest.Laplace(b), size: 0.3 / b})
	}
	for _, e := range []float64{1e-9, 1e-3, 0.1, 1, 7, 100} {
		out = append(out, kind{name: "exponential", p: must(profiles.NewExponential(e)), exact: exactExponential(e), size: 0.3 * e})
	}
	out = append(out,
		kind{"discrete gaussian", pair(must(profiles.NewDiscreteGaussianMechanism(1.5, 1)), profiles.AddRemove),
			integers(func(k int) *big.Float { return oracle.Exp(oracle.Div(oracle.F(float64(-k*k)), oracle.F(4.5))) }, 60, 1), 0.5},
		kind{"discrete gaussian, substitute", pair(must(profiles.NewDiscreteGaussianNumber(1, 2)), profiles.Substitute),
			integers(func(k int) *big.Float { return oracle.Exp(oracle.Div(oracle.F(float64(-k*k)), oracle.F(8))) }, 80, 4), 1.5},
		kind{"discrete laplace", pair(must(profiles.NewDiscreteLaplaceMechanism(2, 1)), profiles.AddRemove),
			integers(func(k int) *big.Float { return oracle.Exp(oracle.F(-math.Abs(float64(k)) / 2)) }, 400, 1), 0.3},
		kind{"discrete laplace, sensitivity 3", pair(must(profiles.NewDiscreteLaplaceMechanism(1, 3)), profiles.AddRemove),
			integers(func(k int) *big.Float { return oracle.Exp(oracle.F(-math.Abs(float64(k)) * (1.0 / 3))) }, 600, 3), 0.3},
		kind{"randomized response", pair(must(profiles.NewRandomizedResponse(0.5, 2)), profiles.AddRemove), response(0.5, 2), 1},
		kind{"randomized response, many", pair(must(profiles.NewRandomizedResponse(0.9, 1000)), profiles.AddRemove), response(0.9, 1000), 1},
		kind{"always lying", pair(must(profiles.NewRandomizedResponse(1, 3)), profiles.AddRemove), response(1, 3), 1},
		kind{"pure", pair(must(profiles.NewPure(1)), profiles.AddRemove), approximate(1, 0), 1},
		kind{"pure 10", pair(must(profiles.NewPure(10)), profiles.AddRemove), approximate(10, 0), 4},
		kind{"approximate", pair(must(profiles.NewApproximate(0.5, 1e-5)), profiles.AddRemove), approximate(0.5, 1e-5), 0.3},
		kind{"approximate, tiny", pair(must(profiles.NewApproximate(2, 1e-250)), profiles.AddRemove), approximate(2, 1e-250), 1},
		kind{"finite", must(profiles.NewFinite([]float64{0.5, 0.25, 0.25, 0}, []float64{0.25, 0.25, 0, 0.5})),
			profiletest.Finite(bigs(0.5, 0.25, 0.25, 0), bigs(0.25, 0.25, 0, 0.5)), 0.4},
		kind{"disjoint", must(profiles.NewFinite([]float64{1, 0}, []float64{0, 1})), profiletest.Finite(bigs(1, 0), bigs(0, 1)), 1},
		kind{"identical", profiles.Identical(), profiletest.Finite(bigs(1), bigs(1)), 1},
	)
	for _, c := range []struct{ s, q float64 }{{1, 0.01}, {1, 0.5}, {0.5, 1e-9}, {0.3, 0.99}, {20, 0.1}, {1000, 0.3}} {
		b := must(profiles.NewGaussianMechanism(c.s))
		out = append(out, kind{"gaussian ±1", mixture(b, c.q), profiletest.GaussianPlusMinus(c.s, c.q), min(1, c.q+1e-3)*(1/c.s+0.5/(c.s*c.s)) + 0.01/c.s})
	}
	for _, c := range []struct {
		b    profiles.Mechanism
		w    func(k int) *big.Float
		n, s int
		q    float64
	}{
		{must(profiles.NewDiscreteLaplaceMechanism(2, 1)), func(k int) *big.Float { return oracle.Exp(oracle.F(-math.Abs(float64(k)) / 2)) }, 400, 1, 0.9},
		{must(profiles.NewDiscreteLaplaceMechanism(0.5, 3)), func(k int) *big.Float { return oracle.Exp(oracle.F(-math.Abs(float64(k)) * (1.0 / 1.5))) }, 400, 3, 1e-6},
	} {
		out = append(out, kind{"integers ±1", mixture(c.b, c.q), sampledIntegers(c.w, c.n, c.s, c.q), 0.5})
	}
	for _, c := range []struct{ b, q float64 }{{1e7, 0.75}, {1, 0.01}, {1, 0.5}, {0.2, 1e-6}, {0.1, 0.99}, {20, 0.1}} {
		b := must(profiles.NewLaplaceMechanism(c.b))
		out = append(out, kind{"laplace ±1", mixture(b, c.q), exactPlusMinus(c.b, c.q), min(1, c.q*math.Exp(1/c.b)) / c.b})
	}
	return out
}

func TestConformance(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) { profiletest.Run(t, k.p, k.exact, profiletest.Grid(k.p, k.size)) })
		t.Run(k.name+" reversed", func(t *testing.T) {
			p := profiles.Reverse(k.p)
			profiletest.Run(t, p, profiletest.Reverse(k.exact), profiletest.Grid(p, k.size))
		})
	}
}

// A substituteMixer is what package subsample asks for of the same name.
type substituteMixer interface {
	SubstituteMixture(rate float64) (p profiles.Profile, dominating bool, err error)
}
