package main

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
)

// The page in the documentation is what the program writes: with SLOW=2 all of it, half a minute; without,
// all but the table of meshes, and of the regression what its picture shows, the first run at ε = 1.
func TestPageIsCurrent(t *testing.T) {
	slow.Test(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("last digits depend on fused multiplication")
	}
	dir := t.TempDir()
	var without []string
	if !slow.All() {
		without = []string{"Mesh size", "A synthetic regression", "Poisson loss"}
		regressions(&report{plots.Values{}, dir}, []float64{1}, 1)
		const numbers = "labeldp-regression.csv"
		if got, want := lines(t, dir, numbers), lines(t, docs, numbers); !slices.Equal(got, want) {
			t.Errorf("%s: %s", numbers, cmp.Diff(want, got))
		}
	}
	run(dir, without...)
	samePage(t, dir, "labeldp.md", without...)
}

const docs = "../../docs/experiments"

func lines(t *testing.T, dir, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")
}

// samePage compares a page that was written into dir with that of the documentation without some sections, and
// looks for its pictures and their numbers.
func samePage(t *testing.T, dir, name string, without ...string) {
	t.Helper()
	a, b := lines(t, dir, name), lines(t, docs, name)
	for _, section := range without {
		from := slices.IndexFunc(b, func(s string) bool { return strings.HasPrefix(s, "## "+section) })
		if from < 0 {
			t.Fatalf("no %q on the page", section)
		}
		next := slices.IndexFunc(b[from+1:], func(s string) bool { return strings.HasPrefix(s, "## ") })
		b = slices.Delete(b, from, from+1+next)
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("line %d: the program writes\n%s\nthe page has\n%s", i+1, a[i], b[i])
		}
	}
	if len(a) != len(b) {
		t.Errorf("the program writes %d lines, the page has %d", len(a), len(b))
	}
	for _, line := range a {
		if _, file, ok := strings.Cut(line, "]("); ok && strings.HasPrefix(line, "![") {
			name := strings.TrimSuffix(file, ")")
			for _, d := range []string{dir, docs} {
				for _, file := range []string{name, strings.TrimSuffix(name, ".png") + ".csv"} {
					if info, err := os.Stat(filepath.Join(d, file)); err != nil || info.Size() == 0 {
						t.Errorf("%s: %v", filepath.Join(d, file), err)
					}
				}
			}
		}
	}
}

// TestFlights: one trial of a sample of 6000 of them and, with SLOW=2, the page with few seeds;
// where FLIGHTS names the folder with all of them, the page in the
// documentation is compared. What must hold of any sample is that clipping and bins are
// biased and the optimum is not.
func TestFlights(t *testing.T) {
	dir := t.TempDir()
	if folder := os.Getenv("FLIGHTS"); folder != "" {
		flightsPage(dir, folder, 10)
		samePage(t, dir, "labeldp-flights.md")
		return
	}
	fs, _ := readFlights("testdata")
	train, test := splitFlights(fs)
	if len(train.y) != 4800 || len(test.y) != 1200 {
		t.Fatalf("%d and %d flights", len(train.y), len(test.y))
	}
	solve := train.solver()
	// The ridge of one flight is part of the normal equations.
	var w mat.VecDense
	if err := solve.SolveVecTo(&w, train.xy); err != nil {
		t.Fatal(err)
	}
	residual := make([]float64, len(train.y))
	for i, y := range train.y {
		residual[i] = y
		for _, a := range train.columns(i) {
			residual[i] -= w.AtVec(a)
		}
	}
	left := train.moment(residual)
	left.SubVec(left, &w)
	if mat.Norm(left, 2) > 1e-7 {
		t.Errorf("the fit leaves %v", mat.Norm(left, 2))
	}
	// Mean noisy labels of all flights: unbiased ones are within 5 standard errors.
	mean := 0.0
	for _, y := range train.y {
		mean += y / float64(len(train.y))
	}
	tried := 0
	trial(train, test, solve, test.mse(&w), 4, random.Seeded(1), func(name string, label, excess float64, noisy []float64) {
		tried++
		got := 0.0
		for _, y := range noisy {
			got += y / float64(len(noisy))
		}
		se := math.Sqrt(2 * label / float64(len(noisy)))
		// (Bins and windows keep the overall mean nearly: only groups of flights are bent.)
		if off := math.Abs(got-mean) / se; off > 5 && style(name).Line().Dashes == nil || off < 5 && (name == "clipped-laplace" || name == "randomized-response") {
			t.Errorf("%s: the mean is off by %v standard errors", name, off)
		}
		if math.IsNaN(excess) {
			t.Errorf("%s: excess %v", name, excess)
		}
	})
	if tried != len(flightMethods) {
		t.Fatalf("%d methods", tried)
	}
	for _, bad := range []string{"", "{}", "[]", `[{"delay":1.5,"distance":3,"time":2}]`, `[{"delay":1,"distance":3,"time":25}]`} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, flightsFile), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := try.Run(func() { readFlights(folder) }); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
	if !slow.All() {
		return
	}
	flightsPage(dir, "testdata", 2)
	page, err := os.ReadFile(filepath.Join(dir, "labeldp-flights.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown, err := os.ReadFile("../../docs/experiments/labeldp-flights.md")
	if err != nil {
		t.Fatal(err)
	}
	// The same sections and tables, row by row, as in the documentation.
	shape := func(page string) (rows []string) {
		for _, line := range strings.Split(page, "\n") {
			if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "![") {
				rows = append(rows, strings.TrimSpace(strings.SplitN(strings.TrimPrefix(line, "|"), "|", 2)[0]))
			}
		}
		return rows
	}
	if diff := cmp.Diff(shape(string(shown)), shape(string(page))); diff != "" {
		t.Errorf("the page has another shape than that of the documentation:\n%s", diff)
	}
}
