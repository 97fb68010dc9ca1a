package plan

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// FuzzGrid: no grid panics, and an error is one line; its columns have different names, none of an
// answer; each of its plans is one or has an error, has a value of JSON for each column, of one type, is the
// same when it is asked for again, and is what its text says.
func FuzzGrid(f *testing.F) {
	f.Add([]byte(gridText))
	example, err := os.ReadFile("../examples/sweep/grid.yml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	for _, text := range []string{
		"neighbors: {values: [add-remove, substitute]}\nsteps: [{mechanism: {values: [{laplace: {noise-multiplier: 2}}, 7]}, count: {values: [1, 1e2, 256/2]}}]",
		"neighbors: add-remove\nsteps: [{selection: {law: geometric, mean: {linspace: [1, 20, 3]}}, steps: [{mechanism: {pure: {epsilon: 1}}, count: {values: [1, 2], zip: a}}], count: {values: [3, 4], zip: a}}]",
		"neighbors: add-remove\nsteps: {values: [[{mechanism: {pure: {epsilon: 1}}}], 3], name: all}",
		"neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: {logspace: [1e-300, 1e300, 7]}}}, count: {linspace: [0, 9e15, 4], round: true}}]",
		"values: [1]", "neighbors: {linspace: [1, 2, 1e9]}\nsteps: {logspace: [1, 2, 1e9], zip: a}", "records-per-person: {values: [1, 2, 0]}\nneighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 1}}}]",
		`{"class_name": "dp_event.SelfComposedDpEvent", "count": {"values": [1, 2]}, "event": {"class_name": "dp_event.GaussianDpEvent", "noise_multiplier": {"values": [1, 2]}}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if v := ParseVariant(text); (v.Err == nil) != (v.Plan != nil) || v.Err != nil && strings.ContainsAny(v.Err.Error(), "\n\r") {
			t.Errorf("a line is the plan %v and the error %v", v.Plan, v.Err)
		}
		g, err := ParseGrid(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("error has several lines: %q", err)
			}
			return
		}
		columns := g.Columns()
		for i, c := range columns {
			if slices.Contains(columns[:i], c) || slices.Contains(reservedColumns, c) {
				t.Errorf("columns %q", columns)
			}
		}
		if g.Len() < 1 || g.Len() > maxGrid {
			t.Fatalf("%d plans", g.Len())
		}
		var kinds []bool // which columns are of text
		for _, i := range []int64{0, g.Len() / 2, g.Len() - 1, 0} {
			v := g.At(i)
			if (v.Plan == nil) != (v.Err != nil) || v.Err != nil && strings.ContainsAny(v.Err.Error(), "\n\r") {
				t.Fatalf("plan %d: %v, %v", i, v.Plan, v.Err)
			}
			if len(v.Values) != len(columns) {
				t.Fatalf("plan %d has %d values of %d columns", i, len(v.Values), len(columns))
			}
			for k, c := range v.Values {
				text := strings.HasPrefix(c, `"`)
				if !json.Valid([]byte(c)) || !text && strings.Trim(c, "-+.0123456789e") != "" {
					t.Errorf("column %s has the value %s", columns[k], c)
				}
				if len(kinds) <= k {
					kinds = append(kinds, text)
				}
				if kinds[k] != text {
					t.Errorf("column %s has values of two types, such as %s", columns[k], c)
				}
			}
			// The text of the plan stands for the same. (A plan without one is an error of several places: its line is not kept.)
			again := ParseVariant([]byte(g.Text(i)))
			if (again.Err != nil) != (v.Err != nil) {
				t.Errorf("plan %d: error %v, and of its text %s: %v", i, v.Err, g.Text(i), again.Err)
			}
			if other := g.At(i); other.Shape != v.Shape || !slices.Equal(other.Values, v.Values) {
				t.Errorf("plan %d is %v, then %v", i, v, other)
			}
		}
	})
}

// Text returns plan i as the text of a plan, on one line.
func (g *Grid) Text(i int64) string {
	g.At(i)
	return flow(g.root)
}
