package fourier

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/internal/gonumfft"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// longSums returns sums that took minutes, or gigabytes, without a limit.
func longSums(t *testing.T, o Options) map[string]*Sum {
	t.Helper()
	one := func(b profiles.Mechanism, err error) func(s subsample.Scheme, err error) profiles.Profile {
		return func(s subsample.Scheme, e error) profiles.Profile {
			t.Helper()
			var m profiles.Bounds
			if s == nil {
				m, e = profiles.Unsampled(t.Context(), b, profiles.AddRemove)
			} else if e == nil {
				m, e = s.Apply(b, profiles.AddRemove)
			}
			if err = errors.Join(err, e); err != nil {
				t.Fatal(err)
			}
			return m.Directions[0].Upper
		}
	}
	out := map[string]*Sum{}
	add := func(name string, count int64, ps ...profiles.Profile) {
		s := New(o)
		for _, p := range ps {
			if err := s.Add(p, count); err != nil {
				t.Fatal(err)
			}
		}
		out[name] = s
	}
	poisson := one(profiles.NewGaussianMechanism(1.5))(subsample.NewPoisson(1e-3))
	add("Poisson, 1e9 runs", 1e9, poisson)
	add("with replacement, 1e9 runs", 1e9, one(profiles.NewGaussianMechanism(1.5))(subsample.NewWithReplacement(54568, 15)))
	add("without replacement, 1e9 runs", 1e9, one(profiles.NewGaussianMechanism(1.5))(subsample.NewWithoutReplacement(54568, 15)))
	add("discrete Gaussian", 9935130, one(profiles.NewDiscreteGaussianMechanism(8.47608, 1))(subsample.NewPoisson(0.0047)))
	add("Laplace", 7e11, one(profiles.NewLaplaceMechanism(6.309))(nil, nil))
	add("several steps", 1e6, poisson, one(profiles.NewLaplaceMechanism(3))(subsample.NewPoisson(0.01)), one(profiles.NewDiscreteLaplaceMechanism(4, 1))(subsample.NewPoisson(0.02)))
	return out
}

// TestWorkLimit: an answer at the limit says so, is an interval, and took no more
// work than there was, but for the pass under way.
func TestWorkLimit(t *testing.T) {
	for _, relative := range []float64{1e-6, 1e-9} {
		for name, s := range longSums(t, Options{Relative: relative, Absolute: 1e-12, Work: 2e6}) {
			for _, delta := range []float64{1e-5, 1e-50} {
				m := s.newMeter(t.Context())
				logInf, _, top := s.steps.Ends()
				floor := math.Log1p(-delta)
				q := question{Sum: s, m: m, logDelta: math.Log(delta), logInf: logInf, least: floor, most: top}
				r, err := q.lattice()
				if err != nil {
					t.Fatal(err)
				}
				if used := s.opts.Work - m.Work; !(used < 1.5*s.opts.Work) {
					t.Errorf("%s: %.3g units of work, the limit is %.3g", name, used, s.opts.Work)
				}
				if !(r.Lower <= r.Upper) || len(r.Warnings) == 0 {
					t.Errorf("%s: [%v, %v], warnings %q; want an interval and a warning", name, r.Lower, r.Upper, r.Warnings)
				}
			}
		}
	}
}

// TestLongestTransform: whatever memory there is, no transform is longer than the library's tables allow.
func TestLongestTransform(t *testing.T) {
	s := New(Options{MaxPoints: 1 << 40})
	if m := s.newMeter(t.Context()); m.Points != gonumfft.MaxLength {
		t.Errorf("transforms of %d points, want %d", m.Points, gonumfft.MaxLength)
	}
}

// TestFinerIsNotWider: at a limit of work, who asks for more is not told less.
func TestFinerIsNotWider(t *testing.T) {
	slow.Test(t)
	const work = 5e6
	epsilon, delta := map[string]Result{}, map[string]Result{}
	narrower := func(name string, relative float64, before map[string]Result, r Result) {
		t.Helper()
		if old, ok := before[name]; ok && !(old.Lower <= r.Lower && r.Upper <= old.Upper) {
			t.Errorf("%s at %g: [%v, %v], at a coarser accuracy [%v, %v]", name, relative, r.Lower, r.Upper, old.Lower, old.Upper)
		}
		before[name] = r
	}
	asked := map[string]float64{}
	for _, relative := range []float64{1e-3, 1e-6, 1e-9} {
		o := Options{Relative: relative, Absolute: 1e-12, Work: work}
		for name, s := range longSums(t, o) {
			logInf, _, top := s.steps.Ends()
			q := question{Sum: s, m: s.newMeter(t.Context()), logDelta: math.Log(1e-6), logInf: logInf, least: math.Log1p(-1e-6), most: top}
			r, err := q.lattice()
			if err != nil {
				t.Fatal(err)
			}
			narrower(name, relative, epsilon, r)
			if _, ok := asked[name]; !ok {
				asked[name] = r.Upper
			}
		}
		for name, s := range longSums(t, o) { // without the lattices of ε
			logInf, _, _ := s.steps.Ends()
			q := question{Sum: s, m: s.newMeter(t.Context()), ofDelta: true, eps: asked[name], logInf: logInf, most: 1}
			r, err := q.lattice()
			if err != nil {
				t.Fatal(err)
			}
			narrower(name, relative, delta, r)
		}
	}
}

// TestTimeLimit: a context that ends by ErrTimeLimit leaves an answer, any other an
// error.
func TestTimeLimit(t *testing.T) {
	s := longSums(t, Options{Relative: 1e-9})["Poisson, 1e9 runs"]
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Nanosecond, ErrTimeLimit)
	defer cancel()
	<-ctx.Done()
	r, err := s.Epsilon(ctx, 1e-5)
	if err != nil || !(r.Lower < r.Upper && r.Upper < 1e6) || !strings.Contains(strings.Join(r.Warnings, " "), "time limit") {
		t.Errorf("[%v, %v], %q, %v: want the Chernoff bound and a warning", r.Lower, r.Upper, r.Warnings, err)
	}
	other, stop := context.WithCancel(t.Context())
	stop()
	if _, err := s.Epsilon(other, 1e-5); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
}

// slowTransform does not return before its test ends.
type slowTransform struct {
	Transform
	began, ends chan struct{}
}

func (f slowTransform) Coefficients(x []float64) []complex128 {
	select {
	case f.began <- struct{}{}:
	default:
	}
	<-f.ends
	return f.Transform.Coefficients(x)
}

// TestCancelledTransform: a transform cannot be interrupted, and is not waited for.
func TestCancelledTransform(t *testing.T) {
	f := slowTransform{Gonum, make(chan struct{}, 1), make(chan struct{})}
	defer close(f.ends)
	s := sum(t, Options{Transform: f}, sampled(t, 1, 0.01), 1000)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-f.began
		cancel()
	}()
	if _, err := s.Epsilon(ctx, 1e-5); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
}

// TestDeepLattice: deep δ of laws with atoms, or with tails heavier than any
// exponential, of which lower ends were those of far larger δ.
func TestDeepLattice(t *testing.T) {
	slow.Test(t)
	profile := func(b profiles.Mechanism, s subsample.Scheme, err error) profiles.Profile {
		t.Helper()
		var m profiles.Bounds
		if err == nil {
			m, err = s.Apply(b, profiles.AddRemove)
		}
		if err != nil {
			t.Fatal(err)
		}
		return m.Directions[0].Upper
	}
	integers, err := profiles.NewDiscreteGaussianMechanism(1.8478, 1)
	if err != nil {
		t.Fatal(err)
	}
	poisson, errP := subsample.NewPoisson(0.0035515)
	gaussian := func(noise float64, s subsample.Scheme, err error) profiles.Profile {
		t.Helper()
		b, e := profiles.NewGaussianMechanism(noise)
		return profile(b, s, errors.Join(err, e))
	}
	replaced := func(population, batch int64, noise float64) profiles.Profile {
		t.Helper()
		s, err := subsample.NewWithReplacement(population, batch)
		return gaussian(noise, s, err)
	}
	twice, errT := subsample.NewMustWW(10000, 1000, 200)
	tiny, errY := subsample.NewPoisson(1e-6)
	for i, c := range []struct {
		name   string
		p      profiles.Profile
		runs   int64
		deltas []float64
	}{
		{"discrete Gaussian, Poisson", profile(integers, poisson, errP), 13302, []float64{1e-5, 1e-300}},
		{"discrete Gaussian at a tiny rate, 2 runs", profile(integers, tiny, errY), 2, []float64{1e-20, 1e-60, 1e-300}},
		{"discrete Gaussian at a tiny rate, 3 runs", profile(integers, tiny, errY), 3, []float64{1e-20, 1e-300}},
		{"discrete Gaussian at a tiny rate, 1000 runs", profile(integers, tiny, errY), 1000, []float64{1e-20, 1e-300}},
		{"Gaussian 4, with replacement 10000/200", replaced(10000, 200, 4), 1000, []float64{1e-5, 1e-40, 1e-300}},
		{"Gaussian 4, with replacement 60000/256", replaced(60000, 256, 4), 1000, []float64{1e-100}},
		{"Gaussian 1, with replacement 10000/200", replaced(10000, 200, 1), 1000, []float64{1e-30, 1e-300}},
		{"Gaussian 1/2, with replacement 10000/200, 10 runs", replaced(10000, 200, 0.5), 10, []float64{1e-60, 1e-300}},
		{"Gaussian 1, MUST.WW", gaussian(1, twice, errT), 1000, []float64{1e-30, 1e-60}},
	} {
		if (i%2 != 0 || i == 6) && !slow.All() {
			continue // the seventh is of the kind of the fifth
		}
		before := 0.0
		for _, delta := range c.deltas {
			s := New(Options{})
			if err := s.Add(c.p, c.runs); err != nil {
				t.Fatal(err)
			}
			r, err := s.Epsilon(t.Context(), delta)
			if err != nil {
				t.Fatal(err)
			}
			if width := r.Upper - r.Lower; !(width <= max(1e-3*r.Upper, s.opts.Absolute)) || r.Loose || !(r.Upper > before) {
				t.Errorf("%s at %v: [%v, %v], estimate %v, warnings %q", c.name, delta, r.Lower, r.Upper, r.Estimate, r.Warnings)
			}
			before = r.Lower
		}
	}
}
