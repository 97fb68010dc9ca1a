package pate

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

// npy builds a file from a header dictionary and its data.
func npy(version byte, header string, data ...byte) string {
	b := []byte(npyMagic)
	b = append(b, version, 0)
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	return string(append(append(b, header...), data...))
}

func dict(descr, fortran, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr, fortran, shape)
}

func TestBadInput(t *testing.T) {
	votes := must(NewVotes([][]int64{{8, 2}, {5, 5}}, 0))
	good := Confident{6, 3, 1}
	read := func(s string, f Format) func() error {
		return func() error { _, err := ReadVotes(strings.NewReader(s), f); return err }
	}
	counts := func(s string) func() error { return read(s, Format{}) }
	account := func(a Aggregator, o Options) func() error {
		return func() error { _, err := Account(context.Background(), votes, a, o); return err }
	}
	total := func(a Aggregator, r Report, answered []bool) func() error {
		return func() error { _, err := ledger(t, votes, a, nil).Cost(context.Background(), r, answered); return err }
	}
	sens := func(a Aggregator, order float64, r Report) func() error {
		return func() error {
			_, err := ledger(t, votes, a, nil).NewSensitivity(context.Background(), order, r, nil)
			return err
		}
	}
	bound := &Sensitivity{Order: 14, Cost: .1, Local: []float64{.01}, Bound: true}
	sanitize := func(delta float64, c Conversion, rounds ...Round) func() error {
		return func() error { _, err := Sanitize(delta, c, nil, rounds...); return err }
	}
	nan, inf := math.NaN(), math.Inf(1)
	for i, c := range []struct {
		want string
		do   func() error
	}{
		{"sigma2: 0 is not in [0.0001, 1e+09]", func() error { _, err := NewGNMax(0); return err }},
		{"sigma2: NaN is not in [0.0001, 1e+09]", func() error { _, err := NewGNMax(nan); return err }},
		{"sigma2: +Inf is not in [0.0001, 1e+09]", func() error { _, err := NewGNMax(inf); return err }},
		{"sigma2: -40 is not in [0.0001, 1e+09]", account(GNMax{-40}, Options{})},
		{"gamma: 0 is not in [1e-09, 100]", func() error { _, err := NewLNMax(0); return err }},
		{"gamma: NaN is not in [1e-09, 100]", func() error { _, err := LNMax{nan}.Label([]int64{1, 2}, nil); return err }},
		{"threshold: NaN is not in [-1e+12, 1e+12]", func() error { _, err := NewConfident(nan, 1, 1); return err }},
		{"sigma1: 0 is not in [0.0001, 1e+09]", func() error { _, err := NewConfident(1, 0, 1); return err }},
		{"sigma2: 1e+10 is not in [0.0001, 1e+09]", func() error { _, err := NewConfident(1, 1, 1e10); return err }},
		{"confidence: 1.5 is not in [0, 1]", func() error { _, err := NewInteractive(1, 1.5, 1, 1, true); return err }},
		{"votes: 1 classes are not in [2, +Inf)", func() error { _, err := GNMax{1}.Label([]int64{4}, nil); return err }},
		{"votes: column 2: -1 is not in [0, 1000000000]", func() error { _, err := good.Label([]int64{4, -1}, nil); return err }},
		{"scores: 1 scores are not one for each of 2 classes", func() error {
			_, err := Interactive{good, .9, true}.Label([]int64{4, 1}, []float64{1}, nil)
			return err
		}},
		{"scores: the scores sum to 0.5, must sum to 1", func() error {
			_, err := Interactive{good, .9, true}.Label([]int64{4, 1}, []float64{.25, .25}, nil)
			return err
		}},
		{"log-q: 0.5 is not in [-Inf, 0]", func() error { _, err := GNMax{1}.DependentRDP(.5, 2); return err }},
		{"order: 1 is not in (1, 1e+06]", func() error { _, err := GNMax{1}.DependentRDP(-5, 1); return err }},
		{"order: NaN is not in (1, 1e+06]", func() error { _, err := LNMax{1}.DependentRDP(-5, nan); return err }},
		{"v: NaN is not in [-1e+12, 1e+12]", func() error { _, err := ThresholdRDP(1, 1, nan, 2); return err }},
		{"mu1: 3 is not in [4, 1e+06]", func() error { _, err := Theorem6(-10, 3, .5, 6, .4, 4); return err }},
		{"eps2: -0.4 is not in [0, 1e+12]", func() error { _, err := Theorem6(-10, 8, .5, 6, -.4, 4); return err }},

		{"votes: has no rows, must have one per query", func() error { _, err := NewVotes(nil, 0); return err }},
		{"votes: classes: 1 is not in [2, +Inf)", func() error { _, err := NewVotes([][]int64{{3}}, 0); return err }},
		{"votes: row 2: 3 columns are not the 2 of row 1", func() error { _, err := NewVotes([][]int64{{1, 2}, {1, 1, 1}}, 0); return err }},
		{"votes: row 2: column 1: -1 is not in [0, 1000000000]", func() error { _, err := NewVotes([][]int64{{1, 2}, {-1, 4}}, 0); return err }},
		{"votes: row 2: 4 votes are not the 3 of row 1 (give the number of teachers if some abstain)", func() error { _, err := NewVotes([][]int64{{1, 2}, {2, 2}}, 0); return err }},
		{"votes: row 2: 4 votes are not in [0, 3], the number of teachers", func() error { _, err := NewVotes([][]int64{{1, 2}, {2, 2}}, 3); return err }},
		{"votes: row 1: has no votes", func() error { _, err := NewVotes([][]int64{{0, 0}}, 0); return err }},
		{"teachers: -1 is not in [1, 1000000000]", func() error { _, err := NewVotes([][]int64{{1, 0}}, -1); return err }},
		{"votes: row 1: the votes sum to more than 1000000000", func() error { _, err := NewVotes([][]int64{{1e9, 1e9}}, 0); return err }},
		{"queries: 3 is not in [1, 2]", func() error { _, err := votes.First(3); return err }},
		{"labels: row 2: column 1: 2 is not in [0, 1]", func() error { _, err := FromLabels([][]int64{{0}, {2}}, 2); return err }},
		{"labels: row 2: 2 columns are not the 1 of row 1", func() error { _, err := FromLabels([][]int64{{0}, {1, 1}}, 2); return err }},
		{"classes: 1 is not in [2, 1000000]", func() error { _, err := FromLabels([][]int64{{0}}, 1); return err }},

		{"votes: has no rows", counts("")},
		{"votes: has no rows", counts("a,b\n# nothing\n")},
		{"votes: line 3: 3 columns are not the 2 of the first row", counts("a,b\n1,2\n1,2,3\n")},
		{"votes: line 2: column 2: \"x\" is not a finite number", counts("1,2\n1,x\n")},
		{"votes: line 1: column 2: \"NaN\" is not a finite number", counts("1,NaN\n")},
		{"votes: line 1: column 1: \"\" is not a number", counts(",1\n")},
		{"votes: row 1: column 2: 0.5 is not an integer in [0, 1000000000]", counts("1,0.5\n")},
		{"votes: row 1: column 1: 1e+12 is not an integer in [0, 1000000000]", counts("1e12,1\n")},
		{"votes: row 2: column 1: -1 is not in [0, 1000000000]", counts("1,1\n-1,3\n")},
		{"classes: 3 is given, must be absent for counts", read("1,1\n", Format{Classes: 3})},
		{"teachers: 3 is given, must be absent for labels", read("1,1\n", Format{Labels: true, Classes: 3, Teachers: 3})},
		{"classes: 0 is not in [2, 1000000]", read("1,1\n", Format{Labels: true})},

		{"votes: npy: the file ends in its header", counts(npyMagic)},
		{"votes: npy: version: 9 is not in [1, 3]", counts(npy(9, ""))},
		{"votes: npy: header: \"[]\" is not a dictionary", counts(npy(1, "[]"))},
		{"votes: npy: header: it must have the keys descr, fortran_order and shape", counts(npy(1, "{'descr': '<i8'}"))},
		{"votes: npy: header: key \"x\" is not in [descr, fortran_order, shape]", counts(npy(1, "{'x': 1}"))},
		{"votes: npy: header: fortran_order: \"0, 'shape': (1, 2),\" is not in [True, False]", counts(npy(1, dict("<i8", "0", "(1, 2)")))},
		{"votes: npy: header: shape: \"-1\" is not a non-negative integer", counts(npy(2, dict("<i8", "False", "(-1, 2)")))},
		{"votes: npy: descr: \"|O\" is not in [u1, i1, u2, i2, u4, i4, u8, i8, f4, f8] with <, > or |", counts(npy(1, dict("|O", "False", "(1, 2)")))},
		{"votes: npy: shape: 3 dimensions are not 2", counts(npy(1, dict("|u1", "False", "(1, 2, 3)")))},
		{"votes: npy: shape: (1000000000, 1000000000) is not in [1, 100000000] entries", counts(npy(1, dict("|u1", "False", "(1000000000, 1000000000)")))},
		{"votes: npy: the data ends after 1 of 2 entries", counts(npy(1, dict("|u1", "False", "(1, 2)"), 5))},
		{"votes: npy: there is data after the 2 entries of shape (1, 2)", counts(npy(1, dict("|u1", "False", "(1, 2)"), 5, 5, 5))},
		{"votes: npy: entry 1: NaN is not finite", counts(npy(1, dict("<f4", "False", "(1, 2)"), 0, 0, 0xc0, 0x7f, 0, 0, 0, 0))},
		{"votes: npy: header: 16777216 bytes are not in [0, 1048576]", counts(npyMagic + "\x02\x00\x00\x00\x00\x01")},

		{"baseline: row 1: column 2: -0.5 is not in [0, 1]", func() error { _, err := NewScores([][]float64{{1.0, -.5}}, 10); return err }},
		{"baseline: row 1: the scores sum to 1.5, must sum to 1", func() error { _, err := NewScores([][]float64{{.75, .75}}, 10); return err }},
		{"baseline: has no rows, must have one per query", func() error { _, err := NewScores(nil, 10); return err }},
		{"baseline: is missing, must hold the student's scores for interactive aggregation", account(Interactive{good, .5, true}, Options{})},
		{"baseline: shape (1, 2) is not the votes' (2, 2)", account(Interactive{good, .5, true}, Options{Scores: must(NewScores([][]float64{{1, 0}}, 10))})},
		{"answered: row 1: 7 is not in [0, 1]", func() error { _, err := ReadAnswered(strings.NewReader("7\n"), 2); return err }},
		{"answered: row 2: query 3 is listed twice", func() error { _, err := ReadAnswered(strings.NewReader("3\n3\n"), 5); return err }},
		{"answered: 2 columns are not 1", func() error { _, err := ReadAnswered(strings.NewReader("1,0\n"), 2); return err }},

		{"orders: 0 orders are not in [1, 100000]", account(good, Options{Orders: []float64{}})},
		{"orders[1]: 2 is not in (2, 1e+06]: orders must ascend", account(good, Options{Orders: []float64{2, 2}})},
		{"orders[0]: 0.5 is not in (1, 1e+06]", account(good, Options{Orders: []float64{.5}})},
		{"answered: is missing, must say which queries were answered for the realised report", total(good, Realised, nil)},
		{"answered: 1 entries are not one for each of 2 queries", total(good, Realised, []bool{true})},
		{"answered: must be absent, because gnmax(sigma2=1) answers every query", total(GNMax{1}, Realised, []bool{true, true})},
		{"report: report(-1) is not in [expected, realised, worst, independent]", total(GNMax{1}, Report(-1), nil)},
		{"report: report(9) is not in [expected, realised, worst, independent]", total(good, Report(9), nil)},
		{"report: \"best\" is not in [expected, realised, worst, independent]", func() error { _, err := ParseReport("best"); return err }},
		{"cuts[1]: 1 is not in [1, 2] and ascending", func() error {
			_, err := ledger(t, votes, good, nil).Running(context.Background(), Worst, nil, []int{1, 1})
			return err
		}},
		{"query: 2 is not in [0, 1]", func() error { _, _, err := ledger(t, votes, good, nil).Query(2, 4); return err }},
		{"mechanism: lnmax(gamma=0.1) is not in [gnmax, confident, interactive]: smooth sensitivity is not known for it", sens(LNMax{.1}, 4, Worst)},
		{"votes: 2 votes are not the 10 of all teachers, which smooth sensitivity needs", func() error {
			_, err := must(NewLocalBound(1.5, 2, 3, 10)).AtDistance([]int64{1, 1, 0})
			return err
		}},
		{"order: 3: condition C6 of smooth sensitivity fails for sigma2=2 and 2 classes: the step to a neighbour falls from", sens(GNMax{2}, 3, Worst)},
		{"v: 31 is not in [0, 30]", func() error { _, err := good.ThresholdAtDistance(31, 30, 4); return err }},
		{"delta: 0 is not in (0, 1)", sanitize(0, Classic, Round{bound, .02, 5})},
		{"rounds: is empty, must hold at least one", sanitize(1e-5, Classic)},
		{"conversion: 7 is not in [improved, classic]", sanitize(1e-5, 7, Round{bound, .02, 5})},
		{"rounds[0]: report: expected or realised is not in [worst, independent]: it is no bound", sanitize(1e-5, Classic, Round{&Sensitivity{Order: 14, Local: []float64{0}}, .02, 5})},
		{"rounds[0]: beta: 0 is not in [1e-12, 1000]", sanitize(1e-5, Classic, Round{bound, 0, 5})},
		{"rounds[0]: beta: 0.05 is not in (0, 0.03705398", sanitize(1e-5, Classic, Round{bound, .05, 5})},
		{"rounds[0]: sigma-ss: 0 is not in [0.0001, 1e+09]", sanitize(1e-5, Classic, Round{bound, .02, 0})},
		{"rounds[1]: order: 8 is not 14, that of rounds[0]", sanitize(1e-5, Classic, Round{bound, .02, 5}, Round{&Sensitivity{Order: 8, Local: []float64{0}, Bound: true}, .02, 5})},
		{"beta: 0.5 is not in (0, 0.25) at order 2", func() error { _, _, err := GNSSPrintedNotABound(2, .5, 1); return err }},
		{"smooth-sensitivity: 0 is not in (0, +Inf)", func() error { _, err := OptimalGNSSSigma(14, .01, 0); return err }},
		{"teachers: 0 is not in [1, 1000000000]", func() error { _, err := SynthS1(0, 10, 10); return err }},
		{"queries: 0 is not in [1, 10000000]", func() error { _, err := SynthS1(250, 10, 0); return err }},
	} {
		err := c.do()
		if err == nil {
			t.Errorf("case %d: no error, want %q", i, c.want)
		} else if msg := err.Error(); msg != c.want && !(strings.HasPrefix(msg, c.want) && (strings.Contains(c.want, "falls from") || strings.HasSuffix(c.want, "0.03705398"))) {
			t.Errorf("case %d: %q, want %q", i, msg, c.want)
		}
	}
	short := must(NewVotes([][]int64{{8, 2}, {5, 4}}, 10))
	if short.Short() != 1 {
		t.Errorf("short rows: %d", short.Short())
	}
	_, err := ledger(t, short, GNMax{1.5}, nil).NewSensitivity(context.Background(), 2, Worst, nil)
	if want := "votes: 1 rows have fewer than 10 votes; smooth sensitivity needs the vote of every teacher"; err == nil || err.Error() != want {
		t.Errorf("short rows: %v, want %q", err, want)
	}
}

// §7.8 item 12: CSV and NPY, of every type and order, give the same table.
func TestFormatsAgree(t *testing.T) {
	v := s1(t, 250, 10, 640)
	same := func(name string, w *Votes) {
		t.Helper()
		if w.Queries() != 640 || w.Classes() != 10 || w.Teachers() != 250 {
			t.Fatalf("%s: shape (%d, %d) of %d teachers", name, w.Queries(), w.Classes(), w.Teachers())
		}
		for i, n := range w.counts {
			if n != v.counts[i] {
				t.Fatalf("%s: entry %d is %d, want %d", name, i, n, v.counts[i])
			}
		}
	}
	var b bytes.Buffer
	if err := v.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	same("CSV", must(ReadVotes(strings.NewReader("# a comment\n\n"+strings.ReplaceAll(b.String(), "\n", " \r\n")), Format{})))
	same("CSV with a header", must(ReadVotes(strings.NewReader("\ufeffzero,1,2,3,4,5,6,7,8,9\n"+b.String()), Format{})))
	b.Reset()
	if err := v.WriteNPY(&b); err != nil {
		t.Fatal(err)
	}
	if at := bytes.IndexByte(b.Bytes(), '\n') + 1; at%64 != 0 {
		t.Errorf("the data starts at byte %d", at)
	}
	same("NPY", must(ReadVotes(&b, Format{})))
	for _, d := range []string{"|u1", "<u2", ">u2", "<i2", "<u4", ">u4", "<i4", "<u8", "<i8", ">i8", "<f4", "<f8", ">f8"} {
		for _, fortran := range []bool{false, true} {
			for version := byte(1); version <= 3; version++ {
				typ := must(parseDescr(d))
				var data []byte
				put := func(n int64) {
					w := make([]byte, 8)
					switch {
					case typ.kind == 'f' && typ.size == 4:
						typ.order.PutUint32(w, math.Float32bits(float32(n)))
					case typ.kind == 'f':
						typ.order.PutUint64(w, math.Float64bits(float64(n)))
					case typ.size == 1:
						w[0] = byte(n)
					case typ.size == 2:
						typ.order.PutUint16(w, uint16(n))
					case typ.size == 4:
						typ.order.PutUint32(w, uint32(n))
					default:
						typ.order.PutUint64(w, uint64(n))
					}
					data = append(data, w[:typ.size]...)
				}
				h := dict(d, "False", "(640, 10)")
				if fortran {
					h = `{"shape": (640,10), "fortran_order":True, "descr":"` + d + `"}`
					for j := range 10 {
						for i := range 640 {
							put(v.Row(i)[j])
						}
					}
				} else {
					for _, n := range v.counts {
						put(n)
					}
				}
				same(d, must(ReadVotes(strings.NewReader(npy(version, h, data...)), Format{})))
			}
		}
	}
	// Labels: every teacher's label, one row per teacher.
	labels := make([][]int64, 250)
	for i := range v.Queries() {
		teacher := 0
		for class, n := range v.Row(i) {
			for range n {
				labels[teacher] = append(labels[teacher], int64(class))
				teacher++
			}
		}
	}
	same("labels", must(FromLabels(labels, 10)))
	var text strings.Builder
	for _, row := range labels {
		text.WriteString(strings.Trim(strings.ReplaceAll(fmt.Sprint(row), " ", ","), "[]") + "\n")
	}
	same("labels in CSV", must(ReadVotes(strings.NewReader(text.String()), Format{Labels: true, Classes: 10})))
}

func TestReadAnswered(t *testing.T) {
	for _, c := range []struct {
		text string
		want []bool
	}{
		{"1\n0\n1\n", []bool{true, false, true}},
		{"query\n2\n0\n", []bool{true, false, true}},
		{"1\n", []bool{false, true, false}},
	} {
		got, err := ReadAnswered(strings.NewReader(c.text), 3)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%q: %v %v, want %v", c.text, got, err, c.want)
		}
	}
}

func TestReadScores(t *testing.T) {
	s := must(ReadScores(strings.NewReader("0.25,0.75\n1,0\n"), 100, false))
	w := must(ReadScores(strings.NewReader("25,75\n100,0\n"), 100, true))
	if fmt.Sprint(s.scaled) != "[25 75 100 0]" || fmt.Sprint(w.scaled) != fmt.Sprint(s.scaled) {
		t.Errorf("%v, %v", s.scaled, w.scaled)
	}
}

// zeros is an endless line.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// A line that is too long is an error that says so; nothing of it is dropped.
func TestLongLine(t *testing.T) {
	_, err := ReadVotes(io.MultiReader(strings.NewReader("1,2\n"), zeros{}), Format{})
	if want := "votes: line 2: is longer than 67108864 bytes"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}
