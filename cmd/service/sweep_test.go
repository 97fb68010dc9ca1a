package service_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/cmd/sweep"
)

// mixed has ranges of numbers, of text and of both, plans with errors, and such without a finite ε.
const mixed = `neighbors: {values: [add-remove, substitute]}
steps:
  - mechanism: {values: [{gaussian: {noise-multiplier: 2}}, {pure: {epsilon: 1}}, {gaussian: {noise-multiplier: -1}}, 7], name: mechanism}
    sampling: {values: [none, 0.5, {poisson: {rate: 1/3}}], name: batches}
    count: {values: [1, 1e1], name: steps}
`

// TestSweepSchema: all rows of a result have the same columns, each of them of one type or null, whatever
// happened to their plans; CSV has the same, and both are read as they were written.
func TestSweepSchema(t *testing.T) {
	for _, q := range []service.SweepRequest{
		{Delta: service.Decimals{"0", "1e-5"}},
		{Epsilon: service.Decimals{"1"}},
		{Epsilon: service.Decimals{"1", "1e-300"}, Delta: service.Decimals{"1e-5", "0"}, Solve: "noise-multiplier"},
		{Advantage: service.Decimals{"0.1"}, Solve: "count"},
	} {
		q.Accuracy = "1e-2"
		kinds := map[string]map[string]int{}
		var want [][]string
		for _, asCSV := range []bool{false, true} {
			plans, err := service.GridPlans([]byte(mixed))
			if err != nil {
				t.Fatal(err)
			}
			form := q.Form(plans, "accountant-sweep-test", asCSV)
			head, err := form.Head()
			if err != nil {
				t.Fatal(err)
			}
			all, n := bytes.NewBuffer(head), int64(0)
			err = service.New(nil).Sweep(t.Context(), q, plans, 0, func(r sweep.Row) error {
				line, err := form.Line(r)
				if err != nil {
					return err
				}
				failed, mine, ok := form.IsLine(bytes.TrimSuffix(line, []byte("\n")), n)
				if failed != (r.Err != nil) || !mine || !ok || bytes.Count(line, []byte("\n")) != 1 {
					t.Errorf("%s is not recognised as row %d", line, n)
				}
				n++
				all.Write(line)
				return nil
			})
			if err != nil || n != 48*q.RowsPerPlan() {
				t.Fatalf("%d rows, %v", n, err)
			}
			if asCSV {
				rows, err := csv.NewReader(bytes.NewReader(all.Bytes())).ReadAll()
				if err != nil || len(rows) != int(n)+1 || !slices.Equal(rows[0], form.Columns()) {
					t.Fatalf("%d rows of CSV, %v", len(rows), err)
				}
				for i, cells := range rows[1:] {
					if strings.Join(cells, "|") != strings.Join(want[i], "|") {
						t.Errorf("row %d of CSV is %q, of JSON %q", i, cells, want[i])
					}
				}
				continue
			}
			for _, line := range bytes.Split(bytes.TrimSpace(all.Bytes()), []byte("\n")) {
				var row map[string]any
				if err := json.Unmarshal(line, &row); err != nil || len(row) != len(form.Columns()) {
					t.Fatalf("%s: %v", line, err)
				}
				var texts map[string]json.RawMessage
				if err := json.Unmarshal(line, &texts); err != nil {
					t.Fatal(err)
				}
				var cells []string
				for _, name := range form.Columns() {
					text, isText := row[name].(string)
					if !isText && row[name] != nil {
						text = string(texts[name])
					}
					cells = append(cells, text)
				}
				want = append(want, cells)
				for name, v := range row {
					if kinds[name] == nil {
						kinds[name] = map[string]int{}
					}
					if v != nil {
						kinds[name][fmt.Sprintf("%T", v)]++
					}
				}
			}
		}
		for name, k := range kinds {
			if len(k) > 1 {
				t.Errorf("%+v: column %s has the types %v", q, name, k)
			}
		}
		if kinds["batches"]["string"] == 0 || kinds["steps"]["float64"] == 0 || kinds["error"]["string"] == 0 {
			t.Errorf("types %v", kinds)
		}
		if len(q.Delta) > 1 && q.Solve == "" && kinds["infinite"]["string"] == 0 {
			t.Error("nothing is infinite: the test tests too little")
		}
	}
}

// TestCheckLargeSweep: the plans of a grid are counted by multiplication, and a million of them are read.
func TestCheckLargeSweep(t *testing.T) {
	grid := func(n string) string {
		return "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: {linspace: [1, 2, 10000]}}}, count: {linspace: [1, " + n + ", " + n + "]}}]\n"
	}
	if _, err := service.GridPlans([]byte(grid("10001"))); err == nil || !strings.Contains(err.Error(), "makes a grid of more than 1e+08 plans") {
		t.Error(err)
	}
	for _, c := range []struct {
		n           string
		plans, step int64 // one of so many is read
	}{{"10000", 1e8, 100}, {"2", 2e4, 1}} {
		plans, err := service.GridPlans([]byte(grid(c.n)))
		if err != nil {
			t.Fatal(err)
		}
		read, enough := int64(0), errors.New("enough")
		err = service.New(nil).CheckSweep(t.Context(), plans, func(i int64, problem string) error {
			if problem != "" || i != read*(c.plans-1)/(min(c.plans, 1e6)-1) {
				return fmt.Errorf("%d plans were read, the next is %d: %s", read, i, problem)
			}
			if read++; read > c.plans/c.step || read > 30_000 {
				return enough
			}
			return nil
		})
		if c.step == 1 && (err != nil || read != c.plans) || c.step > 1 && err != enough || plans.Len() != c.plans {
			t.Errorf("%v; %d plans, %d read", err, plans.Len(), read)
		}
	}
}

// TestManyBudgets: a sweep with more budgets for each plan than it may have is refused before they are made.
func TestManyBudgets(t *testing.T) {
	many := slices.Repeat(service.Decimals{"0.5"}, 2000)
	q := service.SweepRequest{Solve: "noise-multiplier", Epsilon: many, Delta: many}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := q.Check()
	if runtime.ReadMemStats(&after); err == nil || !strings.Contains(err.Error(), "delta: makes more than 10000 answers") || after.TotalAlloc-before.TotalAlloc > 100<<20 {
		t.Errorf("%v, after %d bytes", err, after.TotalAlloc-before.TotalAlloc)
	}
}
