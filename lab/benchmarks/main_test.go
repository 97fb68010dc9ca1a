package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

// Both lines of the picture add up to δ, and only the wrong one needs terms that are far
// larger than their sum.
func TestContourPicture(t *testing.T) {
	for _, c := range []struct{ theta, least, most float64 }{{best(), 0, 0.4}, {best() / 4, 100, 110}} {
		_, sum := terms(c.theta, 0.0625, 12)
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("on the line through %g the terms add up to %v times δ", c.theta, sum)
		}
		ends, _ := terms(c.theta, 0.25, 3)
		largest := 0.0
		for _, v := range ends.Proved {
			largest = max(largest, math.Abs(v))
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

// Every question but the largest is answered by this library, and a peer that is not there is said to be missing.
func TestQuestions(t *testing.T) {
	b := &bench{ctx: t.Context(), python: "no such python", rounds: 1}
	asks := map[string]bool{}
	var qs []question
	for _, q := range questions() {
		// One question of each kind, and each plan that is no schedule once, of them a third in the gate.
		each := q.Schedule == nil && q.X <= 1 && q.Group != "how batches are drawn" && (slow.All() || len(q.Plan)%3 == 0)
		if kind := q.Group + q.Ask; q.Recursion == 0 && len(q.Plan) < 2e5 && (!asks[kind] || each) {
			asks[kind] = true
			qs = append(qs, q)
		}
	}
	missing, groups := 0, map[string][]row{}
	for _, r := range b.measure(qs, "") {
		groups[r.Group] = append(groups[r.Group], r)
		switch {
		case r.Note == "missing" && r.Who != ours:
			missing++
		case r.Who != ours || r.Upper == nil || !(*r.Lower <= *r.Upper && *r.Upper > 0 && r.Cost > 0):
			t.Errorf("%+v", r)
		}
	}
	if missing == 0 || len(asks) < 12 {
		t.Errorf("%d answers are missing, %d kinds of questions", missing, len(asks))
	}
	if text := table(groups["schedules"]); !strings.Contains(text, "| missing | missing |") {
		t.Errorf("table %s", text)
	}
}

// The page and the pictures are those of the data.
func TestRedraw(t *testing.T) {
	t.Chdir("../..")
	data, err := os.ReadFile("docs/experiments/benchmarks.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, shelf := range []string{"experiments", "reference"} {
		if err := os.Mkdir(filepath.Join(dir, shelf), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	drawAll(dir, rows)
	names := []string{"reference/benchmarks.md"}
	for _, p := range pictures {
		names = append(names, "experiments/benchmarks-"+p.group+".svg")
	}
	for _, name := range names {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if want, err := os.ReadFile(filepath.Join("docs", name)); err != nil || string(got) != string(want) {
			t.Errorf("%s is not what the data gives: go run ./lab/benchmarks -out docs -redraw (%v)", name, err)
		}
	}
	for _, q := range questions() {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.Question == q.Name && r.Group == q.Group && r.X == q.X }) {
			t.Errorf("no answer to %s, %s", q.Group, q.Name)
		}
	}
}

// What another accountant proves is compared with this library's interval.
func TestCell(t *testing.T) {
	end := func(x float64) *float64 { return &x }
	own := row{Who: ours, said: said{Cost: 0.734, Lower: end(2), Upper: end(2.0000001), Width: 5e-8}}
	for want, r := range map[string]row{
		"0.73: 2 (5e-08)":            own,
		"1200: ≤ 1.99, **wrong** ":   {Who: "dp_accounting", said: said{Cost: 1234, Upper: end(1.99)}},
		"12: ≤ 2.01 Rényi":           {Who: "dp_accounting", said: said{Cost: 12.3, Upper: end(2.01), Note: "Rényi"}},
		"5.0: [2.1, 2.2], **wrong**": {Who: "prv_accountant", said: said{Cost: 5, Lower: end(2.1), Upper: end(2.2)}},
		"0.012: [1.9, 2.2]":          {Who: "prv_accountant", said: said{Cost: 0.0123, Lower: end(1.9), Upper: end(2.2)}},
		"more than 60 s":             {Who: "prv_accountant", said: said{Cost: 5, Note: "more than 60 s"}},
		"–":                          {Who: "prv_accountant", said: said{Note: "no substitute"}},
	} {
		if got := r.cell(own); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
