package rdp

import (
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/internal/trait"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

func mustBase(t testing.TB, b profiles.Mechanism, err error) profiles.Mechanism {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The curves of plans must be those of the constructors.
func TestOfMatchesConstructors(t *testing.T) {
	base := func(b profiles.Mechanism, err error) profiles.Mechanism { return mustBase(t, b, err) }
	curve := func(c Curve, err error) Curve { return mustCurve(t, c, err) }
	rate := func(q float64) subsample.Scheme {
		s, err := subsample.NewPoisson(q)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	rrP, rrQ := []float64{0.55, 0.05, 0.4}, []float64{0.05, 0.55, 0.4}
	for _, tc := range []struct {
		name string
		b    profiles.Mechanism
		s    subsample.Scheme
		r    profiles.Relation
		want Curve
		tol  float64
	}{
		{"gaussian", base(profiles.NewGaussianMechanism(2)), nil, profiles.AddRemove, curve(Gaussian(2)), 1e-14},
		{"gaussian/substitute", base(profiles.NewGaussianMechanism(2)), nil, profiles.Substitute, curve(Gaussian(1)), 1e-14},
		{"laplace", base(profiles.NewLaplaceMechanism(2)), nil, profiles.AddRemove, curve(Laplace(2)), 1e-13},
		{"laplace/substitute", base(profiles.NewLaplaceMechanism(2)), nil, profiles.Substitute, curve(Laplace(1)), 1e-13},
		{"pure", base(profiles.NewPure(1)), nil, profiles.AddRemove, curve(Pure(1)), 1e-13},
		{"rr", base(profiles.NewRandomizedResponse(0.5, 10)), nil, profiles.Substitute, curve(RandomizedResponse(0.5, 10)), 1e-13},
		{"finite", base(profiles.NewFiniteMechanism(rrP, rrQ)), nil, profiles.AddRemove, curve(Finite(rrP, rrQ)), 1e-13},
		{"discrete-laplace", base(profiles.NewDiscreteLaplaceMechanism(2, 3)), nil, profiles.AddRemove, curve(DiscreteLaplace(2, 3)), 1e-12},
		{"discrete-gaussian", base(profiles.NewDiscreteGaussianMechanism(3, 2)), nil, profiles.AddRemove, curve(DiscreteGaussian(3, 2)), 1e-13},
		{"poisson gaussian", base(profiles.NewGaussianMechanism(2)), rate(0.01), profiles.AddRemove, curve(newPoissonGaussian(0.01, 2)), 1e-13},
		{"poisson at 1", base(profiles.NewGaussianMechanism(2)), rate(1), profiles.Substitute, curve(Gaussian(1)), 1e-14},
		{"poisson at 0", base(profiles.NewGaussianMechanism(2)), rate(0), profiles.AddRemove, Repeat(curve(Gaussian(1)), 0), 0},
		{"poisson finite", base(profiles.NewFiniteMechanism(rrP, rrQ)), rate(0.25), profiles.AddRemove, curve(Finite(mix(0.25, rrP, rrQ), rrQ)), 1e-12},
		{"poisson laplace at integers", base(profiles.NewLaplaceMechanism(1)), rate(0.25), profiles.AddRemove, curve(Poisson(curve(Laplace(1)), 0.25)), 1e-12},
		{"approximate", base(profiles.NewApproximate(1, 1e-6)), nil, profiles.AddRemove, Func(func(float64) float64 { return math.Inf(1) }), 0},
	} {
		c, err := Of(tc.b, tc.s, tc.r)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		for _, alpha := range []float64{1.5, 2, 5, 33, math.Inf(1)} {
			got, want := c.RDP(alpha), tc.want.RDP(alpha)
			if got != want && !(math.Abs(got/want-1) <= tc.tol) {
				t.Errorf("%s at %v: %v, want %v", tc.name, alpha, got, want)
			}
		}
	}
}

// Under substitute the bound must be at least every attack we know: the
// divergence of the lower profile.
func TestOfSubstituteBoundsAttacks(t *testing.T) {
	pure := mustBase(t, must2(profiles.NewPure(1)), nil)
	dlap := mustBase(t, must2(profiles.NewDiscreteLaplaceMechanism(1, 2)), nil)
	dgauss := mustBase(t, must2(profiles.NewDiscreteGaussianMechanism(1, 2)), nil)
	for _, b := range []profiles.Mechanism{pure, dlap, dgauss} {
		for _, q := range []float64{0.001, 0.1, 0.7} {
			s := must2(subsample.NewPoisson(q))
			c := must2(Of(b, s, profiles.Substitute))
			m := must2(s.Apply(b, profiles.Substitute))
			for _, d := range m.Directions {
				law := d.Lower.(*profiles.Discrete)
				if law.Support().LogPInf < -745 {
					// What the lists leave out, below every float64, counts as an infinite loss, whose divergence is no number.
					law = must2(profiles.NewDiscrete(law.Atoms(), math.Inf(-1), math.Inf(-1), 0, 0))
				}
				attack := fromDiscrete(law)
				for _, alpha := range []float64{1.1, 1.5, 2, 3, 4.5, 16, 100} {
					// 1e-9: the attack's own losses are known to 1e-15 absolute.
					if got, low := c.RDP(alpha), attack.RDP(alpha); got < low*(1-1e-9) {
						t.Errorf("%s rate %v order %v: %v is below the attack %v", b.Name(), q, alpha, got, low)
					}
				}
			}
		}
	}
}

func must2[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// opaque is a scheme without finite profiles.
type opaque struct{ subsample.Scheme }

func (opaque) Name() string { return "opaque" }
func (opaque) Apply(profiles.Mechanism, profiles.Relation) (profiles.Bounds, error) {
	return profiles.Bounds{}, nil
}

type batches struct {
	opaque
	population, batch int64
}

func (batches) Name() string        { return "without-replacement" }
func (b batches) Population() int64 { return b.population }
func (b batches) Batch() int64      { return b.batch }

func TestOfFixedSize(t *testing.T) {
	g := must2(profiles.NewGaussianMechanism(2))
	c := must2(Of(g, batches{population: 1000, batch: 10}, profiles.Substitute))
	want := must2(WithoutReplacement(must2(Gaussian(1)), 1000, 10))
	for _, alpha := range []float64{1.5, 2, 7} {
		if c.RDP(alpha) > want.RDP(alpha) {
			t.Errorf("order %v: %v, want at most %v", alpha, c.RDP(alpha), want.RDP(alpha))
		}
	}
}

func TestOfErrors(t *testing.T) {
	g := must2(profiles.NewGaussianMechanism(2))
	for want, err := range map[string]error{
		"mechanism: is nil": second(Of(nil, nil, profiles.AddRemove)),
		"neighbors: ":       second(Of(g, nil, profiles.Relation(7))),
		"sampling: opaque has no Rényi bound for the mechanism gaussian under add-remove": second(Of(g, opaque{}, profiles.AddRemove)),
		"sampling: without-replacement has no":                                            second(Of(g, batches{population: 10, batch: 5}, profiles.AddRemove)),
		"batch: 11":                                                                       second(Of(g, batches{population: 10, batch: 11}, profiles.Substitute)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Where a record can be in a batch twice, what holds without replacement does not.
func TestOfRepeatedRecords(t *testing.T) {
	slow.Test(t)
	lap := must2(profiles.NewLaplaceMechanism(2))
	g := must2(profiles.NewGaussianMechanism(4))
	for _, s := range []subsample.Scheme{
		must2(subsample.NewWithReplacement(10000, 200)),
		must2(subsample.NewMustOW(10000, 118, 200)),
		must2(subsample.NewMustWO(10000, 400, 200)),
		must2(subsample.NewMustWW(10000, 118, 200)),
	} {
		for _, b := range []profiles.Mechanism{g, lap} {
			if s.Name() != "with-replacement" && !slow.All() {
				continue // seconds each
			}
			c := must2(Of(b, s, profiles.Substitute))
			attack := profileMoment(must2(s.(subsample.FixedSize).Attack(b)), 1.1, math.Inf(1), math.Inf(1))
			if got := c.RDP(1.1); !(got >= attack*0.998) {
				t.Errorf("%s of %s: %v, the attack has %v", s.Name(), b.Name(), got, attack)
			}
			if without := must2(Of(b, must2(subsample.NewWithoutReplacement(10000, 200)), profiles.Substitute)); !(c.RDP(2) > without.RDP(2)/4) {
				t.Errorf("%s of %s: %v at order 2, far below %v without replacement", s.Name(), b.Name(), c.RDP(2), without.RDP(2))
			}
		}
	}
	if _, err := Of(g, must2(subsample.NewWithoutReplacement(10000, 200)), profiles.Substitute); err != nil {
		t.Errorf("without-replacement: %v", err)
	}
}

// TestOfIntegerNoise: Skellam noise of variance 16 and sensitivity 4, by enumeration of its 16 copies of one number, and above
// that μ²/2 at order 1 with the D of integer-noise.md §3; a sum of discrete Gaussians; and a tail that has no divergence.
func TestOfIntegerNoise(t *testing.T) {
	skellam := must2(profiles.NewSkellamMechanism(4, 4))
	c := must2(Of(skellam, nil, profiles.AddRemove))
	for _, alpha := range []float64{1.5, 2, 8} {
		want := alpha * 1.01078995824839 * 1.01078995824839 / 2
		if got := c.RDP(alpha); !(got >= want*(1-1e-13) && got <= want*(1+1e-11)) {
			t.Errorf("order %v: %v, want %v", alpha, got, want)
		}
		whole := must2(skellam.(trait.GaussianBounded).Whole(profiles.AddRemove))
		low := 16 * fromDiscrete(whole.Directions[0].Copies.Profile.(*profiles.Discrete)).RDP(alpha)
		if got := c.RDP(alpha); !(low <= got && low >= got*0.93) { // the attack's tails are heavier than Gaussian
			t.Errorf("order %v: %v, of one pair %v", alpha, got, low)
		}
	}
	vector := must2(profiles.NewDiscreteGaussianMechanism(40, 2.9))
	if got := must2(Of(vector, nil, profiles.Substitute)).RDP(2); !(got >= 4/1600.0 && got <= 4.001/1600) {
		t.Errorf("discrete Gaussian vector: %v", got)
	}
	sum := must2(profiles.NewSummedNoise("discrete-gaussian", 10, 1, 2, 3))
	if got, want := must2(Of(sum, must2(subsample.NewPoisson(0.1)), profiles.ZeroOut)).RDP(4), must2(Of(sum, nil, profiles.ZeroOut)).RDP(4); !(got < want/20) {
		t.Errorf("sampled: %v, unsampled %v", got, want)
	}
	if _, err := Of(must2(profiles.NewSummedNoise("discrete-gaussian", 10000, 0, 2, 3)), nil, profiles.ZeroOut); err == nil || !strings.Contains(err.Error(), "has no Rényi curve") {
		t.Errorf("a tail without a bound: %v", err)
	}
}
