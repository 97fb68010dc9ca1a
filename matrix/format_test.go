package matrix

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// TestFormats: what is written as CSV is read as the same strategy; plan reads JSON.
func TestFormats(t *testing.T) {
	for _, s := range []Strategy{
		Identity(), rooted(4), Tree(true), must(Toeplitz([]float64{1, 0.1 + 0.2, -1e-9})),
		must(BLT([]float64{0.1 + 0.2, 1e-3}, []float64{1 - 0x1p-40, 0})), must(Rows([][]float64{{1}, {0.5, 2}, {0, 1e-30, 3}})),
	} {
		var b bytes.Buffer
		if err := s.WriteCSV(&b); err != nil {
			if s.kind == toeplitz || s.kind == blt || s.kind == banded {
				t.Error(err)
			}
			continue
		}
		if again, err := ReadCSV(&b); err != nil || !reflect.DeepEqual(again, s) {
			t.Errorf("%v: %v, %v", s, again, err)
		}
	}
	if _, err := json.Marshal(Strategy{}); err == nil {
		t.Error("no strategy is written")
	}
}

// TestFormatErrors: bad texts name what is wrong.
func TestFormatErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"coefficients,1,0.5\n2", "rows: line 2 has no name, as the first has"},
		{"scales,1\n", "rows: has the lines scales, must have coefficients alone"},
		{"decays,0.1\nscales,0.5\n", "rows: has the lines decays, scales"},
		{"coefficients,1,x\n", `coefficients: "x" in column 1 is not a number`},
		{"1\ncoefficients,1\n", `rows[1]: "coefficients" in column 0 is not a number`},
		{"coefficients\n", "coefficients: has 0 numbers"},
	} {
		if _, err := ReadCSV(strings.NewReader(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

// TestOptimizeToStream: what was found, written and read again runs as a stream, whose noise is as
// correlated as the error that was reported says: with x = 0 the prefix sums of a run have this
// mean square, over many runs.
func TestOptimizeToStream(t *testing.T) {
	for _, g := range []Goal{
		{Steps: 12, Participation: must(Epochs(3)), Class: "banded"},
		{Steps: 12, Participation: must(Epochs(3)), Class: "toeplitz"},
		{Steps: 12, Participation: must(Epochs(3)), Class: "blt"},
	} {
		o, err := Optimize(context.Background(), g)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := o.Strategy.WriteCSV(&b); err != nil {
			t.Fatal(err)
		}
		read, err := ReadCSV(&b)
		if err != nil {
			t.Fatal(err)
		}
		const dim = 20000
		s, err := NewStream(Config{NoiseMultiplier: o.Sensitivity.Upper, Steps: g.Steps, Strategy: read, Participation: g.Participation}, 1, dim, rand.NewPCG(1, 2))
		if err != nil {
			t.Fatal(err)
		}
		sums, total := make([]float64, dim), 0.0
		for range g.Steps {
			y, err := s.Next(make([]float64, dim))
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range y {
				sums[i] += v
				total += sums[i] * sums[i]
			}
		}
		// The mean of 240,000 squares, at least 20,000 of them independent: 1 % of standard deviation.
		mean := total / float64(dim*g.Steps)
		if want := o.RMSE * o.RMSE; mean < 0.95*want || mean > 1.05*want {
			t.Errorf("%s: %v, want %v", g.Class, mean, want)
		}
	}
}
