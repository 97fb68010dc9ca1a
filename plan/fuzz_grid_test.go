package plan

import (
	"strings"
	"testing"
)

// FuzzGrid: whatever the text, a grid is refused in one line, or it has the plans that it says: each a plan or an error of
// one line, with a value for each column, the same when it is asked for again, and of one shape with its counts left out.
func FuzzGrid(f *testing.F) {
	const head = "neighbors: add-remove\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: "
	for _, c := range []string{
		"{values: [1, 2, 5]}}}\n    count: {linspace: [1, 9, 3]}\n",
		"{linspace: [1, 2, 3], zip: a}}}\n    sampling: {poisson: {rate: {logspace: [1e-4, 0.1, 3], zip: a, name: q}}}\n",
		"{linspace: [1, 2, 1e6]}}}\n    count: {linspace: [1, 99, 15], round: true}\n",
		"{values: [1, x, -3, .nan]}}}\n", "{logspace: [1e-300, 1e300, 7]}}}\n", "{values: [{a: 1}, [2], '3']}}}\n",
	} {
		f.Add([]byte(head + c))
	}
	f.Add([]byte(one(gauss)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 3000 {
			return
		}
		line := func(err error) {
			if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("error has several lines: %q", err)
			}
		}
		v := ParseVariant(data)
		if line(v.Err); (v.Err == nil) != (v.Plan != nil) {
			t.Errorf("a line is the plan %v and the error %v", v.Plan, v.Err)
		}
		g, err := ParseGrid(data)
		if line(err); err != nil {
			return
		}
		n, columns := g.Len(), g.Columns()
		if n < 1 || n > MaxGrid {
			t.Fatalf("a grid of %d plans", n)
		}
		var first []string
		for _, i := range []int64{0, n / 2, n - 1, 0} {
			v := g.At(i)
			if line(v.Err); (v.Err == nil) != (v.Plan != nil) || len(v.Values) != len(columns) {
				t.Fatalf("plan %d of %d is %v with the error %v and the values %q of %q", i, n, v.Plan, v.Err, v.Values, columns)
			}
			if i > 0 {
				continue
			}
			if first != nil && strings.Join(first, "\x00") != strings.Join(v.Values, "\x00") {
				t.Fatalf("the first plan has the values %q, and later %q", first, v.Values)
			}
			first = append([]string{}, v.Values...)
		}
	})
}
