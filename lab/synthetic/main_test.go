package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

const (
	digits = "../selection/testdata/digits.gz"
	pages  = "../../docs/experiments/"
)

// The first seeds give the lines of the table, and SLOW=1 the whole page.
func TestPage(t *testing.T) {
	table, err := os.ReadFile(pages + "synthetic.csv")
	if err != nil {
		t.Fatal(err)
	}
	if slow.All() { // half a minute
		page, err := os.ReadFile(pages + "synthetic.md")
		if err != nil {
			t.Fatal(err)
		}
		gotPage, gotTable := write(digits)
		if !bytes.Equal(gotPage, page) || !bytes.Equal(gotTable, table) {
			t.Error("the page differs: go run ./lab/synthetic -out docs/experiments")
		}
		return
	}
	s := steps(concentrated())
	units, same := admitted(s)
	if units <= planned || same > epsilon {
		t.Errorf("%d units, and ε = %v at %d: want more units, and less ε", units, same, planned)
	}
	d := read(digits)
	for name, units := range map[string]int{"zCDP": planned, "menu": units} {
		r := d.loop(s, units, 0)
		n, spent := 0, startCost
		for k, c := range r.rounds {
			n += c
			spent += c * s[k].cost
		}
		if spent != units {
			t.Errorf("%s: the loop spent %d of %d units", name, spent, units)
		}
		if line := fmt.Sprintf("%s,%d,0,%d,%.5f\n", name, units, n, r.error); !bytes.Contains(table, []byte(line)) {
			t.Errorf("the table lacks %q", line)
		}
	}
}

// What zCDP charges is what the types cost: ε²/8 + 1/(2σ²) of a round, and no more than ρ in all.
func TestCosts(t *testing.T) {
	const rho = 0.03
	s := steps(rho)
	for k, x := range s {
		if got, want := x.epsilon*x.epsilon/8+1/(2*x.sigma*x.sigma), rho/planned*float64(x.cost); math.Abs(got-want) > 1e-14 {
			t.Errorf("level %d is of %v-zCDP, want %v", k, got, want)
		}
	}
	if got, want := attributes/(2*s[0].sigma*s[0].sigma), rho/planned*startCost; math.Abs(got-want) > 1e-14 {
		t.Errorf("the one-way marginals are of %v-zCDP, want %v", got, want)
	}
}

// One record more changes no score by more than 1: counts of a marginal change by 1 in one cell.
func TestProject(t *testing.T) {
	d := read(digits)
	if len(d.pairs) != attributes*(attributes-1)/2 || len(d.records) != 6000 {
		t.Fatalf("%d pairs of %d records", len(d.pairs), len(d.records))
	}
	for i, m := range append(d.pairs, d.single...) {
		seen := make([]int, m.size)
		for _, c := range m.of {
			seen[c]++
		}
		for _, n := range seen {
			if n != cells/m.size {
				t.Fatalf("marginal %d: cells of the domain by cell: %v", i, seen)
			}
		}
	}
}
