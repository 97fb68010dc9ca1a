package query

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/plan"
)

// all asks for one of each measure.
func all() []Measure {
	return []Measure{{Kind: "count"}, {Kind: "sum", Column: "x", Low: -3, High: 10}, {Kind: "mean", Column: "x", Low: -3, High: 10, Weight: 2},
		{Kind: "quantile", Column: "x", Low: 0, High: 8, Cells: 4, At: []float64{0.5, 0.9}}}
}

func read(t *testing.T, q *Query, text string) *Table {
	t.Helper()
	table, err := Read(t.Context(), q, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestSensitivity: what one person with any rows adds to each vector is at most the norm that the noise is for, in both
// orders, and some person adds all of it. A person is counted in no more groups than allowed.
func TestSensitivity(t *testing.T) {
	r := rand.New(random.Seeded(1))
	for _, q := range []Query{
		{Epsilon: 1, Delta: 1e-6, Group: []string{"g"}, Person: "id", PerPerson: 3, PerGroup: 2, Measures: all()},
		{Epsilon: 1, Keys: [][]string{{"0"}, {"1"}, {"2"}, {"3"}, {"4"}}, Group: []string{"g"}, Person: "id", PerPerson: 2, PerGroup: 1, Measures: all()},
		{Epsilon: 1, Delta: 1e-6, Group: []string{"g"}, PerPerson: 4, PerGroup: 1, Measures: all()},
	} {
		most := make([]float64, len(q.parts()))
		for trial := range 1000 {
			rows := 1 + r.IntN(12)
			if q.Person == "" {
				rows = q.PerPerson
			}
			text := "id,g,x\n"
			for range rows {
				g, x := r.IntN(5), r.IntN(24)-10
				if trial%3 == 0 {
					x = 20 // clamped, all the same
				}
				text += fmt.Sprintf("7,%d,%d\n", g*(trial%2), x)
			}
			table := read(t, &q, text)
			sums := table.add(random.Seeded(uint64(trial)))
			groups := 0
			for _, g := range sums {
				if g.Persons > 1 {
					t.Fatalf("a person is counted %d times in a group", g.Persons)
				}
				groups += int(g.Persons)
			}
			if groups > q.PerPerson {
				t.Fatalf("in %d groups of %d", groups, q.PerPerson)
			}
			for i, p := range table.parts {
				one, two := 0.0, 0.0
				for _, g := range sums {
					if g.Sums == nil {
						continue
					}
					for _, n := range g.Sums[i] {
						v := math.Abs(float64(n) * table.units[i])
						one, two = one+v, math.Hypot(two, v)
					}
				}
				if q.Delta > 0 {
					one = two
				}
				if limit := q.sensitivity(p); one > limit {
					t.Fatalf("%+v: %s moves by %v, and %v was allowed for:\n%s", q, p.name, one, limit, text)
				}
				most[i] = max(most[i], one)
			}
		}
		for i, p := range q.parts() {
			if limit := q.sensitivity(p); most[i] < 0.999*limit {
				t.Errorf("%+v: %s moves by %v at most of %v", q, p.name, most[i], limit)
			}
		}
	}
}

// TestKeysOfRows: without a column of persons, a person with at most L rows changes the number by which a group is chosen by at
// most one, in at most L groups.
func TestKeysOfRows(t *testing.T) {
	q := Query{Epsilon: 1, Delta: 1e-6, Group: []string{"group"}, PerPerson: 3, PerGroup: 1, Measures: []Measure{{Kind: "count"}}}
	r := rand.New(random.Seeded(2))
	for range 500 {
		with, without := "group\n", "group\n"
		for range 5 + r.IntN(20) {
			line := fmt.Sprintf("%d\n", r.IntN(3))
			with, without = with+line, without+line
		}
		for range 1 + r.IntN(3) {
			with += fmt.Sprintf("%d\n", r.IntN(3))
		}
		count := func(text string) map[string]int64 {
			table := read(t, &q, text)
			out := map[string]int64{}
			for i, g := range table.add(nil) {
				out[table.groups[i][0]] = g.Rows / int64(q.PerPerson)
			}
			return out
		}
		a, b := count(with), count(without)
		for g, n := range a {
			if n-b[g] > 1 || n < b[g] {
				t.Fatalf("%d became %d:\n%s", b[g], n, with)
			}
		}
	}
}

// TestPrice: the plan costs what the budget is, to a thousandth, and the noise is that of the plan; weights change its ratio.
func TestPrice(t *testing.T) {
	for _, q := range []Query{
		{Epsilon: 1, Delta: 1e-6, Group: []string{"g"}, Person: "id", PerPerson: 3, PerGroup: 2, Measures: all()},
		{Epsilon: 0.3, Delta: 1e-9, Group: []string{"g"}, PerPerson: 2, PerGroup: 1, Measures: all(), KeyWeight: 3},
		{Epsilon: 2, PerPerson: 2, PerGroup: 1, Measures: all()},
	} {
		p, err := q.Price(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !(p.Epsilon.Upper <= q.Epsilon && p.Epsilon.Upper > 0.999*q.Epsilon) {
			t.Errorf("%+v costs %v", q, p.Epsilon.Upper)
		}
		read, err := plan.Parse(t.Context(), p.Plan)
		if err != nil {
			t.Fatal(err)
		}
		if want := len(q.parts()); len(read.Steps) != want && !(q.private() && len(read.Steps) == want+1) {
			t.Errorf("%d steps:\n%s", len(read.Steps), p.Plan)
		}
		scale := map[string]float64{}
		for _, n := range p.Noise {
			scale[n.Name] = n.SD
		}
		// The count serves the mean, of weight 2, as well: both move a person by their bound, 1 and 6.5.
		if got := scale["mean(x)"] / scale["count"]; math.Abs(got-6.5) > 1e-6 {
			t.Errorf("noise of the mean over that of the count: %v", got)
		}
		if got := scale["sum(x)"] / scale["count"]; math.Abs(got-20) > 1e-6 {
			t.Errorf("noise of the sum over that of the count: %v", got)
		}
	}
}

// TestRelease: over many answers the mean is the truth and the deviation that which is told, for public groups, one of which
// is empty.
func TestRelease(t *testing.T) {
	slow.Test(t)
	q := Query{Epsilon: 4, Delta: 1e-6, Group: []string{"g"}, Keys: [][]string{{"a"}, {"b"}}, PerPerson: 1, PerGroup: 1,
		Measures: []Measure{{Kind: "count"}, {Kind: "sum", Column: "x", Low: 0, High: 10}}}
	table := read(t, &q, "g,x\n"+strings.Repeat("a,4\n", 50)+"c,4\n")
	p, err := q.Price(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const n = 4000
	truth := map[string][2]float64{"a": {50, 200}, "b": {0, 0}}
	sum, squares := map[string][2]float64{}, map[string][2]float64{}
	src := random.Seeded(3)
	for range n {
		a, err := table.Release(t.Context(), p, src)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Rows) != 2 {
			t.Fatal(a.Rows)
		}
		for _, row := range a.Rows {
			s, s2 := sum[row[0]], squares[row[0]]
			for i := range s {
				x, err := strconv.ParseFloat(row[1+i], 64)
				if err != nil {
					t.Fatal(err)
				}
				x -= truth[row[0]][i]
				s[i] += x
				s2[i] += x * x
			}
			sum[row[0]], squares[row[0]] = s, s2
		}
	}
	for g := range truth {
		for i, noise := range p.Noise {
			mean, sd := sum[g][i]/n, math.Sqrt(squares[g][i]/n)
			if math.Abs(mean) > 5*noise.SD/math.Sqrt(n) {
				t.Errorf("%s of %s: mean error %v", noise.Name, g, mean)
			}
			want := math.Sqrt(noise.SD*noise.SD + 1./12) // rounded to whole numbers
			if i == 1 {
				want = noise.SD
			}
			if math.Abs(sd/want-1) > 5/math.Sqrt(2*n) {
				t.Errorf("%s of %s: deviation %v, %v was told", noise.Name, g, sd, want)
			}
		}
	}
}

// TestPrivateGroups: a group of one person is all but never shown, one of many always, and what is shown is of groups that are
// there.
func TestPrivateGroups(t *testing.T) {
	q := Query{Epsilon: 1, Delta: 1e-6, Group: []string{"g", "h"}, Person: "id", PerPerson: 1, PerGroup: 1, Measures: all()}
	text := "id,g,h,x\n0,rare,r,1\n"
	for i := range 500 {
		text += fmt.Sprintf("%d,many,%d,%d\n", i+1, i%2, i%7)
	}
	table := read(t, &q, text)
	p, err := q.Price(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		a, err := table.Release(t.Context(), p, random.Seeded(uint64(i)))
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Rows) != 2 || a.Rows[0][0] != "many" || a.Rows[1][1] != "1" {
			t.Fatal(a.Rows)
		}
		if want := []string{"g", "h", "count", "sum_x", "mean_x", "x_q5", "x_q9"}; !slices.Equal(a.Columns, want) {
			t.Fatal(a.Columns)
		}
	}
}

// TestRefused: what a query and a table may not be, and where.
func TestRefused(t *testing.T) {
	good := func() Query {
		return Query{Epsilon: 1, Delta: 1e-6, Group: []string{"g"}, Person: "id", PerPerson: 1, PerGroup: 1, Measures: all()}
	}
	for want, change := range map[string]func(*Query){
		"budget: 0 is not in (0, 500]":                func(q *Query) { q.Epsilon = 0 },
		"budget: NaN is not in (0, 500]":              func(q *Query) { q.Epsilon = math.NaN() },
		"delta: 1 is not in [0, 1)":                   func(q *Query) { q.Delta = 1 },
		"delta: 0 cannot hide which groups exist":     func(q *Query) { q.Delta = 0 },
		"per-person: 0 is not an integer":             func(q *Query) { q.PerPerson = 0 },
		"per-group: 2 needs a column of persons":      func(q *Query) { q.PerGroup, q.Person = 2, "" },
		"count: nothing is asked for":                 func(q *Query) { q.Measures = nil },
		"count: count is asked for twice":             func(q *Query) { q.Measures = append(q.Measures, Measure{Kind: "count"}) },
		"sum: [1, 1] of \"x\" is not a range":         func(q *Query) { q.Measures[1].Low, q.Measures[1].High = 1, 1 },
		"sum: [0, +Inf] of \"x\" is not a range":      func(q *Query) { q.Measures[1].Low, q.Measures[1].High = 0, math.Inf(1) },
		"quantile: 1 cells of \"x\"":                  func(q *Query) { q.Measures[3].Cells = 1 },
		"quantile: level 1 of \"x\" is not in (0, 1)": func(q *Query) { q.Measures[3].At = []float64{1} },
		"weight: -1 of count":                         func(q *Query) { q.Measures[0].Weight = -1 },
		"keys: lists no group":                        func(q *Query) { q.Keys = [][]string{} },
		"keys: entry 1 has 2 values":                  func(q *Query) { q.Keys = [][]string{{"a", "b"}} },
		"keys: \"a\" is listed twice":                 func(q *Query) { q.Keys = [][]string{{"a"}, {"a"}} },
		"group: \"id\" is empty, named twice":         func(q *Query) { q.Group = []string{"id"} },
		"group: \"city\" is no column":                func(q *Query) { q.Group = []string{"city"} },
		"kind: ":                                      func(q *Query) { q.Measures[0].Kind = "median" },
	} {
		q := good()
		change(&q)
		if _, err := Read(t.Context(), &q, strings.NewReader("id,g,x\n1,a,2\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for text, want := range map[string]string{
		"":                   "is empty",
		"1,2,3\n":            "line 1: is no header",
		"id,g,x\n1,a\n":      "line 2: ",
		"id,g,x\n1,a,\n":     "line 2: x: \"\" is not a number",
		"id,g,x\n1,a,NaN\n":  "line 2: x: \"NaN\" is not a number",
		"id,g,x\n1,a,0x10\n": "line 2: x: \"0x10\" is not a number",
	} {
		q := good()
		if _, err := Read(t.Context(), &q, strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"", "x", "x:1", "x:1:2:3", "x:a:2", "x:1:2:"} {
		if _, err := ParseMeasure("sum", text); err == nil {
			t.Errorf("%q is a sum", text)
		}
	}
	for _, text := range []string{"x:0:1:10", "x:0:1:2.5:0.5", "x:0:1:10:y"} {
		if _, err := ParseMeasure("quantile", text); err == nil {
			t.Errorf("%q is a quantile", text)
		}
	}
}
