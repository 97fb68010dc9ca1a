package plan

import (
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const gridText = `neighbors: add-remove
steps:
  - mechanism: {gaussian: {noise-multiplier: {linspace: [0.5, 1, 6]}}}
    sampling: {poisson: {rate: {logspace: [1e-4, 0.01, 3], zip: batch}}}
    count: {values: [100, 50*20, 1e4], zip: batch, name: steps}
`

// TestGrid: order, values and columns of ranges, products and zips.
func TestGrid(t *testing.T) {
	g, err := ParseGrid([]byte(gridText))
	if err != nil {
		t.Fatal(err)
	}
	if g.Len() != 18 || !cmp.Equal(g.Columns(), []string{"noise-multiplier", "rate", "steps"}) {
		t.Fatalf("%d plans of %q", g.Len(), g.Columns())
	}
	for i, want := range []string{"0.5 0.0001 100", "0.5 0.001 1000", "0.5 0.01 10000", "0.6 0.0001 100"} {
		v := g.At(int64(i))
		if got := strings.Join(v.Values, " "); got != want || v.Err != nil {
			t.Errorf("plan %d: %s, %v; want %s", i, got, v.Err, want)
		}
	}
	last := g.At(17)
	if got := strings.Join(last.Values, " "); got != "1 0.01 10000" {
		t.Errorf("last plan: %s", got)
	}
	// The same as a plan that is written out, and again after others were made.
	text := strings.NewReplacer("{linspace: [0.5, 1, 6]}", "0.7", "{logspace: [1e-4, 0.01, 3], zip: batch}", "0.001", "{values: [100, 50*20, 1e4], zip: batch, name: steps}", "1000").Replace(gridText)
	want, err := Parse(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := g.At(7); got.Plan.Steps[0].Mechanism != want.Steps[0].Mechanism || got.Plan.Steps[0].Count != 1000 {
		t.Errorf("plan 7 is %v, want %v", got.Plan, want)
	}
	if a, b := g.At(0).Shape, g.At(1).Shape; a == b {
		t.Errorf("another rate is of the same shape")
	}
}

// TestGridShape: plans that differ in counts have one shape, and others do not.
func TestGridShape(t *testing.T) {
	g, err := ParseGrid([]byte(`neighbors: add-remove
steps:
  - count: {values: [1, 2]}
    steps: [{mechanism: {laplace: {noise-multiplier: {values: [3, 4]}}}, count: {values: [5, 6]}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	if cols := g.Columns(); !cmp.Equal(cols, []string{"steps[0].count", "noise-multiplier", "steps[0].steps[0].count"}) {
		t.Errorf("columns %q", cols)
	}
	shapes := map[string][]int64{}
	for i := range g.Len() {
		shape := g.At(i).Shape
		shapes[shape] = append(shapes[shape], i)
	}
	if len(shapes) != 2 {
		t.Errorf("shapes %v, want two", shapes)
	}
}

// TestGridShapeOfSelection: how often a candidate's steps run is a part of what the selection is.
func TestGridShapeOfSelection(t *testing.T) {
	g, err := ParseGrid([]byte(`neighbors: add-remove
steps:
  - count: {values: [1, 2]}
    steps:
      - selection: {law: geometric, mean: 10}
        count: {values: [1, 2]}
        steps: [{mechanism: {gaussian: {noise-multiplier: 20}}, count: {values: [1, 100]}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	shapes := map[string]map[string]bool{}
	for i := range g.Len() {
		v := g.At(i)
		if shapes[v.Shape] == nil {
			shapes[v.Shape] = map[string]bool{}
		}
		shapes[v.Shape][v.Values[2]] = true
	}
	if len(shapes) != 2 {
		t.Errorf("%d shapes, want 2", len(shapes))
	}
	for shape, counts := range shapes {
		if len(counts) != 1 {
			t.Errorf("shape %s has candidates of %v runs", shape, counts)
		}
	}
}

// TestGridValues: values may be words and whole schemes, and a bad one is an error of its plans.
func TestGridValues(t *testing.T) {
	g, err := ParseGrid([]byte(`neighbors: {values: [add-remove, substitute]}
steps:
  - mechanism: {gaussian: {noise-multiplier: {values: [1, -1]}}}
    sampling: {values: [{poisson: {rate: 0.1}}, none], name: batches}
`))
	if err != nil {
		t.Fatal(err)
	}
	v := g.At(6)
	if got := strings.Join(v.Values, " "); got != `"substitute" -1 "{poisson: {rate: 0.1}}"` {
		t.Errorf("values %s", got)
	}
	if v.Err == nil || !strings.Contains(v.Err.Error(), "line 3: steps[0].mechanism.gaussian.noise-multiplier: -1 is not in") {
		t.Errorf("error %v", v.Err)
	}
	for i := range g.Len() {
		if v := g.At(i); (v.Err != nil) != (v.Values[1] == "-1") {
			t.Errorf("plan %d, %v: %v", i, v.Values, v.Err)
		}
	}
}

// TestBadGrids: what is wrong with a range has its line and path.
func TestBadGrids(t *testing.T) {
	for _, c := range []struct{ noise, rate, count, want string }{
		{"{linspace: [1, 2, 3], zip: a}", "{values: [0.1, 0.2], zip: a}", "1", "line 4: steps[0].sampling.poisson.rate: has 2 values, and steps[0].mechanism.gaussian.noise-multiplier on line 3, of the same zip a, has 3"},
		{"1", "0.1", "{logspace: [10, 1000, 4]}", "line 5: steps[0].count.logspace: value 2 is 46.4158883361, and a count is a whole number; round: true takes the nearest"},
		{"{linspace: [1, 2, 1e4]}", "{linspace: [0.1, 0.2, 1e4]}", "{values: [1, 2]}", "line 5: steps[0].count: makes a grid of more than 1e+08 plans"},
		{"{linespace: [1, 2, 3]}", "0.1", "1", `line 3: steps[0].mechanism.gaussian.noise-multiplier: unknown key "linespace"; did you mean "linspace"?`},
		{"{linspace: [1, 2]}", "0.1", "1", "line 3: steps[0].mechanism.gaussian.noise-multiplier.linspace: has 2 elements; must be [first, last, number]"},
		{"{linspace: [1, 2, 2.5]}", "0.1", "1", "linspace[2]: 2.5 is not a whole number"},
		{"{linspace: [1, 2, 0]}", "0.1", "1", "linspace[2]: 0 is not in [1, 1e+09]"},
		{"{linspace: [1, 2, 1]}", "0.1", "1", "linspace[2]: 1 value cannot be both the first and the last"},
		{"{linspace: [1, .inf, 3]}", "0.1", "1", "linspace[1]: .inf is not finite"},
		{"{linspace: [1, x, 3]}", "0.1", "1", `linspace[1]: "x" is not a number`},
		{"1", "{logspace: [0, 1, 3]}", "1", "line 4: steps[0].sampling.poisson.rate.logspace[0]: 0 is not above 0, as logspace needs"},
		{"{values: []}", "0.1", "1", "values: is empty"},
		{"{values: 3}", "0.1", "1", "values: 3 is not a list"},
		{"{values: [{values: [1]}]}", "0.1", "1", "values[0]: is a range inside of a range"},
		{"{values: [1], linspace: [1, 2, 3]}", "0.1", "1", "has both values and linspace"},
		{"{values: [1], unit: 3}", "0.1", "1", "unknown key"},
		{"{values: [1], name: 'a b'}", "0.1", "1", "name: \"a b\" is not a name"},
		{"{values: [1], name: delta}", "0.1", "1", "name: delta is a column of the answer"},
		{"{values: [1], name: q}", "{values: [0.1], name: q}", "1", "line 4: steps[0].sampling.poisson.rate: name: q is the column of steps[0].mechanism.gaussian.noise-multiplier on line 3"},
		{"{values: [1], round: perhaps}", "0.1", "1", "round: \"perhaps\" is not true or false"},
	} {
		text := "neighbors: add-remove\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: " + c.noise + "}}\n    sampling: {poisson: {rate: " + c.rate + "}}\n    count: " + c.count + "\n"
		if _, err := ParseGrid([]byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\nerror %v, want %s", text, err, c.want)
		}
	}
}

// TestLargeGrid: a plan of a grid of 10^8 is there at once and takes no memory.
func TestLargeGrid(t *testing.T) {
	g, err := ParseGrid([]byte("neighbors: add-remove\nsteps: [{mechanism: {laplace: {noise-multiplier: {linspace: [1, 2, 1e4]}}}, count: {linspace: [1, 1e4, 1e4]}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if v := g.At(g.Len() - 1); g.Len() != 1e8 || v.Err != nil || v.Plan.Steps[0].Count != 1e4 {
		t.Errorf("%d plans, the last is %v, %v", g.Len(), v.Plan, v.Err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range int64(20000) {
		g.At(i * 5000)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if more := int64(after.HeapAlloc) - int64(before.HeapAlloc); more > 1<<20 {
		t.Errorf("%d bytes are held after 20000 plans", more)
	}
}
