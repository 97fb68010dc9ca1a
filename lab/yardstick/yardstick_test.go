package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/lab/try"
)

var update = flag.Bool("update", false, "write the table with what is computed now")

// A row is a line of the table: a plan, or @ and the file in testdata that has it, and what it had when the table was written.
type row struct {
	id          string
	delta       float64
	width, work float64
	warned      bool
	plan        string
}

const (
	table   = "testdata/table.txt"
	rowsOf  = 240
	heading = `# What the library answers about plans, how narrow and for how much work, at default settings.
# width is that of the interval of ε over max(ε, 1e-3); work is in the unit of limits of work, about 40 ns;
# warned tells whether the answer has a warning. Written by go test ./lab/yardstick -run TestTable -update.
#
`
)

func (r row) String() string {
	return fmt.Sprintf("%-22s %-9v %-10.4g %-9.3g %-6s %s\n", r.id, r.delta, r.width, r.work, map[bool]string{true: "yes", false: "no"}[r.warned], r.plan)
}

// parsedRow reads a line that String wrote.
func parsedRow(text string) (row, error) {
	f := strings.Fields(text)
	if len(f) != 6 || f[4] != "yes" && f[4] != "no" {
		return row{}, fmt.Errorf("%.80q is not a row: id, δ, width, work, yes or no, plan without spaces", text)
	}
	r := row{id: f[0], warned: f[4] == "yes", plan: f[5]}
	for i, x := range []*float64{&r.delta, &r.width, &r.work} {
		var err error
		if *x, err = strconv.ParseFloat(f[1+i], 64); err != nil {
			return row{}, err
		}
	}
	return r, nil
}

// rows reads the table.
func rows(t *testing.T) []row {
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	var out []row
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		r, err := parsedRow(line)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// rowOf is the row of a plan as it is now. A plan that is refused has no row.
func rowOf(t *testing.T, r row) row {
	text := []byte(r.plan)
	if name, ok := strings.CutPrefix(r.plan, "@"); ok {
		var err error
		if text, err = os.ReadFile(filepath.Join("testdata", name)); err != nil {
			t.Error(err)
			return r
		}
	}
	l := answered(t.Context(), text, r.delta)
	if l.Error != "" {
		t.Errorf("%s: %s", r.id, l.Error)
		return r
	}
	r.width, r.work, r.warned = l.width(), l.Work, len(l.Warnings) > 0
	if over := max(math.Abs(float64(l.Upper)), 1e-3); r.width > 0 && !math.IsInf(r.width, 1) {
		r.width /= over
	}
	return r
}

// What no change of speed or tightness is about: a relative width below 1e-9, which is all that the integral is asked for (what it
// falls below that by is where its line happens to lie, differently on machines that fuse multiplications and additions), and a
// term of a sum or ten.
const (
	leastWidth = 1e-9
	leastWork  = 10
)

// worse says what of a row is worse than in the table; "" if nothing is.
func (r row) worse(now row) string {
	var what []string
	if !(now.width <= max(1.01*r.width, leastWidth)) {
		what = append(what, fmt.Sprintf("width %.4g, was %.4g", now.width, r.width))
	}
	if !(now.work <= 1.1*r.work+leastWork) {
		what = append(what, fmt.Sprintf("work %.3g, was %.3g", now.work, r.work))
	}
	if now.warned && !r.warned {
		what = append(what, "there is a warning")
	}
	return strings.Join(what, "; ")
}

// TestTable: no plan of the table has become wider or dearer, and none has a new warning. -update writes the table, so
// that a change of speed or tightness shows in its lines; -short looks at every tenth.
func TestTable(t *testing.T) {
	old := rows(t)
	ids := map[string]bool{}
	for _, r := range old {
		ids[r.id] = true
	}
	if len(old) != rowsOf || len(ids) != rowsOf {
		t.Fatalf("%d rows of %d names, want %d", len(old), len(ids), rowsOf)
	}
	if testing.Short() && !*update {
		var few []row
		for i := 0; i < len(old); i += 10 {
			few = append(few, old[i])
		}
		old = few
	}
	now := make([]row, len(old))
	if err := parallel.Each(t.Context(), len(old), nil, func(i int) { now[i] = rowOf(t, old[i]) }); err != nil {
		t.Fatal(err)
	}
	if *update && !t.Failed() {
		text := heading + fmt.Sprintf("# %-20s %-9s %-10s %-9s %-6s %s\n", "plan", "δ", "width", "work", "warned", "")
		for _, r := range now {
			text += r.String()
		}
		if err := os.WriteFile(table, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	var better []string
	for i, r := range old {
		if what := r.worse(now[i]); what != "" {
			t.Errorf("%s: %s", r.id, what)
		} else if now[i].worse(r) != "" {
			better = append(better, fmt.Sprintf("%s: width %.4g, was %.4g; work %.3g, was %.3g", r.id, now[i].width, r.width, now[i].work, r.work))
		}
	}
	if better != nil {
		t.Logf("better, which -update holds:\n%s", strings.Join(better, "\n"))
	}
}

// TestWorse: what the table notices, and what it does not.
func TestWorse(t *testing.T) {
	old := row{id: "x", delta: 1e-5, width: 1e-4, work: 1e6, plan: "{}"}
	with := func(f func(*row)) row { r := old; f(&r); return r }
	for _, c := range []struct {
		now  row
		want string
	}{
		{old, ""},
		{with(func(r *row) { r.width *= 1.009 }), ""},
		{with(func(r *row) { r.width *= 1.011 }), "width"},
		{with(func(r *row) { r.width = math.Inf(1) }), "width"},
		{with(func(r *row) { r.width = math.NaN() }), "width"},
		{with(func(r *row) { r.work *= 1.09 }), ""},
		{with(func(r *row) { r.work *= 1.11 }), "work"},
		{with(func(r *row) { r.warned = true }), "warning"},
		{with(func(r *row) { r.width, r.work = 0, 0 }), ""},
	} {
		if got := old.worse(c.now); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.now, got, c.want)
		}
		again, err := parsedRow(c.now.String())
		if err != nil || again.worse(c.now) != "" && !math.IsNaN(c.now.width) {
			t.Errorf("%v is read as %+v, %v", c.now, again, err)
		}
	}
	if infinite := with(func(r *row) { r.width = math.Inf(1) }); infinite.worse(infinite) != "" {
		t.Error("a width that stays infinite is worse")
	}
	if _, err := parsedRow("x 1e-5 0 0 maybe {}"); err == nil {
		t.Error("neither yes nor no, and no error")
	}
}

// TestWork: what integrals, lattices, laws and selections take is counted.
func TestWork(t *testing.T) {
	for _, c := range []struct {
		plan  string
		least float64
	}{
		{`{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":1}},"sampling":{"poisson":{"rate":0.01}},"count":1000}]}`, 100},
		{`{"neighbors":"add-remove","steps":[{"mechanism":{"discrete-gaussian":{"noise-multiplier":5}},"sampling":{"poisson":{"rate":0.01}},"count":9}]}`, 1e3},
		{`{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":1.1}},"sampling":{"random-allocation":{"steps":50}},"count":3}]}`, 1e5},
		{`{"neighbors":"add-remove","steps":[{"selection":{"law":"geometric","mean":4},"steps":[{"mechanism":{"gaussian":{"noise-multiplier":1}},"sampling":{"poisson":{"rate":0.01}},"count":100}]}]}`, 1e4},
	} {
		l := answered(t.Context(), []byte(c.plan), 1e-5)
		if l.Error != "" || !(l.Work >= c.least) {
			t.Errorf("%s: work %v, want at least %v; %s", c.plan, l.Work, c.least, l.Error)
		}
	}
}

// TestFiles: a file is the same for the same seed, on any number of cores, and reads as it was written.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t.Context(), a, 7, 12)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	write(t.Context(), b, 7, 12)
	one, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one, other) {
		t.Error("two files of one seed are not the same")
	}
	var out strings.Builder
	if ok := compareFile(t.Context(), &out, a, 1); !ok || !strings.HasPrefix(out.String(), "12 plans: 0 are refused now, 0 do not meet") || !strings.Contains(out.String(), "(1.000 times)") {
		t.Errorf("%v\n%s", ok, &out)
	}
	if err := os.WriteFile(b, one[:len(one)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := try.Run(func() { compareFile(t.Context(), &out, b, 1) }); err == nil {
		t.Error("a file that was cut short, and no error")
	}
}

// TestAgainstBefore: intervals meet those of before the integral looked for its place by tables of a sample, and none is
// wider than both its old one and what was asked. -short looks at 488 of the 20,000 plans, else it is 690, or 2,223 with
// SLOW=2; the command compares all. Steps of 41, 29 and 9 meet schedules, which are every 40th line, as often as others.
func TestAgainstBefore(t *testing.T) {
	every := 29
	if testing.Short() {
		every = 41
	} else if slow.All() {
		every = 9
	}
	var out strings.Builder
	compareFile(t.Context(), &out, "testdata/before-the-search.jsonl.gz", every)
	for text := range strings.Lines(out.String()) {
		if strings.HasPrefix(text, "is wider") || strings.HasPrefix(text, "does not meet") || strings.HasPrefix(text, "refused") {
			t.Error(text)
		}
	}
	t.Log(out.String())
}

// TestLine: ends may be infinite, and keep every bit.
func TestLine(t *testing.T) {
	l := line{Plan: json.RawMessage(`{"steps":[]}`), Delta: 1e-12, Lower: -0.1, Upper: end(math.Nextafter(1, 2)), Work: 3, Warnings: []string{"wide"}}
	for _, upper := range []end{l.Upper, end(math.Inf(1)), end(math.Inf(-1))} {
		l.Upper = upper
		text, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		var again line
		if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(l, again) {
			t.Errorf("%+v is read as %+v, %v", l, again, err)
		}
	}
}

// TestComparison: what is worse than an old line, and what is not.
func TestComparison(t *testing.T) {
	inf := end(math.Inf(1))
	of := func(lo, up end) line { return line{Lower: lo, Upper: up, Work: 1} }
	gap := of(1, 2)
	gap.Gap = true
	for _, c := range []struct {
		old, now line
		want     string
	}{
		{of(1, 1.1), of(1, 1.1), ""},
		{of(1, 1.1), of(1.05, 1.2), "is wider"},
		{of(1, 1.1), of(1.11, 1.12), "does not meet"},
		{of(1, 1.1), of(0.8, 0.99), "does not meet"},
		{of(1, 1.1), of(1.1, 1.15), ""},
		{of(1, 1), of(1, 1.0009), ""}, // as narrow as asked
		{of(1, 1), of(1, 1.0011), "is wider"},
		{of(0, 0), of(0, 1e-7), ""},
		{of(1, inf), of(1, inf), ""},
		{of(inf, inf), of(inf, inf), ""},
		{of(1, 1.1), of(1, inf), "is wider"},
		{of(1, inf), of(1, 5), ""},
		{gap, of(1, 2.0009), ""},
		{gap, of(1, 2.0029), ""}, // a thousandth of 1, and of 2
		{gap, of(1, 2.0031), "is wider"},
		{of(1, 1), line{Error: "no"}, "refused, no"},
		{line{Error: "no"}, of(1, 2), ""},
		{of(1, 1.1), line{Lower: 1, Upper: 1.1, Warnings: []string{"w"}}, "has a warning"},
	} {
		var sum comparison
		if got := sum.add(c.old, c.now); got != c.want || sum.ok() != (c.want == "" || c.want == "has a warning") {
			t.Errorf("[%v, %v] after [%v, %v]: %q, %+v, want %q", c.now.Lower, c.now.Upper, c.old.Lower, c.old.Upper, got, sum, c.want)
		}
	}
}
