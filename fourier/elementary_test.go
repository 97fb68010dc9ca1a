package fourier

import (
	"context"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// TestBasicComposition: the bound is above what the engines prove, in closed form where Gaussian noise runs
// beside bounded losses, and what it says of ε and of δ agrees.
func TestBasicComposition(t *testing.T) {
	ctx := context.Background()
	pair := func(m profiles.Mechanism, err error) profiles.Profile {
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Pair(profiles.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	noise, pure := pair(profiles.NewGaussianMechanism(2)), pair(profiles.NewPure(0.1))
	leaky, whole := pair(profiles.NewApproximate(0.2, 1e-7)), pair(profiles.NewDiscreteGaussianMechanism(3, 1))
	for name, list := range map[string][]profiles.Profile{
		"gaussian, pure": {noise, pure}, "gaussian, leaky": {noise, leaky, pure}, "discrete gaussian": {whole, noise}, "leaky": {leaky, pure},
	} {
		s := New(Options{})
		for i, p := range list {
			if err := s.Add(p, int64(3+i)); err != nil {
				t.Fatal(err)
			}
		}
		for _, delta := range []float64{1e-300, 1e-6, 1e-3, 0.3} {
			r, err := s.epsilon(ctx, delta)
			if err != nil {
				t.Fatal(err)
			}
			eps := s.elementaryEpsilon(math.Log(delta))
			if eps < r.Lower {
				t.Errorf("%s: ε(%v) is at most %v, and at least %v", name, delta, eps, r.Lower)
			}
			if math.IsInf(eps, 1) {
				continue
			}
			d, err := s.delta(ctx, eps)
			if err != nil {
				t.Fatal(err)
			}
			bound := s.elementaryDelta(eps)
			if bound < d.Lower || delta > 1e-200 && bound > delta*(1+1e-6) {
				t.Errorf("%s: δ(%v) is at most %v, and in [%v, %v]; want at most %v", name, eps, bound, d.Lower, d.Upper, delta)
			}
			if at := s.elementaryEpsilon(math.Log(bound)); at > eps*(1+1e-12) { // both are rounded up
				t.Errorf("%s: δ(%v) ≤ %v, where ε is at most %v only", name, eps, bound, at)
			}
		}
	}
	// Three Gaussian runs of noise 2 and four of pure 0.1: ε is that of noise 2/√3 and 0.4 more.
	s, g := New(Options{}), New(Options{})
	if s.Add(noise, 3) != nil || s.Add(pure, 4) != nil || g.Add(noise, 3) != nil {
		t.Fatal("not added")
	}
	r, err := g.Epsilon(ctx, 1e-6)
	if got, want := s.elementaryEpsilon(math.Log(1e-6)), r.Upper+0.4; err != nil || math.Abs(got-want) > 1e-9 {
		t.Errorf("ε(1e-6) is at most %v, want %v (%v)", got, want, err)
	}
}

// TestPartsInTurn: what an engine has no work for costs at most what its parts cost, each at its part of δ or of ε.
func TestPartsInTurn(t *testing.T) {
	whole := New(Options{Work: 1e4})
	var parts, alone []*Sum // the same: one that is asked twice reads the second answer off a table that it has
	for _, noise := range []float64{1, 1.1} {
		p, err := subsample.PoissonProfile(gaussian(t, noise), 1e-3)
		part, other := New(Options{}), New(Options{})
		if err != nil || whole.Add(p, 30) != nil || part.Add(p, 30) != nil || other.Add(p, 30) != nil {
			t.Fatal(err)
		}
		parts, alone = append(parts, part), append(alone, other)
	}
	whole.BoundBy(func(context.Context) (releases, both []*Sum) { return nil, parts }, false)
	const delta, eps = 1e-5, 0.1
	most, mostDelta := 0.0, 0.0
	for _, p := range alone {
		most += epsilon(t, p, delta/2).Upper
		d, err := p.Delta(t.Context(), eps/2)
		if err != nil {
			t.Fatal(err)
		}
		mostDelta += d.Upper
	}
	if r := epsilon(t, whole, delta); !(r.Upper <= most*(1+1e-15)) || len(r.Warnings) == 0 { // the sum is rounded up
		t.Errorf("ε(%v) is in [%v, %v] %q, want at most %v and a warning", delta, r.Lower, r.Upper, r.Warnings, most)
	}
	if d, err := whole.Delta(t.Context(), eps); err != nil || !(d.Upper <= mostDelta*(1+integralAccuracy)) {
		t.Errorf("δ(%v) is in [%v, %v], %v, want at most %v", eps, d.Lower, d.Upper, err, mostDelta)
	}
}

// A farExponential has the loss 2^20 and one of the exponential law more: δ is e^{−(ε − 2^20)}/2 from 2^20 on.
type farExponential struct{}

const far = 1 << 20

func (farExponential) LogDelta(eps float64) (logDelta, err float64) {
	return far - eps - math.Ln2, 1e-16 * (1 + eps - far)
}

func (farExponential) Tails(eps, _ float64) profiles.Tails {
	return profiles.Tails{P: far - eps, Q: far - 2*eps - math.Ln2, Err: 1e-15 * (1 + eps - far)}
}

func (farExponential) Support() profiles.Support {
	return profiles.Support{Min: far, Max: math.Inf(1), LogPInf: math.Inf(-1), LogQInf: 0, Spike: math.NaN()}
}

// TestPartsOfEpsilonAreRoundedDown: where δ changes by more within an ulp of ε than its own rounding, its bound is at that part of
// ε which is surely left for each run.
func TestPartsOfEpsilonAreRoundedDown(t *testing.T) {
	s := New(Options{})
	if err := s.Add(farExponential{}, 3); err != nil {
		t.Fatal(err)
	}
	three := oracle.F(3)
	for i := range 40 {
		eps := 3*far + 20 + 0.37*float64(i)/40
		left := oracle.Sub(oracle.Div(oracle.F(eps), three), oracle.F(far))
		want := oracle.Scale(oracle.Mul(three, oracle.Exp(oracle.Neg(left))), 0.5)
		if got := s.elementaryDelta(eps); oracle.F(got).Cmp(want) < 0 {
			t.Errorf("three runs at ε = %v: δ is at most %v, want at least %.17g", eps, got, want)
		}
	}
}
