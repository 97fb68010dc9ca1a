package matrix

import (
	"math"
	"strings"
	"testing"
)

// TestRefusals: what is refused, with the field that is named.
func TestRefusals(t *testing.T) {
	list := must(Toeplitz([]float64{1, 0.5, 0.25}))
	rows := must(Rows([][]float64{{1}, {0.5, 1}}))
	config := func(sigma float64, n int, s Strategy, p Participation) func() error {
		return func() error { _, err := New(Config{sigma, n, s, p}); return err }
	}
	second := func(_ any, err error) func() error { return func() error { return err } }
	for _, c := range []struct {
		name string
		f    func() error
		want string
	}{
		{"no noise", config(0, 3, list, Single()), "noise-multiplier: 0 is not in"},
		{"negative noise", config(-1, 3, list, Single()), "noise-multiplier: -1 is not in"},
		{"NaN", config(math.NaN(), 3, list, Single()), "noise-multiplier: NaN is not in"},
		{"infinite", config(math.Inf(1), 3, list, Single()), "noise-multiplier: +Inf is not in"},
		{"no steps", config(1, 0, list, Single()), "steps: 0 is not an integer in"},
		{"too many steps", config(1, 1e12, list, Single()), "steps: 1000000000000 is not an integer in"},
		{"too long a tree", config(1, 1<<21, Tree(false), Single()), "steps: 2097152 is not an integer in"},
		{"no strategy", config(1, 3, Strategy{}, Single()), "strategy: is missing"},
		{"no schema", config(1, 3, list, Participation{}), "participation: is missing"},
		{"coefficients longer than steps", config(1, 2, list, Single()), "strategy: toeplitz: coefficients: has 3 numbers for 2 steps"},
		{"bands above steps", config(1, 2, rooted(3), Single()), "strategy: square-root: bands: 3 is not in [1, 2], the number of steps"},
		{"rows are not steps", config(1, 3, rows, Single()), "steps: 3 is not the number of rows of the matrix, 2"},
		{"epochs do not divide", config(1, 10, list, must(Epochs(3))), "participation: epochs: 3 does not divide the 10 steps"},
		{"cycle below bands", config(1, 10, list, must(CyclicPoisson(2, 0.1))), "participation: cyclic-poisson: cycle: 2 is below the 3 bands of the matrix; blocks overlap: not covered"},
		{"cycle above steps", config(1, 10, list, must(CyclicPoisson(11, 0.1))), "participation: cyclic-poisson: cycle: 11 is not in [1, steps]"},
		{"cyclic tree", config(1, 10, Tree(false), must(CyclicPoisson(10, 0.1))), "participation: cyclic-poisson: cycle: a tree has no bands"},
		{"cyclic blt", config(1, 10, must(BLT([]float64{0.1}, []float64{0.5})), must(CyclicPoisson(5, 0.1))), "participation: cyclic-poisson: cycle: 5 is below the 10 bands"},
		{"bands", second(SquareRoot(0)), "bands: 0 is not an integer in"},
		{"no coefficients", second(Toeplitz(nil)), "coefficients: has 0 numbers"},
		{"NaN coefficient", second(Toeplitz([]float64{1, math.NaN()})), "coefficients[1]: NaN is not 0 or in"},
		{"huge coefficient", second(Toeplitz([]float64{1, 1e200})), "coefficients[1]: 1e+200 is not 0 or in"},
		{"tiny coefficient", second(Toeplitz([]float64{1e-200})), "coefficients[0]: 1e-200 is not 0 or in"},
		{"no diagonal", second(Toeplitz([]float64{0, 1})), "coefficients[0]: 0 is not the diagonal"},
		{"no scales", second(BLT(nil, nil)), "scales: has 0 numbers"},
		{"decays", second(BLT([]float64{1}, nil)), "decays: has 0 numbers, must have as many as scales, 1"},
		{"negative scale", second(BLT([]float64{-1}, []float64{0.5})), "scales[0]: -1 is not 0 or in"},
		{"decay of 1", second(BLT([]float64{1}, []float64{1})), "decays[0]: 1 is not in [0, 1)"},
		{"no rows", second(Rows(nil)), "rows: has 0 rows"},
		{"empty row", second(Rows([][]float64{{1}, {}})), "rows[1]: has 0 numbers"},
		{"above the diagonal", second(Rows([][]float64{{1, 2}, {1, 1}})), "rows[0]: 2 in column 1 is above the diagonal"},
		{"0 on the diagonal", second(Rows([][]float64{{1}, {1, 0}})), "rows[1]: 0 is on the diagonal"},
		{"infinite entry", second(Rows([][]float64{{math.Inf(1)}})), "rows[0]: +Inf is not 0 or in"},
		{"epochs", second(Epochs(0)), "epochs: 0 is not an integer"},
		{"separation", second(MinSeparation(0, 1)), "min-separation: 0 is not an integer"},
		{"at most", second(MinSeparation(1, 0)), "at-most: 0 is not an integer"},
		{"cycle", second(CyclicPoisson(0, 0.5)), "cycle: 0 is not an integer"},
		{"rate", second(CyclicPoisson(1, 1.5)), "rate: 1.5 is not in [0, 1]"},
		{"text in a file", second(ReadCSV(strings.NewReader("1\n2,x\n"))), `rows[1]: "x" in column 1`},
		{"wide file", second(ReadCSV(strings.NewReader("1,2\n1,1\n"))), "rows[0]: 2 in column 1 is above the diagonal"},
		{"empty file", second(ReadCSV(strings.NewReader(""))), "rows: has 0 rows"},
		{"bad quotes", second(ReadCSV(strings.NewReader("\"1\n"))), "rows: "},
	} {
		err := c.f()
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// TestReadCSV: full rows, rows up to the diagonal, and rows of the band alone are one matrix.
func TestReadCSV(t *testing.T) {
	for _, text := range []string{"1,0,0\n0.5,2,0\n0,-0.25,3\n", "1\n0.5, 2\n0,-0.25,3\n", "1\n0.5,2\n-0.25,3"} {
		s, err := ReadCSV(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		c := dense(s, 3)
		if s.bands != 2 || c[0][0] != 1 || c[1][0] != 0.5 || c[1][1] != 2 || c[2][0] != 0 || c[2][1] != -0.25 || c[2][2] != 3 {
			t.Errorf("%q: %v", text, c)
		}
	}
}
