package sweep_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/cmd/sweep"
	"github.com/dpaccountant/accountant/plan"
)

// outer has the counts as the slowest range, so that totals reach over the whole grid, and plans
// with an error between the others.
const outer = `neighbors: add-remove
steps:
  - count: {values: [700, 50, 50, 3000]}
    mechanism: {gaussian: {noise-multiplier: {values: [1, -1, 1.5]}}}
    sampling: {poisson: {rate: {values: [0.01, 0.02]}}}
  - {mechanism: {laplace: {noise-multiplier: 20}}, count: {values: [1, 3, 2]}}
`

func grid(tb testing.TB, text string) sweep.Source {
	tb.Helper()
	g, err := plan.ParseGrid([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return sweep.OfGrid(g)
}

// rows runs a sweep and returns its rows as text, one each.
func rows(tb testing.TB, s sweep.Source, q sweep.Question, workers int, skip int64) []string {
	tb.Helper()
	var all []string
	err := sweep.Run(tb.Context(), s, q, workers, skip, func(r sweep.Row) error {
		all = append(all, fmt.Sprint(r.Index, r.Values, r.Place, r.Lower, r.Upper, r.Err))
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// TestBoundsWithoutAnEngine: where next to no work is left, each row has what needs none.
func TestBoundsWithoutAnEngine(t *testing.T) {
	const allocated = "neighbors: substitute\nsteps: [{mechanism: {gaussian: {noise-multiplier: {values: [2.011, 4.022]}}}, sampling: {random-allocation: {steps: 10, epochs: 2}}}]\n"
	q := sweep.Question{At: []float64{1e-10}, Options: []accountant.Options{{WorkLimit: 1e4}}}
	most := []float64{9.56, 4.466} // of two public uses: noise 2.011/(2√2) and twice that
	n := 0
	err := sweep.Run(t.Context(), grid(t, allocated), q, 1, 0, func(r sweep.Row) error {
		if r.Err != nil || !(r.Upper <= most[n]) {
			t.Errorf("row %d: ε ≤ %v (%v), want at most %v", n, r.Upper, r.Err, most[n])
		}
		n++
		return nil
	})
	if err != nil || n != 2 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// TestAnyStartAnyCores: the rows are the same on any number of cores, and from any row on.
func TestAnyStartAnyCores(t *testing.T) {
	q := sweep.Question{At: []float64{1e-5, 1e-7}, Options: []accountant.Options{{Accuracy: 1e-6}}}
	want := rows(t, grid(t, outer), q, 1, 0)
	if len(want) != 2*72 {
		t.Fatalf("%d rows, want 144", len(want))
	}
	for _, workers := range []int{2, 5} {
		if got := rows(t, grid(t, outer), q, workers, 0); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("other rows on %d cores", workers)
		}
	}
	for _, skip := range []int64{1, 30, 77, 143, 144} {
		if got := rows(t, grid(t, outer), q, 2, skip); strings.Join(got, "\n") != strings.Join(want[skip:], "\n") {
			t.Errorf("other rows from %d on", skip)
		}
	}
}

// TestSameAsOne: shared totals answer what an accountant of each plan alone answers.
func TestSameAsOne(t *testing.T) {
	g, err := plan.ParseGrid([]byte(outer))
	if err != nil {
		t.Fatal(err)
	}
	for _, ofDelta := range []bool{false, true} {
		q := sweep.Question{At: []float64{1e-5}, OfDelta: ofDelta}
		if ofDelta {
			q.At[0] = 0.3
		}
		failed := 0
		err = sweep.Run(t.Context(), sweep.OfGrid(g), q, 1, 0, func(r sweep.Row) error {
			// The grid of Run is in use: this is another one.
			other, err := plan.ParseGrid([]byte(outer))
			if err != nil {
				return err
			}
			v := other.At(r.Index)
			if v.Err != nil || r.Err != nil {
				if failed++; v.Err == nil || r.Err == nil || v.Err.Error() != r.Err.Error() {
					t.Errorf("plan %d: error %v, want %v", r.Index, r.Err, v.Err)
				}
				return nil
			}
			acct := v.Plan.Accountant()
			if err := acct.AddPlan(t.Context(), v.Plan); err != nil {
				return err
			}
			ask := acct.Epsilon
			if ofDelta {
				ask = acct.Delta
			}
			iv, err := ask(t.Context(), q.At[r.Place])
			if err != nil {
				return err
			}
			if r.Lower > iv.Upper || r.Upper < iv.Lower || r.Upper-r.Lower > 1e-3*r.Upper {
				t.Errorf("plan %d: [%v, %v] and alone [%v, %v]", r.Index, r.Lower, r.Upper, iv.Lower, iv.Upper)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if failed != 24 {
			t.Errorf("%d plans have an error, want 24", failed)
		}
	}
}

// TestWindows: a sequence of several windows keeps its order, and begins in the middle of one.
func TestWindows(t *testing.T) {
	const many = "neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: {linspace: [1, 2, 3000]}}}, count: {values: [9, 1, 4]}}]\n"
	q := sweep.Question{At: []float64{1e-5}}
	want := rows(t, grid(t, many), q, 3, 0)
	if len(want) != 9000 {
		t.Fatalf("%d rows", len(want))
	}
	for i, row := range want {
		if !strings.HasPrefix(row, fmt.Sprintf("%d ", i)) {
			t.Fatalf("row %d is %s", i, row)
		}
	}
	for _, skip := range []int64{4095, 4096, 5001} {
		if got := rows(t, grid(t, many), q, 2, skip); strings.Join(got, "\n") != strings.Join(want[skip:], "\n") {
			t.Errorf("other rows from %d on", skip)
		}
	}
}

// TestLines: plans on lines, with bad ones among them, in order.
func TestLines(t *testing.T) {
	const good = `{"neighbors": "add-remove", "steps": [{"mechanism": {"gaussian": {"noise-multiplier": 2}}, "count": 3}]}`
	text := good + "\n\nno plan\r\n" + strings.Repeat("x", plan.MaxSize+5) + "\n" + `{"neighbors": "add-remove", "steps": []}` + "\n" + good
	all := rows(t, sweep.OfLines(bytes.NewReader([]byte(text))), sweep.Question{At: []float64{1e-5}}, 2, 0)
	for i, want := range []string{"<nil>", "is empty", "is not a plan", "is larger than 1048576 bytes", "steps: is empty", "<nil>"} {
		if i >= len(all) || !strings.Contains(all[i], want) {
			t.Fatalf("row %d of %q: want %s", i, all, want)
		}
	}
	if len(all) != 6 || all[0][1:] != all[5][1:] {
		t.Errorf("rows %q", all)
	}
	if from := rows(t, sweep.OfLines(bytes.NewReader([]byte(text))), sweep.Question{At: []float64{1e-5}}, 1, 4); strings.Join(from, "\n") != strings.Join(all[4:], "\n") {
		t.Errorf("from row 4 on: %q", from)
	}
}

// TestEnds: an error of the caller, and a context that is done, end a sweep at once.
func TestEnds(t *testing.T) {
	stop := errors.New("no room")
	n := 0
	err := sweep.Run(t.Context(), grid(t, outer), sweep.Question{At: []float64{1e-5}}, 2, 0, func(sweep.Row) error {
		if n++; n == 3 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || n != 3 {
		t.Errorf("%v after %d rows", err, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n = 0
	err = sweep.Run(ctx, grid(t, outer), sweep.Question{At: []float64{1e-5}}, 2, 0, func(r sweep.Row) error {
		if n++; n == 5 {
			cancel()
		}
		if errors.Is(r.Err, context.Canceled) {
			t.Errorf("row %d: %v", r.Index, r.Err)
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 5 {
		t.Errorf("%v after %d rows", err, n)
	}
}

// TestCalibrate: goals are those of accountant.Calibrate, each with its own error, on any number of cores
// and from any row on.
func TestCalibrate(t *testing.T) {
	const text = `neighbors: add-remove
steps:
  - mechanism: {gaussian: {noise-multiplier: {values: [1, -1, 1.5]}}}
    count: {values: [1, 9]}
`
	g, err := plan.ParseGrid([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	q := sweep.Question{Goals: []accountant.Goal{{Epsilon: 1, Delta: 1e-5}, {Epsilon: 1}}}
	var want []string
	for i := range g.Len() {
		v := g.At(i)
		for place, goal := range q.Goals {
			iv, err := accountant.Interval{}, v.Err
			if err == nil {
				var c *accountant.Calibration
				if c, err = accountant.Calibrate(t.Context(), v.Plan, goal); err == nil {
					iv = c.Meets.Interval
				}
			}
			want = append(want, fmt.Sprint(i, v.Values, place, iv.Lower, iv.Upper, err))
		}
	}
	for _, workers := range []int{1, 3} {
		for _, skip := range []int64{0, 5} {
			if got := rows(t, grid(t, text), q, workers, skip); strings.Join(got, "\n") != strings.Join(want[skip:], "\n") {
				t.Errorf("%d workers from row %d on: %q, want %q", workers, skip, got, want[skip:])
			}
		}
	}
	if err := sweep.Run(t.Context(), grid(t, text), sweep.Question{At: []float64{0.1}, Goals: q.Goals}, 1, 0, nil); err == nil {
		t.Error("numbers and goals are asked at once")
	}
}
