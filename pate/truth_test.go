package pate

import (
	"encoding/json"
	"math/big"
	"os"
	"strconv"
	"testing"
)

// Costs are upper bounds in floating point too, and close ones: against values
// of testdata/golden/pate_truth.py, also where they underflow.
func TestCostsAreRoundedUp(t *testing.T) {
	data, err := os.ReadFile("../testdata/golden/pate_truth.json")
	if err != nil {
		t.Fatal(err)
	}
	var truth struct{ GNMax, GNSS [][4]string }
	if err := json.Unmarshal(data, &truth); err != nil {
		t.Fatal(err)
	}
	if len(truth.GNMax) != 400 || len(truth.GNSS) != 100 {
		t.Fatalf("%d and %d rows", len(truth.GNMax), len(truth.GNSS))
	}
	check := func(row [4]string, f func(a, b, c float64) (float64, error), rel float64) {
		t.Helper()
		var x [3]float64
		for i := range x {
			if x[i], err = strconv.ParseFloat(row[i], 64); err != nil {
				t.Fatal(err)
			}
		}
		want, _, err := big.ParseFloat(row[3], 10, 200, big.ToZero)
		if err != nil {
			t.Fatal(err)
		}
		got := must(f(x[0], x[1], x[2]))
		g := new(big.Float).SetPrec(200).SetFloat64(got)
		if g.Cmp(want) < 0 {
			t.Errorf("%v: %v is below %s", row, got, row[3])
		}
		high := new(big.Float).Mul(want, big.NewFloat(1+rel))
		high.Add(high, big.NewFloat(1e-318)) // a few times the bound on underflow
		if g.Cmp(high) > 0 {
			t.Errorf("%v: %v is not within %v of %s", row, got, rel, row[3])
		}
	}
	for _, row := range truth.GNMax {
		// The two terms cancel to 1/(4s(λ−1)/σ) of their size, for σ = 1e5 and
		// λ − 1 = 1e-3 to 1e-8 of it.
		check(row, func(sigma, order, logQ float64) (float64, error) { return gnMax{sigma}.DependentRDP(logQ, order) }, 1e-6)
	}
	for _, row := range truth.GNSS {
		// λβ and ½·log s cancel likewise, for λ − 1 = 1e-3 and β = 1e-4.
		check(row, func(order, beta, sigma float64) (float64, error) { return GNSS{order, beta}.RDP(sigma) }, 1e-4)
	}
}
