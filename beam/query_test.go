package beam

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/dpaccountant/accountant/cmd/query"
)

// TestQuery: with hardly any noise the answer is that of the rows, of a person as many as may count; public groups without a
// row are in it; private groups of one person are not; and bundles that come in another order change nothing.
func TestQuery(t *testing.T) {
	measures, err := query.ParseMeasures(true, []string{"x:0:10"}, nil, []string{"x:0:10:10:0.5"})
	if err != nil {
		t.Fatal(err)
	}
	q := query.Query{Epsilon: 400, Delta: 1e-3, Group: []string{"g"}, Keys: [][]string{{"a"}, {"b,c"}, {"none"}}, Person: "id", PerPerson: 2, PerGroup: 3, Measures: measures}
	layout := Layout{Format: CSV, Header: "id,g,x"}
	var lines []Line
	add := func(person, group string, x int) {
		text := joinCSV([]string{person, group, fmt.Sprint(x)})
		lines = append(lines, Line{"f", int64(len(lines)), text})
	}
	for i := range 300 {
		add(fmt.Sprint("p", i), "a", 4)
		add(fmt.Sprint("p", i), "b,c", 7)
		add(fmt.Sprint("p", i), "elsewhere", 7) // not public: it takes no place
	}
	for range 20 { // of which 3 count
		add("greedy", "a", 4)
	}
	lines = append(lines, Line{"f", 1 << 20, "p1,a,many"})
	ask := func(q query.Query, lines []Line) (rows []string, refused int) {
		price, err := q.Price(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f := QueryFields{Layout: layout, Query: q}
		if err := f.Check(); err != nil {
			t.Fatal(err)
		}
		mustRun(t, func(s beam.Scope) {
			read, dead := QueryRows(s, f, beam.CreateList(s, lines))
			collect(s, "answer", Query(s, QueryOptions{Query: q, Paid: price.Paid, Key: keyFile(t, "d2")}, read))
			collect(s, "refused", beam.ParDo(s, DeadText, dead))
		})
		for _, text := range got("answer") {
			_, row, _ := strings.Cut(text, "\n")
			rows = append(rows, row)
		}
		slices.Sort(rows)
		return rows, len(got("refused"))
	}
	rows, refused := ask(q, lines)
	if refused != 1 || len(rows) != 3 {
		t.Fatalf("%d refused, %q", refused, rows)
	}
	near := func(row, prefix string, want ...float64) {
		t.Helper()
		rest, ok := strings.CutPrefix(row, prefix)
		cells := strings.Split(rest, ",")
		if !ok || len(cells) != 3 {
			t.Fatalf("%q", row)
		}
		for i, x := range want {
			if got, err := strconv.ParseFloat(cells[i], 64); err != nil || got < x-0.02*x-6 || got > x+0.02*x+6 {
				t.Errorf("%q, want about %v", row, want)
			}
		}
	}
	near(rows[0], `"b,c",`, 300, 2100)
	near(rows[1], "a,", 303, 1212)
	near(rows[2], "none,", 0, 0)
	slices.Reverse(lines)
	if again, _ := ask(q, lines); !slices.Equal(again, rows) {
		t.Errorf("%q, was %q", again, rows)
	}
	// Private groups.
	q.Keys, q.Epsilon, q.Delta = nil, 2, 1e-9
	for range 3 {
		add("alone", "rare", 1)
	}
	rows, _ = ask(q, lines)
	names := ""
	for _, row := range rows {
		names += row[:1]
	}
	if names != `"ae` {
		t.Errorf("%q", rows)
	}
	// One group, and nobody told apart.
	q = query.Query{Epsilon: 300, PerPerson: 1, PerGroup: 1, Measures: measures[:1]}
	if rows, _ = ask(q, lines); !slices.Equal(rows, []string{fmt.Sprint(len(lines))}) {
		t.Errorf("%q", rows)
	}
}
