package profiles

import (
	"math"
	"math/big"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// starNoise is integer noise by its weights, for tables of outputs of one or two numbers.
type starNoise struct {
	b     Mechanism
	shift int // the L1 sensitivity, or of one number
	w     func(k int) float64
}

func starNoises(t *testing.T) []starNoise {
	t.Helper()
	laplace, err := NewDiscreteLaplaceMechanism(0.8, 2)
	if err != nil {
		t.Fatal(err)
	}
	gaussian, err := NewDiscreteGaussianNumber(0.6, 2)
	if err != nil {
		t.Fatal(err)
	}
	return []starNoise{
		{laplace, 2, func(k int) float64 { return math.Exp(-math.Abs(float64(k)) / 1.6) }},
		{gaussian, 2, func(k int) float64 { return math.Exp(-float64(k*k) / (2 * 1.2 * 1.2)) }},
	}
}

// TestSampledSubstitute: no two contributions of a record, of one number or two, cost more on a Poisson sample than the
// opposite ones whose pair SubstituteMixture returns; and those cost as much. Every output is enumerated.
func TestSampledSubstitute(t *testing.T) {
	const reach = 40
	for _, n := range starNoises(t) {
		for _, rate := range []float64{0.1, 0.5, 0.9} {
			p, dominating, err := n.b.(substituteMixer).SubstituteMixture(rate)
			if err != nil || !dominating {
				t.Fatalf("%s: dominating %v, error %v", n.b.Name(), dominating, err)
			}
			// cost is ∫(P − e^ε Q)₊ of the records at v and at u, noise on both numbers.
			cost := func(v, u [2]int, eps float64) float64 {
				var sum xmath.Sum
				total := 0.0
				for x := -reach; x <= reach; x++ {
					total += n.w(x)
				}
				wide := 0
				if v[1] != 0 || u[1] != 0 {
					wide = reach
				}
				for x := -reach; x <= reach; x++ {
					for y := -wide; y <= wide; y++ {
						at := func(c [2]int) float64 {
							w := n.w(x-c[0]) / total
							if wide > 0 {
								w *= n.w(y-c[1]) / total
							}
							return w
						}
						none := (1 - rate) * at([2]int{})
						sum.Add(max(0, rate*at(v)+none-math.Exp(eps)*(rate*at(u)+none)))
					}
				}
				return sum.Value()
			}
			vectors := [][2]int{{2, 0}, {-2, 0}, {1, 0}, {0, 0}}
			if n.b.Name() == "discrete-laplace" {
				vectors = append(vectors, [2]int{1, 1}, [2]int{1, -1}, [2]int{0, 2}, [2]int{0, -1})
			}
			for _, eps := range []float64{-0.7, -0.1, 0, 0.05, 0.4, 1.1} {
				log, _ := LogDelta(p, eps)
				want := math.Exp(log)
				worst := 0.0
				for _, v := range vectors {
					for _, u := range vectors {
						worst = max(worst, cost(v, u, eps))
					}
				}
				// The tails beyond reach are below e^{−24}.
				if !(math.Abs(worst-want) <= 1e-10) {
					t.Errorf("%s at rate %v, ε = %v: %v over all contributions, the pair has %v", n.b.Name(), rate, eps, worst, want)
				}
			}
		}
	}
}

// shortWeights list outcomes up to a margin, so that what lies beyond is seen.
type shortWeights struct {
	gaussianWeights
	reach int
}

func (w shortWeights) margin() int { return w.reach }

// TestMassBeyondTheListCounts: the outcomes beyond the margin are in the law that dominates, as loss ±∞. Without them the
// largest δ would be below the truth.
func TestMassBeyondTheListCounts(t *testing.T) {
	const rate, sigma, shift = 0.3, 2.0, 1
	full := newGaussianWeights(sigma)
	b := integerNoise{name: "discrete-gaussian", w: shortWeights{full, 3}, shift: shift, noise: sigma, massErr: 0.2}
	p, _, err := b.SubstituteMixture(rate)
	if err != nil {
		t.Fatal(err)
	}
	for _, eps := range []float64{0, 0.2, 1} {
		truth := 0.0
		for k := -90; k <= 90; k++ {
			at := func(c int) float64 { return rate*math.Exp(full.log(k-c)) + (1-rate)*math.Exp(full.log(k)) }
			truth += max(0, at(shift)-math.Exp(eps)*at(-shift))
		}
		if log, _ := LogDelta(p, eps); math.Exp(log) < truth {
			t.Errorf("ε = %v: δ = %v, below the truth %v", eps, math.Exp(log), truth)
		}
	}
}

// TestSampledRatio: log(1 − q + q·e^l) is within its stated error of the truth to hundreds of bits, over everything that l
// may be; and that error is not far above what happens.
func TestSampledRatio(t *testing.T) {
	for _, rate := range []float64{1e-60, 1e-9, 0.1, 0.5, 0.75, 0.999, 1 - 1e-12} {
		r := newSampledRatio(rate)
		for _, l := range []float64{-900, -36, -3, -0.7, -1e-9, 1e-12, 0.3, 5, 80, 690, 699.9, 720} {
			exact := func(l float64) float64 {
				drawn := oracle.Scale(oracle.Exp(oracle.F(l)), rate)
				return oracle.LogF(oracle.Add(drawn, oracle.Sub(oracle.F(1), oracle.F(rate))))
			}
			x, err := r.log(l, 0)
			if e := math.Abs(x - exact(l)); !(e <= err) && !(math.Abs(x) < 1e-300) {
				t.Errorf("rate %v, l = %v: off by %v, stated %v", rate, l, e, err)
			}
			if !(err <= 64*xmath.U*(math.Abs(x)+(1+math.Abs(l))*min(1, math.Exp(r.logRate+l-x)))) {
				t.Errorf("rate %v, l = %v: states %v of %v", rate, l, err, x)
			}
			const move = 1e-6
			_, err = r.log(l, move)
			if e := math.Abs(exact(l+move) - exact(l)); !(e <= err*(1+1e-5)) {
				t.Errorf("rate %v, l = %v: moves by %v, stated %v", rate, l, e, err)
			}
		}
	}
}

// TestErrorsOfSampledNoise: the losses and masses of integer noise on a sample, and the largest loss of Laplace noise whose
// scale is the truth divided once, are within their stated errors.
func TestErrorsOfSampledNoise(t *testing.T) {
	lost := false // some number is not exact: an error that is stated as 0 would be noticed
	within := func(what string, got, want, err float64) {
		t.Helper()
		lost = lost || got != want
		if !(math.Abs(got-want) <= err) {
			t.Errorf("%s: %v, exactly %v, off by %v, stated %v", what, got, want, math.Abs(got-want), err)
		}
	}
	one := oracle.F(1)
	for _, rate := range []float64{1e-9, 0.3, 0.9} {
		rest := oracle.Sub(one, oracle.F(rate))
		for _, noise := range []float64{0.3, 3, 700} {
			const shift = 3
			b, err := NewDiscreteLaplaceMechanism(noise, shift)
			if err != nil {
				t.Fatal(err)
			}
			p, _, err := b.(substituteMixer).SubstituteMixture(rate)
			if err != nil {
				t.Fatal(err)
			}
			d, scale := p.(*Discrete), oracle.Scale(oracle.F(noise), shift)
			weight := func(k int) *big.Float { return oracle.Exp(oracle.Div(oracle.F(-math.Abs(float64(k))), scale)) }
			ratio := weight(1)
			total := oracle.Div(oracle.Add(one, ratio), oracle.Sub(one, ratio)) // Σ weight
			mix := func(k, sign int) *big.Float {
				return oracle.Add(oracle.Scale(weight(k-sign*shift), rate), oracle.Mul(weight(k), rest))
			}
			for i, a := range d.atoms[1 : len(d.atoms)-1] { // without the two ends, which are many outcomes each
				k := i - shift + 1
				within("loss", a.Loss, oracle.LogF(oracle.Div(mix(k, 1), mix(k, -1))), d.lossErr)
				want := oracle.LogF(oracle.Div(mix(k, 1), total))
				within("mass", a.LogP, want, d.massErr*(1+math.Abs(want)))
			}
			c, err := NewLaplaceMechanism(noise)
			if err != nil {
				t.Fatal(err)
			}
			q, _, err := c.(substituteMixer).SubstituteMixture(rate)
			if err != nil {
				t.Fatal(err)
			}
			far, near := oracle.Exp(oracle.Div(oracle.F(-1), oracle.F(noise))), oracle.Exp(oracle.Div(one, oracle.F(noise)))
			top := oracle.LogF(oracle.Div(oracle.Add(oracle.Scale(near, rate), rest), oracle.Add(oracle.Scale(far, rate), rest)))
			within("largest loss", q.Support().Max, top, q.Support().LossErr)
		}
	}
	if !lost {
		t.Error("every number is exact: this test sees no error")
	}
}

// A substituteMixer is what package subsample asks for of the same name.
type substituteMixer interface {
	SubstituteMixture(rate float64) (p Profile, dominating bool, err error)
}
