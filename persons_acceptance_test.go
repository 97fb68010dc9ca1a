package accountant_test

// The acceptance checks of persons that are not tables: the number of each is that of
// the list they come from (subsample/persons.go has the theorems).

import (
	"context"
	"math"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

func personsEpsilon(t *testing.T, r profiles.Relation, sigma, rate float64, steps, records int64, delta float64, opts ...accountant.Options) accountant.Interval {
	t.Helper()
	iv, err := personsRun(t, r, sigma, rate, steps, records, opts...).Epsilon(context.Background(), delta)
	if err != nil {
		t.Fatal(err)
	}
	return iv
}

// Check 4: where σ is large and k·q small, the run is near Gaussian with k times the μ, and ε_k/ε_1 at an ε proportional
// to μ tends to k. At a fixed δ the ratio is the one of δ's Gaussian curve.
func TestPersonsGaussianLimit(t *testing.T) {
	// μ = q·√T/σ is that of the limit: 0.02 for one record.
	const rate, sigma, steps = 1e-3, 50, 1e6
	mu := rate * math.Sqrt(steps) / sigma
	for _, records := range []int64{2, 8, 32} {
		iv := personsEpsilon(t, profiles.AddRemove, sigma, rate, steps, records, 1e-6)
		want, err := gaussianEpsilon(mu*float64(records), 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if off := iv.Upper/want - 1; math.Abs(off) > 1e-2 {
			t.Errorf("%d records: ε = %v, the limit's %v", records, iv.Upper, want)
		}
	}
}

// gaussianEpsilon is ε of one run with Gaussian noise of that μ.
func gaussianEpsilon(mu, delta float64) (float64, error) {
	b, err := profiles.NewGaussianMechanism(1 / mu)
	if err != nil {
		return 0, err
	}
	a := accountant.New(profiles.AddRemove)
	if err := a.Add(context.Background(), accountant.Step{Mechanism: b}, 1); err != nil {
		return 0, err
	}
	iv, err := a.Epsilon(context.Background(), delta)
	return iv.Upper, err
}

// Check 5: what is certified of k records is below the chain of the certified curve of one record, and below k times the
// ε of a pure bound.
func TestPersonsBelowBlackBox(t *testing.T) {
	for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute} {
		for _, records := range []int64{2, 4} {
			one := personsRun(t, r, 1, 0.01, 100, 1)
			iv := personsEpsilon(t, r, 1, 0.01, 100, records, 1e-5)
			// Vadhan 2017, Lemma 2.2: (ε, δ) for one is (kε, δ(e^{kε} − 1)/(e^ε − 1)) for k.
			best := math.Inf(1)
			for eps := 0.25; eps < 40; eps += 0.25 {
				d, err := one.Delta(context.Background(), eps)
				if err != nil {
					t.Fatal(err)
				}
				if k := float64(records); d.Upper*math.Expm1(k*eps)/math.Expm1(eps) <= 1e-5 {
					best = k * eps // the first is the least
					break
				}
			}
			if !(iv.Upper < best) || math.IsInf(best, 0) {
				t.Errorf("%v, %d records: ε ≤ %v, of single records' curve %v", r, records, iv.Upper, best)
			}
			// Persons with fewer records lose less.
			if less := personsEpsilon(t, r, 1, 0.01, 100, records-1, 1e-5); !(less.Upper < iv.Lower) {
				t.Errorf("%v: %d records %v, one fewer %v", r, records, iv.Lower, less.Upper)
			}
		}
	}
}

// Check 6: of two records with vectors of norm at most 1 in the plane, none has a larger divergence than equal ones.
// The divergence is a sum over a grid of the plane, which for equal vectors gives the certified one.
func TestPersonsVectorsInThePlane(t *testing.T) {
	const rate, sigma, step, reach = 0.3, 1.0, 0.04, 6.5
	b, err := profiles.NewGaussianMechanism(sigma)
	if err != nil {
		t.Fatal(err)
	}
	s, err := subsample.NewPoisson(rate)
	if err != nil {
		t.Fatal(err)
	}
	type vector [2]float64
	divergences := func(v [2]vector, alpha float64) (remove, add float64) {
		density := func(x, y float64, c vector) float64 {
			return math.Exp(-((x-c[0])*(x-c[0])+(y-c[1])*(y-c[1]))/2) / (2 * math.Pi)
		}
		both := vector{v[0][0] + v[1][0], v[0][1] + v[1][1]}
		for x := -reach; x <= reach+2; x += step {
			for y := -reach; y <= reach+2; y += step {
				q := density(x, y, vector{})
				p := (1-rate)*(1-rate)*q + rate*(1-rate)*(density(x, y, v[0])+density(x, y, v[1])) + rate*rate*density(x, y, both)
				remove += max(0, p-alpha*q) * step * step
				add += max(0, q-alpha*p) * step * step
			}
		}
		return remove, add
	}
	m, err := subsample.Of(context.Background(), b, s, profiles.AddRemove, 2)
	if err != nil {
		t.Fatal(err)
	}
	// In a cell at the kink the middle is off by at most |gradient|·step/8 of its area; the gradient is below 0.1 and
	// the kink in the plane is shorter than 8.
	const tol = 0.1 * 8 * step * step / 8
	for _, eps := range []float64{0.1, 0.5, 1} {
		want := [2]float64{}
		for d := range want {
			l, _ := profiles.LogDelta(m.Directions[d].Upper, eps)
			want[d] = math.Exp(l)
		}
		same, sameAdd := divergences([2]vector{{1, 0}, {1, 0}}, math.Exp(eps))
		if math.Abs(same-want[0]) > tol || math.Abs(sameAdd-want[1]) > tol {
			t.Errorf("ε %v: equal vectors have %v and %v, certified %v", eps, same, sameAdd, want)
		}
		for _, angle := range []float64{0.4, 1, 2, math.Pi} {
			for _, norm := range []float64{0.5, 1} {
				remove, add := divergences([2]vector{{1, 0}, {norm * math.Cos(angle), norm * math.Sin(angle)}}, math.Exp(eps))
				if remove > want[0]+tol || add > want[1]+tol {
					t.Errorf("ε %v, angle %v, norm %v: %v and %v, above %v", eps, angle, norm, remove, add, want)
				}
			}
		}
	}
}

// Check 7: the opposite pair of one record is that of a substitution under Poisson sampling.
func TestPersonsOppositeOfOneRecord(t *testing.T) {
	for _, rate := range []float64{1e-3, 0.2} {
		mixture, err := subsample.NewGaussianMixture(1.3, []float64{0, 1}, []float64{1 - rate, rate})
		if err != nil {
			t.Fatal(err)
		}
		pair, err := mixture.Pair(profiles.Substitute)
		if err != nil {
			t.Fatal(err)
		}
		b, err := profiles.NewGaussianMechanism(1.3)
		if err != nil {
			t.Fatal(err)
		}
		s, err := subsample.NewPoisson(rate)
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.Apply(b, profiles.Substitute)
		if err != nil {
			t.Fatal(err)
		}
		for eps := -1.0; eps < 4; eps += 0.25 {
			got, e := profiles.LogDelta(pair, eps)
			want, f := profiles.LogDelta(m.Directions[0].Upper, eps)
			if math.Abs(got-want) > e+f+1e-12 {
				t.Errorf("rate %v, ε %v: log δ %v, by Poisson %v", rate, eps, got, want)
			}
		}
	}
}

// Check 11: at an accuracy of 1e-6 the interval of two records of this run was 1e-5 wide.
func TestPersonsReachTheirAccuracy(t *testing.T) {
	iv := personsEpsilon(t, profiles.AddRemove, 1.1, 256./60000, 14063, 2, 1e-5, accountant.Options{Accuracy: 1e-6})
	if len(iv.Warnings) > 0 || iv.Upper-iv.Lower > 1e-6*iv.Upper {
		t.Errorf("[%v, %v] %v", iv.Lower, iv.Upper, iv.Warnings)
	}
	// Nor where hardly any record is left out.
	iv = personsEpsilon(t, profiles.Substitute, 3, 0.3, 1, 64, 1e-5, accountant.Options{Accuracy: 1e-6})
	if len(iv.Warnings) > 0 || iv.Upper-iv.Lower > 1e-6*iv.Upper {
		t.Errorf("64 records: [%v, %v] %v", iv.Lower, iv.Upper, iv.Warnings)
	}
}

// Sixty-four records of a dense run are one integral, as one record is, and both engines agree.
func TestPersonsByBothEngines(t *testing.T) {
	for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute} {
		for _, c := range []struct {
			sigma, rate float64
			steps       int64
		}{{3, 0.1, 100}, {10, 0.3, 100}, {3, 0.01, 1000}} {
			iv := personsEpsilon(t, r, c.sigma, c.rate, c.steps, 64, 1e-5)
			lattice := personsEpsilon(t, r, c.sigma, c.rate, c.steps, 64, 1e-5, accountant.Options{Transform: fourier.Gonum})
			if !(lattice.Lower <= iv.Lower && iv.Upper <= lattice.Upper) || iv.Upper-iv.Lower > 1e-8*iv.Upper {
				t.Errorf("%v %+v: [%v, %v] by %v, lattices [%v, %v]", r, c, iv.Lower, iv.Upper, iv.Engine, lattice.Lower, lattice.Upper)
			}
		}
	}
}

// An interval about persons that is wider than asked has a warning that says so, whatever made it wide: rounding,
// or a limit of work or memory.
func TestPersonsNothingSilentlyWider(t *testing.T) {
	slow.Test(t)
	const accuracy = 1e-6
	wide := 0
	for _, c := range []struct {
		r              profiles.Relation
		sigma, rate    float64
		steps, records int64
		delta          float64
		opts           []accountant.Options
	}{
		{profiles.AddRemove, 10, 1e-4, 100, 8, 1e-5, nil},
		{profiles.AddRemove, 3, 1e-4, 1e4, 2, 1e-30, nil},
		{profiles.AddRemove, 0.5, 1e-4, 100, 64, 1e-30, []accountant.Options{{WorkLimit: 1e5}}},
		{profiles.Substitute, 0.5, 1e-3, 100, 64, 1e-10, []accountant.Options{{Memory: 1 << 20}}},
		{profiles.Substitute, 1, 1e-3, 100, 8, 1e-10, []accountant.Options{{Transform: fourier.Gonum, WorkLimit: 1e6}}},
		{profiles.AddRemove, 3, 0.1, 100, 64, 1e-5, []accountant.Options{{WorkLimit: 10}}},
		{profiles.AddRemove, 1, 1, 1, 64, 1e-300, nil},
		{profiles.Substitute, 0.3, 0.3, 1, 64, 1e-300, nil},
		{profiles.Substitute, 1, 0.3, 1e5, 64, 1e-10, nil},
	} {
		opts := append([]accountant.Options{{Accuracy: accuracy}}, c.opts...)
		iv := personsEpsilon(t, c.r, c.sigma, c.rate, c.steps, c.records, c.delta, opts...)
		// The accuracy is relative, and for ε next to 0 absolute: a thousandth of it.
		if width := iv.Upper - iv.Lower; !(width <= accuracy*math.Max(math.Abs(iv.Upper), 1e-3)) {
			wide++
			if len(iv.Warnings) == 0 {
				t.Errorf("%+v: [%v, %v] by %v has no warning", c, iv.Lower, iv.Upper, iv.Engine)
			}
		}
	}
	if wide < 4 {
		t.Errorf("only %d intervals are wider than asked: the test sees little", wide)
	}
}
