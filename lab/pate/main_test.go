package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/pate"
	"github.com/dpaccountant/accountant/rdp"
)

func near(t *testing.T, name string, got, want, rel float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*math.Abs(want)) {
		t.Errorf("%s = %.15g, want %.15g", name, got, want)
	}
}

// The page in docs is what the program writes.
func TestPageIsCurrent(t *testing.T) {
	slow.Test(t)
	kept, err := os.ReadFile(filepath.Join("..", "..", "docs", "experiments", "pate.md"))
	if err != nil {
		t.Fatal(err)
	}
	text, tables := plots.Short(page(), "pate")
	if !bytes.Equal(kept, text) {
		t.Error("docs/experiments/pate.md differs from what go run ./lab/pate writes")
	}
	for name, table := range tables {
		if kept, err := os.ReadFile(filepath.Join("..", "..", "docs", "experiments", name)); err != nil || !bytes.Equal(kept, table) {
			t.Errorf("%s is not what go run ./lab/pate writes (%v)", name, err)
		}
	}
	for _, f := range figures {
		if !bytes.Contains(kept, []byte("(pate-"+f.name+".svg)")) {
			t.Errorf("the page does not show figure %s", f.name)
		}
		if _, err := os.Stat(filepath.Join("..", "..", "docs", "experiments", "pate-"+f.name+".svg")); err != nil {
			t.Error(err)
		}
		if _, err := figure.Tiles("svg", size, []figure.Picture{f.draw()}); err != nil {
			t.Errorf("figure %s: %v", f.name, err)
		}
	}
}

// pate.md §5.4(a).
func TestTable2(t *testing.T) {
	for i, want := range []table2Result{
		{printed: 0.518392939948, exact: 1.60705584092, noise: 0.385014, sigma: 6.231205, deltaPart: .88560965, better: .66342, betterAt: 9.92574},
		{printed: 0.535473182915, exact: 0.633527830042, noise: 0.349896, sigma: 4.882167, deltaPart: 2.1254632, better: .463221, betterAt: 5.79451},
		{printed: 0.407916972234, exact: 1.76255772444, noise: 0.262944, sigma: 7.919662, deltaPart: .79399486, better: .549608, betterAt: 14.7633},
		{printed: 0.219443261217, exact: 0.416549946531, noise: 0.152320, sigma: 11.860873, deltaPart: .94465029, better: .231948, betterAt: 16.3301},
		{printed: 0.105722582544, exact: 0.339571431397, noise: 0.073392, sigma: 26.358104, deltaPart: .37593226, better: .134172, betterAt: 43.3992},
		{printed: 0.0585092990523, exact: 0.0875431626400, noise: 0.034056, sigma: 38.649631, deltaPart: .37593226, better: .0531365, betterAt: 51.3598},
	} {
		r := table2[i]
		got := r.compute()
		near(t, r.name+" printed cost", got.printed, want.printed, 1e-11)
		near(t, r.name+" exact cost", got.exact, want.exact, 1e-11)
		near(t, r.name+" noise", got.noise, want.noise, 2e-6)
		near(t, r.name+" σ", got.sigma, want.sigma, 1e-7)
		near(t, r.name+" δ", got.deltaPart, want.deltaPart, 1e-7)
		near(t, r.name+" re-optimised cost", got.better, want.better, 1e-5)
		near(t, r.name+" re-optimised σ", got.betterAt, want.betterAt, 1e-5)
		if r.order*r.beta <= .25 {
			t.Errorf("%s: λβ = %v is not above ¼", r.name, r.order*r.beta)
		}
	}
	for x, want := range map[float64]string{2.51839: "2.52 ✓", 2.5249: "2.52 ✓", 2.5251: "**2.52 ✗**", 5.49547: "**2.52 ✗**"} {
		if got := agrees(x, "2.52"); got != want {
			t.Errorf("agrees(%v) = %s, want %s", x, got, want)
		}
	}
}

// pate.md §5.4(b).
func TestIndependentRows(t *testing.T) {
	for i, want := range []struct{ c, continuous, classic, classicOrder, improved, improvedOrder float64 }{
		{0.1929722222, 3.174028955, 3.17532061755, 8.5, 2.75788694562, 8},
		{0.1910972222, 3.157635997, 3.15899068312, 9, 2.74288694562, 8},
		{2.0425, 12.66665744, 12.6749542232, 3.5, 11.8373767992, 3.5},
		{0.34625, 4.339419389, 4.34257091083, 7, 3.83650242226, 6.5},
		{1.1002, 10.10385103, 10.106170186, 5, 9.48066715657, 5},
		{0.3661083333, 5.559937259, 5.56039248723, 8, 5.12667745996, 7.5},
		{0.5181333333, 6.69692568, 6.69704679066, 7, 6.20969959419, 6.5},
	} {
		r := independent[i]
		c := r.rate()
		near(t, r.name+" c", c, want.c, 1e-9)
		near(t, r.name+" continuous", c+2*math.Sqrt(c*math.Log(1/r.delta)), want.continuous, 1e-9)
		for _, x := range []struct {
			conversion pate.Conversion
			eps, order float64
		}{{pate.Classic, want.classic, want.classicOrder}, {pate.Improved, want.improved, want.improvedOrder}} {
			e, o := onGrid(func(a float64) float64 { return c * a }, r.delta, x.conversion)
			near(t, r.name, e, x.eps, 1e-11)
			if o != x.order {
				t.Errorf("%s: order %v, want %v", r.name, o, x.order)
			}
		}
	}
}

// pate.md §5.4(c).
func TestLNMaxRows(t *testing.T) {
	for i, want := range []struct{ classic, order, tight float64 }{
		{5.30258509299, 6, 5.16135839383}, {20.1752836433, 2.5, 20.0876785276}, {14.2762042232, 3.5, 14.1444623056},
		{21.710340372, 2.5, 21.6227352562}, {13.2564627325, 3, 13.1765437591}, {18.5682722976, 3.5, 18.540751335},
	} {
		r := lnmax[i]
		e, o := onGrid(func(a float64) float64 { return r.queries * try.Must(pate.NewLNMax(r.gamma)).RDP(a) }, r.delta, pate.Classic)
		near(t, r.name, e, want.classic, 1e-11)
		if o != want.order {
			t.Errorf("%s: order %v, want %v", r.name, o, want.order)
		}
		pure, err := rdp.Pure(2 * r.gamma)
		if err != nil {
			t.Fatal(err)
		}
		e, _ = onGrid(func(a float64) float64 { return r.queries * pure.RDP(a) }, r.delta, pate.Classic)
		near(t, r.name+" tight", e, want.tight, 1e-11)
	}
}

// pate.md §5.3 and §6.1 E7, E8, E11.
func TestFacts(t *testing.T) {
	f := computeFacts()
	near(t, "LNMax q", f["laplace"].(float64), 0.02747345833, 1e-9)
	near(t, "GNMax q", f["gauss"].(float64), 0.002338867491, 1e-9)
	near(t, "B.6", f["mnistTotal"].(float64), 2.0656, 1e-5)
	near(t, "c", f["rate"].(float64), 1.107, 5e-4)
}
