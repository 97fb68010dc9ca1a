package main

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

// read returns the numbers of a table by sampling and steps.
func read(t *testing.T, path string) map[string][]float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]float64{}
	for _, r := range rows[1:] {
		var v []float64
		for _, s := range r[2:] {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			v = append(v, x)
		}
		out[r[0]+" "+r[1]] = v
	}
	return out
}

// ordered checks what holds for every row: the fixed attack is at most the adaptive one,
// which is at most the recursion's end, and that at most the product's.
func ordered(t *testing.T, name string, v []float64) {
	t.Helper()
	for i := range 3 {
		if !(v[i] <= v[i+1]) {
			t.Errorf("%s: %v is above %v", name, v[i], v[i+1])
		}
	}
}

// TestTable: the kept table is in order, and the README's run is as narrow as the page says.
func TestTable(t *testing.T) {
	const table = "../../docs/experiments/scale.csv"
	if _, err := os.Stat(table); os.IsNotExist(err) {
		t.Skip("NOT CHECKED: docs/experiments/scale.csv was never computed; go run ./lab/scale writes it, in minutes")
	}
	rows := read(t, table)
	for name, v := range rows {
		ordered(t, name, v)
	}
	wor, ok := rows["without-replacement 14063"]
	// No upper end can be below the recursion that has near and reverse alone, which is 14.82.
	if !ok || !(wor[2] >= 14.82 && wor[2] <= 15.05 && wor[4] <= 2) {
		t.Errorf("the README's run: %v", wor)
	}
	if wr, ok := rows["with-replacement 14063"]; !ok || !(wr[4] <= 2) {
		t.Errorf("the README's run with replacement: %v", wr)
	}
}

// TestSmall computes a table of one step, which needs no recursion; with SLOW=2 of 20 steps, half
// a minute. What the recursion proves is tested where it is (package subsample/adaptive).
func TestSmall(t *testing.T) {
	dir, steps := t.TempDir(), int64(1)
	if slow.All() {
		steps = 20
	}
	run(t.Context(), dir, []int64{steps})
	for name, v := range read(t, filepath.Join(dir, "scale.csv")) {
		ordered(t, name, v)
	}
}

// TestTableAgain computes the kept table again.
func TestTableAgain(t *testing.T) {
	slow.Long(t)
	dir := t.TempDir()
	run(t.Context(), dir, []int64{1000, 14063})
	kept := read(t, "../../docs/experiments/scale.csv")
	for name, v := range read(t, filepath.Join(dir, "scale.csv")) {
		for i, x := range v {
			if !(math.Abs(x-kept[name][i]) <= 1.1e-4+1e-2*float64(i/4)) { // a digit of rounding
				t.Errorf("%s: %v, kept %v", name, v, kept[name])
			}
		}
	}
}
