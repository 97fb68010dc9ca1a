package beam

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/labeldp"
)

func TestMain(m *testing.M) { ptest.Main(m) }

func init() {
	beam.RegisterDoFn(reflect.TypeFor[collectFn]())
	beam.RegisterDoFn(reflect.TypeFor[privateText]())
	beam.RegisterDoFn(DeadText)
	beam.RegisterDoFn(reflect.TypeFor[killedFn]())
	beam.RegisterDoFn(reflect.TypeFor[twiceFn]())
}

// What pipelines of these tests returned, by the name of the collector. The embedded Prism
// runs its workers in this process.
var (
	collecting sync.Mutex
	collected  = map[string][]string{}
)

type collectFn struct{ Name string }

func (fn *collectFn) ProcessElement(text string) {
	collecting.Lock()
	defer collecting.Unlock()
	collected[fn.Name] = append(collected[fn.Name], text)
}

func collect(s beam.Scope, name string, texts beam.PCollection) {
	collecting.Lock()
	delete(collected, name)
	collecting.Unlock()
	beam.ParDo0(s, &collectFn{name}, texts)
}

// got returns what was collected, sorted.
func got(name string) []string {
	collecting.Lock()
	defer collecting.Unlock()
	return slices.Sorted(slices.Values(collected[name]))
}

type privateText struct{}

func (privateText) ProcessElement(r PrivateRow) string {
	return fmt.Sprintf("%s %s %v", r.ID, r.Group, r.Label)
}

func DeadText(d Dead) string { return d.JSON() }

// killedFn ends the worker at one row, after it has let others through.
type killedFn struct{ ID string }

func (fn *killedFn) ProcessElement(r PrivateRow, emit func(PrivateRow)) error {
	if r.ID == fn.ID {
		return errors.New("the worker is killed here")
	}
	emit(r)
	return nil
}

// twiceFn delivers every row twice.
type twiceFn struct{}

func (twiceFn) ProcessElement(r LabelRow, emit func(LabelRow)) {
	emit(r)
	emit(r)
}

func keyFile(t testing.TB, digit string) Key {
	t.Helper()
	name := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(name, []byte(strings.Repeat(digit, 64)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return Key{name}
}

// run runs a pipeline and returns its error.
func run(build func(s beam.Scope)) error {
	p, s := beam.NewPipelineWithRoot()
	build(s)
	return ptest.Run(p)
}

func mustRun(t *testing.T, build func(s beam.Scope)) {
	t.Helper()
	if err := run(build); err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// rows are n examples of two groups with the labels 0, 1 and 2.
func rows(n int) []LabelRow {
	var all []LabelRow
	for i := range n {
		group := []string{"a", "b"}[i%2]
		all = append(all, LabelRow{ID: fmt.Sprintf("row%05d", i), Group: group, Label: float64(i * i % 3), Line: Line{"x.csv", int64(10 * i), ""}})
	}
	return all
}

func options(t *testing.T) LabelOptions {
	return LabelOptions{Epsilon: 1, Labels: []float64{2, 0, 1}, PriorEpsilon: 0.3, Floor: 1e-3, UniqueIDs: true, Key: keyFile(t, "a7")}
}

// A run that ends in the middle, and is started again, shows one noisy label of each row;
// so does one whose rows are all delivered twice.
func TestRetriesAreOneLook(t *testing.T) {
	o, all := options(t), rows(400)
	whole := func(name string, o LabelOptions, rows []LabelRow) []string {
		mustRun(t, func(s beam.Scope) {
			r := RandomizeLabels(s, o, beam.CreateList(s, rows))
			collect(s, name, beam.ParDo(s, &privateText{}, r.Private))
			collect(s, name+"-report", r.Report)
		})
		return got(name)
	}
	err := run(func(s beam.Scope) {
		r := RandomizeLabels(s, o, beam.CreateList(s, all))
		seen := beam.ParDo(s, &privateText{}, r.Private)
		collect(s, "killed", seen)
		beam.ParDo(s, &killedFn{all[200].ID}, r.Private)
	})
	if err == nil || !strings.Contains(err.Error(), "killed here") {
		t.Fatalf("the run did not end in the middle: %v", err)
	}
	first, report := whole("first", o, all), ""
	if len(first) != len(all) {
		t.Fatalf("%d rows of %d", len(first), len(all))
	}
	report = strings.Join(got("first-report"), "")
	shown := got("killed")
	if len(shown) == 0 || len(shown) >= len(all) {
		t.Fatalf("the run that ended showed %d rows of %d, must have shown some", len(shown), len(all))
	}
	for _, text := range shown {
		if _, ok := slices.BinarySearch(first, text); !ok {
			t.Errorf("%s was shown by the run that ended, and is another in the one after it", text)
		}
	}
	// In another order, and from other bundles.
	slices.Reverse(all)
	if again := whole("again", o, all); !slices.Equal(again, first) || strings.Join(got("again-report"), "") != report {
		t.Error("another order of the rows draws other labels, or another histogram")
	}
	// All rows twice: one of each is released, with the same label, and one is refused.
	o.UniqueIDs = false
	mustRun(t, func(s beam.Scope) {
		r := RandomizeLabels(s, o, beam.ParDo(s, &twiceFn{}, beam.CreateList(s, all)))
		collect(s, "twice", beam.ParDo(s, &privateText{}, r.Private))
		collect(s, "dead", beam.ParDo(s, DeadText, r.Dead))
		collect(s, "twice-report", r.Report)
	})
	if twice := got("twice"); !slices.Equal(twice, first) || strings.Join(got("twice-report"), "") != report {
		t.Errorf("rows that are delivered twice: %d rows, or other labels", len(twice))
	}
	dead := got("dead")
	if len(dead) != len(all) || !strings.Contains(dead[0], "2 rows have the same; the first is released") {
		t.Errorf("%d rows refused: %.200v", len(dead), dead)
	}
	// That all of this is not for want of noise: another key draws others.
	o.Key, o.UniqueIDs = keyFile(t, "b8"), true
	same := 0
	for i, text := range whole("other", o, all) {
		if text == first[i] {
			same++
		}
	}
	if same > len(all)*9/10 {
		t.Errorf("another key draws the same label for %d of %d rows", same, len(all))
	}
}

// One element of what is drawn for changes the draw: the label too, without which a key that
// is used again on changed data would show the change.
func TestDrawsAreBoundToWhatIsDrawnFor(t *testing.T) {
	d, err := keyFile(t, "0f").draws(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	base := []string{"label", "design", "id", "group", "0"}
	seen := map[[32]byte]bool{d.seed(base...): true}
	for i := range base {
		parts := slices.Clone(base)
		parts[i] += "x"
		seen[d.seed(parts...)] = true
	}
	seen[d.seed("label", "designi", "d", "group", "0")] = true // where one part ends counts
	if len(seen) != len(base)+2 {
		t.Errorf("%d seeds of %d inputs", len(seen), len(base)+2)
	}
	a, b := d.of(base...).Uint64(), d.of(base...).Uint64()
	if a != b {
		t.Error("the same input drew two numbers")
	}
}

// drawer returns what draws the noisy label of a row with the randomizer r.
func drawer(t *testing.T, o LabelOptions, r labeldp.Randomizer) func(id string, label float64) float64 {
	t.Helper()
	text, err := json.Marshal(struct{ Groups map[string]labeldp.Randomizer }{map[string]labeldp.Randomizer{"": r}})
	if err != nil {
		t.Fatal(err)
	}
	fn := &randomizeFn{labelFn: labelFn{Options: o}}
	if err := fn.Setup(context.Background()); err != nil {
		t.Fatal(err)
	}
	return func(id string, label float64) (out float64) {
		if err := fn.ProcessElement(LabelRow{ID: id, Label: label}, string(text), func(p PrivateRow) { out = p.Label }); err != nil {
			t.Fatal(err)
		}
		return out
	}
}

// The noisy labels have the law of the randomizer, over rows that differ in their id alone.
func TestLabelsHaveTheLaw(t *testing.T) {
	o := options(t)
	o.Weights, o.PriorEpsilon = []float64{1, 5, 4}, 0
	p, err := labeldp.NewPrior(o.Labels, o.Weights)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := labeldp.OptimalUnbiased(context.Background(), p, o.Epsilon)
	if err != nil {
		t.Fatal(err)
	}
	draw := drawer(t, o, r)
	const n = 20000
	for i, y := range r.Labels() {
		counts := map[float64]float64{}
		for k := range n {
			counts[draw(fmt.Sprint(k), y)]++
		}
		chi := 0.0
		for j, q := range r.Row(i) {
			d := counts[r.Outputs()[j]] - n*q
			chi += d * d / (n * q)
		}
		// A chi-squared number of k − 1 = 3 degrees of freedom is above 32 with probability
		// 5e-7. The key is fixed, so that the test does not depend on chance.
		if len(r.Outputs()) != 4 || chi > 32 {
			t.Errorf("label %v: chi-squared %v of %d outputs", y, chi, len(r.Outputs()))
		}
	}
}

// A row whose label has changed draws anew: over many rows the noisy labels of 0 and of 1
// agree as often as those of independent draws.
func TestChangedLabelsDrawAnew(t *testing.T) {
	o := options(t)
	o.Weights, o.PriorEpsilon = []float64{1, 5, 4}, 0
	r, err := labeldp.DebiasedRR([]float64{0, 1, 2}, 1)
	if err != nil {
		t.Fatal(err)
	}
	draw := drawer(t, o, r)
	const n = 20000
	agree, want := 0.0, 0.0
	for k := range n {
		var out []float64
		for _, y := range []float64{0, 1} {
			out = append(out, draw(fmt.Sprint(k), y))
		}
		if out[0] == out[1] {
			agree++
		}
	}
	for j, q := range r.Row(0) {
		want += n * q * r.Row(1)[j]
	}
	// A count of n coins has a standard deviation below √n/2 = 71; one number for both would
	// make 12728 agree. The key is fixed.
	if math.Abs(agree-want) > 6*71 {
		t.Errorf("%v of %d agree, of independent draws %.0f", agree, n, want)
	}
}

// The histogram is what labeldp makes of the counts, and its ε is charged.
func TestEstimatePriorChargesTheHistogram(t *testing.T) {
	o := options(t)
	mustRun(t, func(s beam.Scope) { collect(s, "prior", EstimatePrior(s, o, beam.CreateList(s, rows(300)))) })
	var p LabelPriors
	if err := json.Unmarshal([]byte(got("prior")[0]), &p); err != nil {
		t.Fatal(err)
	}
	want := []Charge{{"label-histogram", 0.3, 0, 2}, {"label-randomizer", 0.7, 0, 1}}
	if !slices.Equal(p.Charge, want) || p.Rows != 300 || len(p.Groups) != 2 || p.Groups[0].Rows != 150 {
		t.Errorf("%+v", p)
	}
	// Squares modulo 3 are 0, 1, 1: with noise of scale 2/0.3 on 150 rows a share is off by
	// more than 0.5 with probability below e^{-0.3·75/2}.
	if got := p.Groups[0].Prior; math.Abs(got[0]-1.0/3) > 0.5 || got[2] > 0.5 {
		t.Errorf("prior %v", got)
	}
}

func TestNoRows(t *testing.T) {
	o := options(t)
	o.UniqueIDs = false
	out := filepath.Join(t.TempDir(), "out")
	mustRun(t, func(s beam.Scope) {
		lines, bad := ReadLines(s, write(t, "empty.csv", "label\n"), Layout{CSV, "label"})
		f := LabelFields{Layout: Layout{CSV, "label"}, Label: "label"}
		rows, unread := LabelRows(s, f, lines)
		r := RandomizeLabels(s, o, rows)
		WriteLines(s, out, ".csv", "label", 2, PrivateLines(s, f, r.Private))
		WriteLines(s, out+"-dead", ".jsonl", "", 1, DeadLines(s, NumberLines(s, beam.Flatten(s, bad, unread, r.Dead))))
	})
	for i := range 2 {
		if text, err := os.ReadFile(ShardName(out, ".csv", i, 2)); err != nil || string(text) != "label\n" {
			t.Errorf("%q, %v", text, err)
		}
	}
	if text, err := os.ReadFile(ShardName(out+"-dead", ".jsonl", 0, 1)); err != nil || len(text) != 0 {
		t.Errorf("%q, %v", text, err)
	}
}

// Of each bad row the file, the line and the reason come out, and all others are released.
func TestBadRowsAreKeptApart(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"a.csv": "id,label\n1,0\n2,1\n3,7\n4,NaN\n\n5,x\n6\n\"7,0\n8,2",
		"b.csv": "id,label\r\n9,2\r\n10,1,1\r\n",
		"c.csv": "label,id\n0,11\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o, out := options(t), filepath.Join(dir, "out")
	l := Layout{CSV, "id,label"}
	f := LabelFields{Layout: l, Label: "label"}
	mustRun(t, func(s beam.Scope) {
		lines, bad := ReadLines(s, filepath.Join(dir, "?.csv"), l)
		rows, unread := LabelRows(s, f, lines)
		r := RandomizeLabels(s, o, rows)
		WriteLines(s, out, ".csv", l.Header, 1, PrivateLines(s, f, r.Private))
		WriteLines(s, out+"-dead", ".jsonl", "", 1, DeadLines(s, NumberLines(s, beam.Flatten(s, bad, unread, r.Dead))))
	})
	text, err := os.ReadFile(ShardName(out+"-dead", ".jsonl", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	var where []string
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var d Dead
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.ReplaceAll(files[filepath.Base(d.File)], "\r", ""), "\n")
		if d.Line < 1 || lines[d.Line-1] != d.Text {
			t.Errorf("line %d of %s is not %q", d.Line, d.File, d.Text)
		}
		where = append(where, fmt.Sprintf("%s:%d: %s", filepath.Base(d.File), d.Line, d.Reason))
	}
	want := []string{
		"a.csv:4: label: 7 is not one of the 3 labels in [0, 2]",
		`a.csv:5: label: "NaN" is not a number`,
		"a.csv:6: is blank, must be a row",
		`a.csv:7: label: "x" is not a number`,
		"a.csv:8: has 1 fields, must have 2 as the header",
		`a.csv:9: column 5: extraneous or missing " in quoted-field`,
		"b.csv:3: has 3 fields, must have 2 as the header",
		"c.csv:1: header: is not that of the first file",
		"c.csv:2: header: is not that of the first file",
	}
	if !slices.Equal(where, want) {
		t.Errorf("refused\n%s\nwant\n%s", strings.Join(where, "\n"), strings.Join(want, "\n"))
	}
	text, err = os.ReadFile(ShardName(out, ".csv", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		id, _, _ := strings.Cut(line, ",")
		ids = append(ids, id)
	}
	if strings.Join(ids, " ") != "id 1 2 8 9" {
		t.Errorf("released %v", ids)
	}
}

// Whatever the pieces, every line is read once, with its offset.
func TestPiecesHaveEveryLineOnce(t *testing.T) {
	text := "first\n\nthird line\r\n" + strings.Repeat("x", 70000) + "\nlast without end"
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write([]byte(text))
	w.Close()
	fn := &readFn{Layout{Format: Text}}
	read := func(name string, size int64, cuts ...int64) (lines []Line) {
		f := fileio.ReadableFile{Metadata: fileio.FileMetadata{Path: name, Size: size}}
		pieces := []offsetrange.Restriction{fn.CreateInitialRestriction(f)}
		for _, cut := range cuts {
			last := pieces[len(pieces)-1]
			pieces[len(pieces)-1].End = cut
			pieces = append(pieces, offsetrange.Restriction{Start: cut, End: last.End})
		}
		for _, p := range pieces {
			tracker := sdf.NewLockRTracker(offsetrange.NewTracker(p))
			err := fn.ProcessElement(context.Background(), tracker, f, func(l Line) { lines = append(lines, l) }, func(d Dead) { t.Errorf("refused %v", d) })
			if err != nil || tracker.GetError() != nil || !tracker.IsDone() {
				t.Fatalf("piece %v: %v, %v, done %v", p, err, tracker.GetError(), tracker.IsDone())
			}
		}
		return lines
	}
	plain, zipped := write(t, "x.txt", text), write(t, "x.gz", packed.String())
	var want []Line
	at := int64(0)
	for _, part := range strings.SplitAfter(text, "\n") {
		want = append(want, Line{plain, at, strings.TrimRight(part, "\r\n")})
		at += int64(len(part))
	}
	size := int64(len(text))
	for _, cuts := range [][]int64{nil, {1}, {5}, {6}, {7}, {8, 9}, {19, 20, 21}, {1000, 50000}, {size - 1}, {6, 7, 8, 20, 69999, 70021}} {
		if lines := read(plain, size, cuts...); !slices.Equal(lines, want) {
			t.Errorf("cut at %v: %d lines", cuts, len(lines))
		}
	}
	for i := range want {
		want[i].File = zipped
	}
	// The file is shorter than its lines are.
	if lines := read(zipped, int64(packed.Len())); !slices.Equal(lines, want) || int64(packed.Len()) > at/2 {
		t.Errorf("compressed: %d lines", len(lines))
	}
	if lines := read(write(t, "empty.txt", ""), 0); lines != nil {
		t.Errorf("empty: %v", lines)
	}
}

func TestALineThatIsTooLong(t *testing.T) {
	name := write(t, "x.txt", strings.Repeat("x", maxLine+1)+"\nshort\n")
	mustRun(t, func(s beam.Scope) {
		lines, dead := ReadLines(s, name, Layout{Format: Text})
		collect(s, "long", beam.ParDo(s, DeadText, NumberLines(s, dead)))
		rows, _ := LabelRows(s, LabelFields{Layout: Layout{Format: Text}}, lines)
		_ = rows
	})
	dead := got("long")
	if len(dead) != 1 || len(dead[0]) > 2*shown || !strings.Contains(dead[0], "is longer than 16777216 bytes") {
		t.Errorf("%.300v", dead)
	}
}

func TestFieldsOfALine(t *testing.T) {
	for _, c := range []struct{ format, header, line, value, with string }{
		{CSV, "a,label,b", "1,2,3", "2", "1,9.5,3"},
		{CSV, "a,label,b", `"x, ""y""",2,`, "2", `"x, ""y""",9.5,`},
		{CSV, "label", "2", "2", "9.5"},
		{JSON, "", `{"a": [1, {"label": 3}], "label": 2 , "b":"é"}`, "2", `{"a": [1, {"label": 3}], "label": 9.5 , "b":"é"}`},
		{JSON, "", `{"label":"\u0032"}`, "2", `{"label":9.5}`},
		{Text, "", "2", "2", "9.5"},
	} {
		r, err := newReader(Layout{c.format, c.header})
		if err != nil {
			t.Fatal(err)
		}
		rec, err := r.read(c.line)
		if err != nil {
			t.Fatal(c.line, err)
		}
		if v, err := rec.get("label"); err != nil || v != c.value {
			t.Errorf("%s: %q, %v", c.line, v, err)
		}
		if w := rec.with("label", "9.5", true); w != c.with {
			t.Errorf("%s with 9.5: %s", c.line, w)
		}
	}
	r, _ := newReader(Layout{Format: JSON})
	for _, line := range []string{"", "[]", "{", `{"a":1}x`, `{"a":1,"a":2}`, `{"a":}`, `{"a":1}{}`, "null", "\x00"} {
		if _, err := r.read(line); err == nil {
			t.Errorf("%q is read", line)
		}
	}
	for _, line := range []string{`{}`, `{"label":null}`, `{"label":[1]}`, `{"label":true}`} {
		rec, err := r.read(line)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := rec.get("label"); err == nil {
			t.Errorf("%q has the label %q", line, v)
		}
	}
}

// Every operation is one that a bundle may run twice, or refused.
func TestOperationsArePure(t *testing.T) {
	refused := map[string]bool{"pate-publish": true, "pate-smooth": true, "draw": true, "query": true, "local-messages": true, "local-estimates": true, "cancel": true,
		"release": true, "pate-answer": true, "label-apply": true, "run-open": true, "run-next": true, "run-close": true}
	for _, o := range service.Operations() {
		if pure[o.Name] == (refused[o.Name] || strings.HasPrefix(o.Name, "ledger-")) {
			t.Errorf("%s: neither a function of its request nor refused, or both", o.Name)
		}
	}
}

const epsilonRequest = `{"id": %d, "op": "epsilon", "plan": {"neighbors": "add-remove", "steps": [{"mechanism": {"gaussian": {"noise-multiplier": %g}}, "sampling": {"poisson": {"rate": 0.01}}, "count": 100}]}, "delta": 1e-5}`

// Answers are those of the service, which are those of the command.
func TestAccountIsTheService(t *testing.T) {
	requests := []string{`{"op": "version", "id": "v"}`}
	for i := range 20 {
		requests = append(requests, fmt.Sprintf(epsilonRequest, i, 0.8+0.1*float64(i%7)))
	}
	requests = append(requests, `{"id": 99, "op": "calibrate", "plan": {}, "delta": 1e-5}`, `{"id": 100, "op": "ledger-create", "ledger": "x"}`,
		`{"id": 101, "op": "epsilonn"}`, "not json", "", `{"op":"pate-publish"}`)
	want, refused := []string{}, 0
	svc := service.New(nil)
	for _, r := range requests {
		var head struct{ Op string }
		_ = json.Unmarshal([]byte(r), &head)
		if r == "" {
			continue
		}
		a := svc.Answer(context.Background(), []byte(r))
		if a.Error != nil || !pure[head.Op] {
			refused++
			continue
		}
		text, err := service.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, string(text))
	}
	name, out := write(t, "q.jsonl", strings.Join(requests, "\n")), filepath.Join(t.TempDir(), "answers")
	mustRun(t, func(s beam.Scope) {
		lines, bad := ReadLines(s, name, Layout{Format: JSON})
		answers, dead := Account(s, lines)
		WriteLines(s, out, ".jsonl", "", 1, answers)
		collect(s, "account-dead", beam.ParDo(s, DeadText, NumberLines(s, beam.Flatten(s, bad, dead))))
	})
	text, err := os.ReadFile(ShardName(out, ".jsonl", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != strings.Join(want, "\n")+"\n" || len(want) != 21 {
		t.Errorf("%d answers expected, got\n%s", len(want), text)
	}
	if dead := got("account-dead"); len(dead) != refused {
		t.Errorf("%d refused, want %d: %s", len(dead), refused, strings.Join(dead, "\n"))
	}
}

// Votes are counted and labelled, and cost what the service says of the same table.
func TestVotes(t *testing.T) {
	const queries, teachers, classes = 30, 40, 3
	sigma := 8.0
	o := VoteOptions{Classes: classes, Teachers: teachers, Key: keyFile(t, "c9"),
		Request: service.PateRequest{PateVotes: service.PateVotes{PateMechanism: service.PateMechanism{Mechanism: "gnmax", Sigma2: &sigma}, Delta: service.Decimals{"1e-5"}}}}
	if err := o.Check(); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var all []VoteRow
	table := make([][]int64, queries)
	for q := range queries {
		table[q] = make([]int64, classes)
		for k := range teachers {
			c := q % classes
			if r.IntN(10) == 0 {
				c = r.IntN(classes)
			}
			table[q][c]++
			all = append(all, VoteRow{fmt.Sprintf("q%02d", q), fmt.Sprintf("t%02d", k), c, Line{"v.csv", int64(len(all)), ""}})
		}
	}
	// A second vote of a teacher, one teacher too many, and a class that there is not.
	bad := []VoteRow{{"q00", "t00", 2, Line{"v.csv", 1 << 20, ""}}, {"q01", "tzz", 0, Line{"v.csv", 2 << 20, ""}}, {"q02", "t01", 3, Line{"v.csv", 3 << 20, ""}}}
	once := func(rows []VoteRow) (answers, cost, dead []string) {
		mustRun(t, func(s beam.Scope) {
			v := Votes(s, o, beam.CreateList(s, rows))
			collect(s, "votes", v.Answers)
			collect(s, "cost", v.Cost)
			collect(s, "votes-dead", beam.ParDo(s, DeadText, v.Dead))
		})
		return got("votes"), got("cost"), got("votes-dead")
	}
	answers, cost, dead := once(append(slices.Clone(all), bad...))
	if len(answers) != queries || len(dead) != len(bad) {
		t.Fatalf("%d answers, refused %v", len(answers), dead)
	}
	right := 0
	for q, a := range answers {
		if strings.HasSuffix(a, fmt.Sprintf(`{"query":"q%02d","answered":true,"class":%d}`, q, q%classes)) {
			right++
		}
	}
	// The lead is about 34 of 40 votes, the noise of a difference 8√2: a label is another
	// with probability about Φ(−3), twice.
	if right < queries-3 || right == 0 {
		t.Errorf("%d of %d labels are those of most teachers: %v", right, queries, answers)
	}
	q := o.Request
	q.Votes, q.Teachers = table, teachers
	a, err := service.Ask[service.Answers[service.PateAnswer]](context.Background(), service.New(nil), q)
	if err != nil {
		t.Fatal(err)
	}
	want, err := service.Marshal(a.Results[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(cost) != 1 || cost[0] != "\n"+string(want) {
		t.Errorf("cost %v, want %s", cost, want)
	}
	// Duplicated bundles, in another order, with so much noise that labels are mostly its own.
	sigma = 20
	answers, cost, _ = once(all)
	twice := append(slices.Clone(all), all...)
	slices.Reverse(twice)
	again, costs, dead := once(twice)
	if !slices.Equal(again, answers) || !slices.Equal(costs, cost) || len(dead) != len(all) {
		t.Errorf("duplicated votes change the labels, the cost, or are lost: %d refused", len(dead))
	}
}

// Partitions of many persons are kept, those of one are hidden, a person counts in few, and
// rows that come twice change nothing.
func TestSelectPartitions(t *testing.T) {
	o := PartitionOptions{Epsilon: 1, Delta: 1e-9, PerPerson: 1, Key: keyFile(t, "d1")}
	var all []PartitionRow
	for i := range 200 {
		person := fmt.Sprint("p", i)
		all = append(all, PartitionRow{person, "many"}, PartitionRow{person, "many"})
	}
	for i := range 50 {
		all = append(all, PartitionRow{"greedy", fmt.Sprint("only", i)})
	}
	for i := range 60 { // of two, each person counts in one
		all = append(all, PartitionRow{fmt.Sprint("q", i), "left"}, PartitionRow{fmt.Sprint("q", i), "right"})
	}
	for i := range 40 { // each is kept with a probability near ½
		for j := range 21 {
			all = append(all, PartitionRow{fmt.Sprint("r", i, "-", j), fmt.Sprint("coin", i)})
		}
	}
	keep := func(rows []PartitionRow) string {
		mustRun(t, func(s beam.Scope) { collect(s, "kept", SelectPartitions(s, o, beam.CreateList(s, rows))) })
		return strings.Join(got("kept"), "\n")
	}
	first := keep(all)
	// π_n passes ½ at n = 1 + log(δ⁻¹(e^ε−1)/2)/ε ≈ 21.6, and is within 1e-9 of 1 at twice
	// that; 60 fair coins give fewer than 12 to a side with probability below 1e-6.
	if coins := strings.Count(first, "{\"partition\":\"coin"); !strings.Contains(first, `{"partition":"many"}`) || strings.Contains(first, "only") || coins == 0 || coins == 40 {
		t.Errorf("kept %s", first)
	}
	slices.Reverse(all)
	if again := keep(append(all, all...)); again != first {
		t.Errorf("kept %s, was %s", again, first)
	}
	if c := o.Charge(); c != (Charge{"select-partitions", 1, 1e-9, 1}) {
		t.Errorf("charge %+v", c)
	}
	// A person's share.
	fn := &boundFn{Options: o}
	if err := fn.Setup(context.Background()); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for i := range 3000 {
		left := []string{"a", "b", "b", "c"}
		fn.ProcessElement(fmt.Sprint(i), func(p *string) bool {
			if len(left) == 0 {
				return false
			}
			*p, left = left[0], left[1:]
			return true
		}, func(name string, n int64) { counts[name] += int(n) })
	}
	// Each of three with probability 1/3: a count is off by more than 150, 5.8 standard
	// deviations, with probability below 1e-7. The key is fixed.
	if counts["a"]+counts["b"]+counts["c"] != 3000 || slices.ContainsFunc([]string{"a", "b", "c"}, func(n string) bool { return math.Abs(float64(counts[n])-1000) > 150 }) {
		t.Errorf("counts %v", counts)
	}
}

// The key is in no part of a pipeline that runners see, and in no message.
func TestKeyIsNotShown(t *testing.T) {
	o := options(t)
	secret := strings.Repeat("a7", 32)
	raw, _ := hex.DecodeString(secret)
	p, s := beam.NewPipelineWithRoot()
	r := RandomizeLabels(s, o, beam.CreateList(s, rows(3)))
	WriteLines(s, filepath.Join(t.TempDir(), "x"), "", "", 1, PrivateLines(s, LabelFields{Layout: Layout{Format: Text}}, r.Private))
	edges, _, err := p.Build()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, e := range edges {
		if e.DoFn == nil {
			continue
		}
		text, err := json.Marshal(e.DoFn.Recv)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, fmt.Sprintf("%+v", e.DoFn.Recv)...)
		found = found || bytes.Contains(text, []byte(o.Key.File))
		if bytes.Contains(bytes.ToLower(text), []byte(secret)) || bytes.Contains(text, raw) {
			t.Errorf("%v holds the key", e)
		}
	}
	if !found {
		t.Error("no part of the pipeline has the name of the file: the test sees nothing")
	}
	for _, bad := range []string{"", "zz", secret[:62], secret + "g", strings.Repeat(secret, 100)} {
		k := Key{write(t, "key", bad)}
		err := k.Check(context.Background())
		if err == nil || len(bad) > 2 && strings.Contains(err.Error(), "a7a7") {
			t.Errorf("key %.20q: %v", bad, err)
		}
	}
	if err := (Key{}).Check(context.Background()); err == nil {
		t.Error("no key is enough")
	}
}

func TestNewKey(t *testing.T) {
	name := filepath.Join(t.TempDir(), "key")
	if err := NewKey(name); err != nil {
		t.Fatal(err)
	}
	if err := (Key{name}).Check(context.Background()); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(name)
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := NewKey(name); err == nil {
		t.Error("a key that is there is written over")
	}
	if after, _ := os.ReadFile(name); !bytes.Equal(before, after) {
		t.Error("the key has changed")
	}
}

func TestOptionsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		change func(o *LabelOptions)
		want   string
	}{
		{func(o *LabelOptions) { o.Epsilon = 0 }, "epsilon: "},
		{func(o *LabelOptions) { o.Epsilon = math.NaN() }, "epsilon: "},
		{func(o *LabelOptions) { o.Labels = nil }, "labels: is empty"},
		{func(o *LabelOptions) { o.Labels = []float64{1, 1} }, "labels: 1 of 2 are repeated"},
		{func(o *LabelOptions) { o.Weights = []float64{1} }, "weights: has 1 entries"},
		{func(o *LabelOptions) { o.PriorEpsilon = 2 }, "prior-epsilon: 2 is not in (0, 1)"},
		{func(o *LabelOptions) { o.Floor = -1 }, "floor: -1 is not in [0, 1]"},
		{func(o *LabelOptions) { o.Method = "laplace" }, `method: "laplace" is unknown`},
	} {
		o := options(t)
		c.change(&o)
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	o := options(t)
	if err := o.Check(); err != nil {
		t.Error(err)
	}
}
