package lattice

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/fourier/internal/closed"
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
			terms := []term{{law, 1000, nil}}
			for _, eps := range c.eps {
				theta := (&cumulant{terms: terms, nodes: map[int]bend{}}).saddle(eps, 1)
				read := func(points int) float64 {
					return math.Exp(compose(nil, terms, theta, points, Gonum{}, []float64{theta / 4, theta / 2}).read(eps).logValue)
				}
				if a, b := read(c.points), read(2*c.points); !(math.Abs(a-b) < 1e-12) {
					t.Errorf("%s, law %d: delta(%v) is %v with %d points, %v with twice as many", c.name, i, eps, a, c.points, b)
				}
			}
		}
	}
}

// twice is a transform of which everything is twice as long.
type twice struct{ Transform }

func (d twice) Length(n int) int { return 2 * d.Transform.Length(n) }

// The length that a sum chooses itself: its ends move by no more than the aliasing
// and the round-off that it reports.
func TestDoublingTheChosenLength(t *testing.T) {
	for _, c := range windowCases(t) {
		for _, eps := range c.eps {
			var r [2]Answer
			for i, tr := range []Transform{Gonum{}, twice{Gonum{}}} {
				s := New(1<<23, tr)
				s.Set(0, closed.Step{Profile: c.p, Support: c.p.Support(), Count: 1000}, false)
				var err error
				if r[i], err = s.Delta(allowed(t), Accuracy{Relative: 1e-3}, eps, math.Inf(-1)); err != nil {
					t.Fatal(err)
				}
			}
			x, y := r[0], r[1]
			if y.Points != 2*x.Points {
				t.Fatalf("%s: %d and %d points", c.name, x.Points, y.Points)
			}
			// Reported in units of δ of either law, which agree to the width.
			room := (x.Budget.Aliasing + x.Budget.RoundOff + y.Budget.Aliasing + y.Budget.RoundOff) * (x.Upper / x.Lower)
			if up, lo := math.Abs(y.Upper-x.Upper), math.Abs(y.Lower-x.Lower); up > room || lo > room {
				t.Errorf("%s: delta(%v) is in [%v, %v], in [%v, %v] at twice the length: moves by %.1e and %.1e, wants %.1e", c.name, eps, x.Lower, x.Upper, y.Lower, y.Upper, lo, up, room)
			}
		}
	}
}

// must.md §8, check 23: with fewer losses kept, and what lies beyond at +∞, the δ of
// the upper law only increases.
func TestShorterLossesOnlyIncreaseDelta(t *testing.T) {
	for _, c := range windowCases(t) {
		var laws []term
		for _, hi := range c.hi {
			law, _ := pld.Discretize(c.p, pld.Uniform(0, c.step, c.lo, hi))
			laws = append(laws, term{law, 1000, nil})
		}
		for _, eps := range c.eps {
			var r []reading
			for i := range laws {
				theta := (&cumulant{terms: laws[i : i+1], nodes: map[int]bend{}}).saddle(eps, 1)
				r = append(r, compose(nil, laws[i:i+1], theta, c.points, Gonum{}, []float64{theta / 4, theta / 2}).read(eps))
				if i > 0 && r[i].upper() < r[i-1].lower() {
					t.Errorf("%s: log delta(%v) is at most %v with losses up to %d steps, at least %v with more", c.name, eps, r[i].upper(), c.hi[i], r[i-1].lower())
				}
			}
			if first, last := r[0], r[len(r)-1]; !(last.lower() > first.upper()) {
				t.Errorf("%s: log delta(%v) rises from %v to %v only", c.name, eps, first.upper(), last.lower())
			}
		}
	}
}
