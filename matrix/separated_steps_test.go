package matrix_test

import (
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/matrix"
	"github.com/dpaccountant/accountant/profiles"
)

// TestSeparatedSteps: three steps, separation 2, by a sum over a grid of the three outputs: the pair
// that is attained (Theorem M3) is between the two lists, for a record that may take part at once and
// for one that may not. Identity without separation is Poisson sampling, exactly.
func TestSeparatedSteps(t *testing.T) {
	const h = 0.15
	for _, c := range []struct{ sigma, q, second float64 }{{1, 0.3, 0.6}, {0.7, 0.1, 1}, {2, 0.8, 0.3}} {
		a := separatedPlan(t, profiles.AddRemove, c.sigma, 3, 2, c.q, []float64{1, c.second})
		q := c.q
		for _, law := range []map[int]float64{
			{0: (1 - q) * (1 - q) * (1 - q), 1: q * (1 - q), 5: q * q, 2: (1 - q) * q, 4: (1 - q) * (1 - q) * q},
			{0: (1 - q) * (1 - q), 2: q, 4: (1 - q) * q},
		} {
			eps := []float64{0.05, 0.5, 1.5}
			var truth [2][3]float64
			for x := -6.0; x < 8; x += h {
				for y := -6.0; y < 8; y += h {
					for z := -6.0; z < 8; z += h {
						null := math.Exp(-(x*x+y*y+z*z)/2) * math.Pow(2*math.Pi, -1.5) * h * h * h
						p := 0.0
						for pattern, w := range law {
							var m [4]float64
							for i := range 3 {
								if pattern>>i&1 == 1 {
									m[i] += 1 / c.sigma
									m[i+1] += c.second / c.sigma
								}
							}
							p += w * math.Exp(m[0]*x+m[1]*y+m[2]*z-(m[0]*m[0]+m[1]*m[1]+m[2]*m[2])/2)
						}
						for i, e := range eps {
							truth[0][i] += max(0, p-math.Exp(e)) * null
							truth[1][i] += max(0, 1-math.Exp(e)*p) * null
						}
					}
				}
			}
			for i, e := range eps {
				got, err := a.Delta(t.Context(), e)
				if err != nil {
					t.Fatal(err)
				}
				x := max(truth[0][i], truth[1][i])
				if !(got.Lower <= x+3e-4 && x <= got.Upper+3e-4) {
					t.Errorf("%+v: δ(%v) = %v is not in [%v, %v]", c, e, x, got.Lower, got.Upper)
				}
			}
		}
	}
	got, err := separatedPlan(t, profiles.AddRemove, 1, 8, 1, 0.2, []float64{1}).Delta(t.Context(), 1)
	if err != nil || got.Gap != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func separatedPlan(t *testing.T, rel profiles.Relation, sigma float64, n, b int, q float64, c []float64) *accountant.Accountant {
	t.Helper()
	s, err := matrix.Toeplitz(c)
	if err != nil {
		t.Fatal(err)
	}
	p, err := matrix.BMinSep(b, q)
	if err != nil {
		t.Fatal(err)
	}
	r, err := matrix.New(matrix.Config{NoiseMultiplier: sigma, Steps: n, Strategy: s, Participation: p})
	if err != nil {
		t.Fatal(err)
	}
	a := accountant.New(rel)
	if err := a.Add(t.Context(), accountant.Step{Mechanism: r}, 1); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestSeparatedGap: with slots b apart the price is between those of cyclic Poisson sampling at the
// two rates, and below that of a known order, which takes part at every turn.
func TestSeparatedGap(t *testing.T) {
	const n, b, q = 1000, 10, 0.01
	c := []float64{1, 0.5, 0.4, 0.3}
	got, err := separatedPlan(t, profiles.AddRemove, 2, n, b, q, c).Epsilon(t.Context(), 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := matrix.Toeplitz(c)
	known, _ := matrix.MinSeparation(b, n/b)
	r, err := matrix.New(matrix.Config{NoiseMultiplier: 2, Steps: n, Strategy: s, Participation: known})
	if err != nil {
		t.Fatal(err)
	}
	a := accountant.New(profiles.AddRemove)
	if err := a.Add(t.Context(), accountant.Step{Mechanism: r}, 1); err != nil {
		t.Fatal(err)
	}
	open, err := a.Epsilon(t.Context(), 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	// The numbers of separated.go, each rounded.
	for i, x := range []struct{ got, page float64 }{{got.Lower, 0.2304}, {got.Upper, 7.493}, {open.Upper, 44.11}} {
		if math.Abs(x.got/x.page-1) > 2e-4 {
			t.Errorf("number %d is %v, on the page %v", i, x.got, x.page)
		}
	}
	if got.Gap == nil {
		t.Errorf("[%v, %v], in a known order %v", got.Lower, got.Upper, open.Upper)
	}
	s4, _ := matrix.Toeplitz(c)
	p, _ := matrix.BMinSep(3, q)
	if _, err := matrix.New(matrix.Config{NoiseMultiplier: 2, Steps: n, Strategy: s4, Participation: p}); err == nil || !strings.HasPrefix(err.Error(), "participation: b-min-sep: separation: 3 is below the 4 bands of the matrix") {
		t.Error(err)
	}
	p, _ = matrix.BMinSep(b, q)
	r, _ = matrix.New(matrix.Config{NoiseMultiplier: 2, Steps: n, Strategy: s, Participation: p})
	if err := accountant.New(profiles.Substitute).Add(t.Context(), accountant.Step{Mechanism: r}, 1); err == nil || !strings.Contains(err.Error(), "is not covered under substitute") {
		t.Error(err)
	}
}
