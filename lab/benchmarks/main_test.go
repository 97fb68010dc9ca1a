package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Both lines of the picture add up to δ, and only the wrong one needs terms that are far
// larger than their sum.
func TestContourPicture(t *testing.T) {
	for _, c := range []struct{ theta, least, most float64 }{{best(), 0, 0.4}, {best() / 4, 100, 110}} {
		_, sum := terms(c.theta, 0.0625, 12)
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("on the line through %g the terms add up to %v times δ", c.theta, sum)
		}
		pts, _ := terms(c.theta, 0.25, 3)
		largest := 0.0
		for _, p := range pts {
			largest = max(largest, math.Abs(p.Y))
		}
		if !(c.least <= largest && largest <= c.most) {
			t.Errorf("on the line through %g the largest term is %v times δ", c.theta, largest)
		}
	}
	// By Python's math.erfc.
	if got, want := exact(), 9.940202816118127e-06; math.Abs(got/want-1) > 1e-12 {
		t.Errorf("δ = %v, want %v", got, want)
	}
}

// A short sweep writes a picture and its data.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	for _, s := range []sweep{accuracies(), counts(), distinct()} {
		s.values = s.values[len(s.values)-2:]
		if s.name == "distinct" {
			s.values = []float64{1, 3}
		}
		for i := range s.lines {
			if s.lines[i].name != "as asked by default" {
				s.lines = s.lines[:1]
				break
			}
		}
		s.run(t.Context(), dir, 1)
		data, err := os.ReadFile(filepath.Join(dir, "benchmarks-"+s.name+".csv"))
		if err != nil || strings.Count(string(data), "\n") < 2 {
			t.Errorf("%s: data %q, %v", s.name, data, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "benchmarks-"+s.name+".svg")); err != nil {
			t.Error(err)
		}
	}
}

// A table of one small setting has a row for each scheme, relation and noise.
func TestSchemesTable(t *testing.T) {
	defer func(runs []int64) { runsOf = runs }(runsOf)
	runsOf = runsOf[:1]
	var b strings.Builder
	dir := t.TempDir()
	schemesTable(t.Context(), &b, dir, 1, []setting{{100, 10, 20, 4}})
	data, err := os.ReadFile(filepath.Join(dir, "benchmarks-schemes.csv"))
	if err != nil || strings.Count(string(data), "\n") != 25 || strings.Count(b.String(), "| must-ww |") != 4 {
		t.Errorf("data %q, %v; table %s", data, err, b.String())
	}
}

func TestLowerBound(t *testing.T) {
	for limit, want := range map[float64]int{0: 0, 1: 1, 1.5: 1, 2: 3, 9: 4} {
		if got := lowerBound([]float64{1, 2, 2, 5}, limit); got != want {
			t.Errorf("first above %v: %d, want %d", limit, got, want)
		}
	}
}
