package accountant_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
)

// A schedule is n distinct steps of Poisson-sampled Gaussian noise, each run count times: step i has the noise σ(1 + i(ratio − 1)/n), at
// the rate q, or q(1 + (i mod 37)/37) where it varies.
type schedule struct {
	n           int
	count       int64
	rate, sigma float64
	ratio       float64
	varies      bool
	delta       float64
	want, unit  float64 // ε to a unit of its last digit
	width       float64 // of the interval at most, relative
	slow        bool
}

func (s schedule) accountant(t *testing.T) *accountant.Accountant {
	t.Helper()
	a := accountant.New(profiles.AddRemove)
	for i := range s.n {
		rate := s.rate
		if s.varies {
			rate *= 1 + float64(i%37)/37
		}
		step := dpsgdStep(t, rate, s.sigma*(1+float64(i)*(s.ratio-1)/float64(s.n)))
		if err := a.Add(t.Context(), step, s.count); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// TestSchedules: noise schedules are answered through the public functions as narrowly as single runs, and without a warning. The values of
// the first nine are of an independent program (numpy: nodes on a lattice in x, direct sums, two lines and periods
// each), with the ratios as it rounded them; the others are the engine's own, and hold widths: of rare jumps next to a wall that a sample of the factors does not see
// (606, 332 and 147 steps), and of columns that lost their digits (685 runs at 2.5e-4, where the condition of the sum is 6e8: its
// terms round by 2e-6 of δ).
func TestSchedules(t *testing.T) {
	for _, s := range []schedule{
		{n: 10, count: 10, rate: .001, sigma: 1, ratio: 2, varies: true, delta: 1e-6, want: .05160842521, unit: 1e-11, width: 1e-8},
		{n: 100, count: 10, rate: .001, sigma: 1, ratio: 2, varies: true, delta: 1e-6, want: .15490530385, unit: 1e-11, width: 1e-8},
		{n: 1000, count: 10, rate: .001, sigma: 1, ratio: 2, varies: true, delta: 1e-6, want: .52054566107, unit: 1e-10, width: 1e-8},
		{n: 1000, count: 100, rate: .001, sigma: 1, ratio: 2, varies: true, delta: 1e-6, want: 1.7584072347, unit: 1e-9, width: 1e-8, slow: true},
		{n: 445, count: 315, rate: .00046, sigma: 1.63, ratio: 2, delta: 1e-5, want: .26475086415, unit: 3e-11, width: 1e-8},
		{n: 445, count: 315, rate: .00046, sigma: 1.63, ratio: 2, varies: true, delta: 1e-5, want: .41248091264, unit: 1e-10, width: 1e-8, slow: true},
		{n: 606, count: 1, rate: .00025, sigma: 1.49, ratio: 2.0134, delta: 1e-8, want: .0139291758, unit: 1e-9, width: 1e-7, slow: true},
		{n: 50, count: 9, rate: .00027, sigma: 1.24, ratio: 2.016, delta: 1e-5, want: .009278550345, unit: 1e-12, width: 1e-7},
		{n: 23, count: 135, rate: .00012, sigma: .7, ratio: 2, delta: 1e-6, want: .061055128, unit: 2e-9, width: 1e-7},
		{n: 332, count: 8, rate: 1e-4, sigma: 4.4, ratio: 2.02, delta: 8.4e-7, want: .002269731068, unit: 1e-11, width: 1e-7},
		{n: 147, count: 6, rate: 5.5e-4, sigma: 4.85, ratio: 1.91, delta: 2.5e-10, want: .0121781219, unit: 1e-9, width: 1e-7},
		{n: 37, count: 685, rate: 2.5e-4, sigma: 1.1, ratio: 2.19, delta: 2.2e-12, want: .176980076, unit: 1e-8, width: 1e-6},
	} {
		t.Run(fmt.Sprintf("%dx%d/%v", s.n, s.count, s.varies), func(t *testing.T) {
			if s.slow {
				slow.Test(t)
			}
			e, err := s.accountant(t).Epsilon(t.Context(), s.delta)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("[%.13g, %.13g]", e.Lower, e.Upper)
			if !(e.Lower <= s.want+s.unit && e.Upper >= s.want-s.unit) {
				t.Errorf("ε in [%.13g, %.13g], %.13g is known", e.Lower, e.Upper, s.want)
			}
			if w := (e.Upper - e.Lower) / math.Max(e.Upper, 1e-3); !(w <= s.width) || len(e.Warnings) > 0 {
				t.Errorf("[%.13g, %.13g] is %.2g wide: %v", e.Lower, e.Upper, w, e.Warnings)
			}
		})
	}
}
