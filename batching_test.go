package accountant_test

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/plan"
)

// TestLoaders: the numbers of the table "What does my data loader do?" of
// docs/guide/choosing-a-sampler.md enclose what the library answers, and are no wider than their
// last digits make them.
func TestLoaders(t *testing.T) {
	page, err := os.ReadFile("docs/guide/choosing-a-sampler.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ sampling, neighbors, shown string }{
		{"shuffle: {batches: 235}", "zero-out", "11.41 … 54.05"},
		{"shuffle: {batches: 234, unused: 0.0016}", "zero-out", "11.42 … 54.05"},
		{"shuffle: {batches: 235, redraw: once, epochs: 60}", "zero-out", "54.045 … 54.046"},
		{"fixed-order: {uses: 1}", "zero-out", "54.046"},
		{"poisson: {rate: …}", "add-remove", "2.382"},
		{"truncated-poisson: {rate: …, cap: 328, population: 60000}", "add-remove", "2.381 … 2.386"},
		{"balls-in-bins: {bins: 235, redraw: once, epochs: 60}", "add-remove", "48.58 … 48.60"},
		{"random-allocation: {steps: 235}", "add-remove", "2.334 … 2.336"},
		{"without-replacement: {population: 60000, batch: 256}", "zero-out", "11.79 … 12.07"},
	} {
		if !strings.Contains(string(page), "`"+c.sampling+"` | "+c.shown+" |") {
			t.Errorf("the page has no row with %s and %s", c.sampling, c.shown)
		}
		count := 60
		switch {
		case strings.Contains(c.sampling, "once"):
			count = 1
		case strings.Contains(c.sampling, "poisson"), strings.Contains(c.sampling, "without"):
			count = 14063
		}
		p, err := plan.Parse(t.Context(), fmt.Appendf(nil, "neighbors: %s\nsteps: [{mechanism: {gaussian: {noise-multiplier: 1.1}}, sampling: {%s}, count: %d}]",
			c.neighbors, strings.ReplaceAll(c.sampling, "…", "0.004266666666666667"), count))
		if err != nil {
			t.Fatal(err)
		}
		a := accountant.New(p.Neighbors)
		if err := a.AddPlan(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		iv, err := a.Epsilon(t.Context(), 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		ends := strings.Split(c.shown, " … ")
		upper := ends[len(ends)-1]
		digit := math.Pow(10, float64(strings.IndexByte(upper, '.')+1-len(upper)))
		if x := number(t, upper); !(iv.Upper <= x+1e-9 && iv.Upper > x-2*digit) {
			t.Errorf("%s: ε ≤ %v, not %v", c.sampling, iv.Upper, x)
		}
		if x := number(t, ends[0]); len(ends) > 1 && !(iv.Lower >= x-1e-9 && iv.Lower < x+2*digit) {
			t.Errorf("%s: ε ≥ %v, not %v", c.sampling, iv.Lower, x)
		}
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestManyAllocations: distinct allocations share grids, and are as narrow as asked. The intervals that theirs meet are of laws
// that were made each for itself.
func TestManyAllocations(t *testing.T) {
	for _, c := range []struct {
		steps, delta, lower, upper float64
	}{
		{steps: 30, delta: 1e-4, lower: 6.114247879, upper: 6.117449866},
		{steps: 30, delta: 1e-10, lower: 11.24237108, upper: 11.24873654},
	} {
		text := "neighbors: add-remove\nsteps:\n"
		for i := range 20 {
			text += fmt.Sprintf("  - {mechanism: {gaussian: {noise-multiplier: %.5f}}, sampling: {random-allocation: {steps: %v}}}\n", 0.8+0.004*float64(i), c.steps)
		}
		p, err := plan.Parse(t.Context(), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		a := accountant.New(p.Neighbors)
		if err := a.AddPlan(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		iv, err := a.Epsilon(t.Context(), c.delta)
		if err != nil {
			t.Fatal(err)
		}
		if !(iv.Upper >= c.lower && iv.Lower <= c.upper && iv.Upper-iv.Lower <= 1e-3*iv.Upper) || len(iv.Warnings) > 0 {
			t.Errorf("δ = %v: [%v, %v] %v; [%v, %v] alone", c.delta, iv.Lower, iv.Upper, iv.Warnings, c.lower, c.upper)
		}
	}
}
