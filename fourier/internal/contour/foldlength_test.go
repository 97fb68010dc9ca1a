package contour

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// A windowCase is a profile to be composed 1000 times on indices lo up to one of hi.
type windowCase struct {
	name   string
	p      profiles.Profile
	step   float64
	lo     int64
	hi     []int64
	points int // of a transform long enough
	eps    []float64
}

// windowCases: DP-SGD (core.md §9.1) and two pairs of must.md §7.6.
func windowCases(t *testing.T) []windowCase {
	t.Helper()
	apply := func(s subsample.FixedSize, err error) profiles.Direction {
		if err != nil {
			t.Fatal(err)
		}
		b, err := profiles.NewGaussianMechanism(4)
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.Apply(b, profiles.Substitute)
		if err != nil {
			t.Fatal(err)
		}
		return m.Directions[0]
	}
	return []windowCase{
		{"DP-SGD", dpsgd(t, 0.01, 1), 1e-3, -11, []int64{12000, 4000, 2000, 1000, 500}, 1 << 15, []float64{0.5, 1.8, 5}},
		{"WOR, bound", apply(subsample.NewWithoutReplacement(10000, 200)).Upper, 1e-3, -4000, []int64{4000, 500, 200, 100}, 1 << 15, []float64{0.1, 1}},
		{"MUST.OW, pair B", apply(subsample.NewMustOW(10000, 118, 200)).Lower, 2.5e-3, -400, []int64{12000, 2000, 800}, 1 << 17, []float64{1, 9.4}},
	}
}

// must.md §8, check 23: doubling the length changes δ by less than 1e-12.
func TestDoublingTheLength(t *testing.T) {
	for _, c := range windowCases(t) {
		up, lo := pld.Discretize(c.p, pld.Uniform(0, c.step, c.lo, c.hi[0]))
		for i, law := range []*pld.Law{up, lo} {
			for _, eps := range c.eps {
				comp := newComposition(t, Factor{NewLaw(law), 1000})
				theta := comp.cumulant().saddle(right, eps, 1)
				read := func(points int) float64 {
					return math.Exp(foldTable(t, theta, points, Gonum{}, theta/2, comp.factors...).read(eps, &unscaled).mid)
				}
				if a, b := read(c.points), read(2*c.points); !(math.Abs(a-b) < 1e-12) {
					t.Errorf("%s, law %d: delta(%v) is %v with %d points, %v with twice as many", c.name, i, eps, a, c.points, b)
				}
			}
		}
	}
}

// twice is a transform of which everything is twice as long.
type twice struct{ FFT }

func (d twice) Length(n int) int { return 2 * d.FFT.Length(n) }

// The length that a composition chooses itself: its ends move by no more than the aliasing
// and the round-off that it reports.
func TestDoublingTheChosenLength(t *testing.T) {
	for _, c := range windowCases(t) {
		up, _ := pld.Discretize(c.p, pld.Uniform(0, c.step, c.lo, c.hi[0]))
		for _, eps := range c.eps {
			var r [2]DeltaAnswer
			for i, tr := range []FFT{Gonum{}, twice{Gonum{}}} {
				comp := newComposition(t, law(up, 1000))
				comp.Fold(c.step, 1<<23, tr)
				var err error
				if r[i], err = comp.Delta(t.Context(), eps, Options{Relative: 1e-5}); err != nil {
					t.Fatal(err)
				}
			}
			x, y := r[0], r[1]
			if !(math.Abs(y.Lambda/x.Lambda-2) < 1e-12) {
				t.Fatalf("%s: periods %v and %v", c.name, x.Lambda, y.Lambda)
			}
			room := x.Aliasing + x.Rounding + x.Quadrature + x.Truncation + y.Aliasing + y.Rounding + y.Quadrature + y.Truncation
			if up, lo := math.Abs(y.LogUpper-x.LogUpper), math.Abs(y.LogLower-x.LogLower); up > room || lo > room || x.LogUpper-x.LogLower > 1e-5*max(1, -x.LogLower) {
				t.Errorf("%s: log delta(%v) is in [%v, %v], in [%v, %v] at twice the length: moves by %.1e and %.1e, wants %.1e", c.name, eps, x.LogLower, x.LogUpper, y.LogLower, y.LogUpper, lo, up, room)
			}
		}
	}
}

// must.md §8, check 23: with fewer losses kept, and what lies beyond at +∞, the δ of
// the upper law only increases.
func TestShorterLossesOnlyIncreaseDelta(t *testing.T) {
	for _, c := range windowCases(t) {
		for _, eps := range c.eps {
			var r []DeltaAnswer
			for i, hi := range c.hi {
				up, _ := pld.Discretize(c.p, pld.Uniform(0, c.step, c.lo, hi))
				comp := newComposition(t, law(up, 1000))
				comp.Fold(c.step, 1<<23, Gonum{})
				a, err := comp.Delta(t.Context(), eps, Options{Relative: 1e-5})
				if err != nil {
					t.Fatal(err)
				}
				if r = append(r, a); i > 0 && r[i].LogUpper < r[i-1].LogLower {
					t.Errorf("%s: log delta(%v) is at most %v with losses up to %d steps, at least %v with more", c.name, eps, r[i].LogUpper, c.hi[i], r[i-1].LogLower)
				}
			}
			if first, last := r[0], r[len(r)-1]; !(last.LogLower > first.LogUpper) {
				t.Errorf("%s: log delta(%v) rises from %v to %v only", c.name, eps, first.LogUpper, last.LogLower)
			}
		}
	}
}
