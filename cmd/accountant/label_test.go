package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/cmd/service"
)

func labelRun(args ...string) (string, error) {
	out, _, err := execute(newLabelCmd(), args...)
	return out, err
}

// labelAnswer reads the answer about the one ε that was asked for.
func labelAnswer(t *testing.T, out string) service.LabelAnswer {
	t.Helper()
	var all service.Answers[service.LabelAnswer]
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all.Results) != 1 {
		t.Fatalf("%d answers: %v", len(all.Results), err)
	}
	return all.Results[0]
}

func labelTemp(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const labelPriorA = "label,weight\n2,15\n0,60\n1,25\n"

func TestLabelDesign(t *testing.T) {
	prior := labelTemp(t, "prior.csv", labelPriorA)
	out, err := labelRun("--epsilon", "1", "--prior", prior, "--json")
	if err != nil {
		t.Fatal(err)
	}
	r := labelAnswer(t, out)
	// labeldp.md §7.1, §7.2, prior A, ε = 1.
	for name, want := range map[string]float64{"optimal": 1.9336638085537, "debiased-rr": 2.2527911641127, "two-point": 1.9663471884156,
		"laplace": 4, "clipped-laplace": 0.48656568691672, "staircase": 3.8362070624711, "discrete-laplace": 3.9176980890328,
		"discrete-staircase": 3.8575720813583, "clipped-discrete-laplace": 0.49357665777764, "randomized-response": 0.45037580993631,
		"rr-on-bins": 0.22683758614676, "rp-with-prior": 0.29147859055656} {
		if got := r.Loss[name]; math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: loss %v, want %v", name, got, want)
		}
	}
	if len(r.Loss) != 12 {
		t.Errorf("%d losses: %v", len(r.Loss), r.Loss)
	}
	if r.Gap > 1e-9 || len(r.Outputs) != 4 || len(r.Probabilities) != 3 {
		t.Errorf("report %+v", r)
	}
	for i, row := range r.Probabilities {
		sum, mean := 0.0, 0.0
		for j, p := range row {
			sum += p
			mean += p * r.Outputs[j]
		}
		if math.Abs(sum-1) > 1e-12 || math.Abs(mean-r.Labels[i]) > 1e-12 {
			t.Errorf("label %v: sum %v, mean %v", r.Labels[i], sum, mean)
		}
	}

	text, err := labelRun("--epsilon", "1", "--prior", prior)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"3 labels, 4 outputs", "-1.36515", "0.374844", // e·0.137897334840, labeldp.md §7.3
		"optimal    1.93366", "±1 with probabilities 0.731059 and 0.268941"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	// labeldp.md §7.1 and §7.6: 65 outputs; bias 0.25.
	for want, args := range map[float64][]string{1.9342205922413: {"--grid", "65"}, 1.111415826: {"--grid", "65", "--bias", "0.25"}} {
		out, err := labelRun(append(args, "--epsilon", "1", "--prior", prior, "--json")...)
		if err != nil {
			t.Fatal(err)
		}
		r := labelAnswer(t, out)
		if math.Abs(r.Certificate.Primal-want) > 1e-9*want {
			t.Errorf("%v: loss %v, want %v", args, r.Certificate.Primal, want)
		}
	}
}

func TestLabelPlot(t *testing.T) {
	prior := labelTemp(t, "prior.csv", labelPriorA)
	for _, name := range []string{"law.svg", "law.png"} {
		path := filepath.Join(t.TempDir(), name)
		if _, err := labelRun("--epsilon", "1", "--prior", prior, "--plot", path); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if name == "law.svg" && bytes.Count(data, []byte("<path")) < 12 {
			t.Errorf("the picture has fewer marks than 3 labels times 4 outputs")
		}
		if name == "law.png" && !bytes.HasPrefix(data, []byte("\x89PNG")) {
			t.Errorf("not a PNG")
		}
	}
}

func labelColumn(t *testing.T, path string, at int) (rows [][]string, values []float64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err = csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] {
		v, err := strconv.ParseFloat(r[at], 64)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	return rows, values
}

func TestLabelApply(t *testing.T) {
	var b strings.Builder
	b.WriteString("id,weeks,note\n")
	const n = 20000
	for i := range n {
		fmt.Fprintf(&b, "%d,%d,\"a, b\"\n", i, i%5)
	}
	in := labelTemp(t, "data.csv", b.String())
	prior := labelTemp(t, "prior.csv", "label,weight\n0,1\n1,1\n2,1\n3,1\n4,1\n")
	dir := t.TempDir()
	for _, c := range []struct {
		name     string
		args     []string
		unbiased bool
		charges  int
	}{
		{"public", []string{"--prior", prior}, true, 1},
		{"private", []string{"--labels", "0..4"}, true, 2},
		{"list", []string{"--labels", "4,3,2,1,0", "--prior-epsilon", "0.2"}, true, 2},
		{"two-point", []string{"--prior", prior, "--method", "two-point"}, true, 1},
		{"debiased", []string{"--prior", prior, "--method", "debiased-rr"}, true, 1},
		{"rr", []string{"--prior", prior, "--method", "randomized-response"}, false, 1},
		{"bins", []string{"--prior", prior, "--method", "rr-on-bins"}, false, 1},
		{"rounded", []string{"--labels", "0..4..2", "--round"}, true, 2},
	} {
		out := filepath.Join(dir, c.name+".csv")
		args := append([]string{"apply", "--epsilon", "1", "--in", in, "--out", out, "--column", "weeks", "--seed", "5", "--json"}, c.args...)
		text, err := labelRun(args...)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var a labelApplied
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatal(err)
		}
		rows, values := labelColumn(t, out, 1)
		if len(values) != n || a.Rows != n || rows[7][0] != "6" || rows[7][2] != "a, b" {
			t.Errorf("%s: %d rows, reported %d, row 7 %v", c.name, len(values), a.Rows, rows[7])
		}
		if len(a.Charge) != c.charges || math.Abs(a.PriorEpsilon+a.Randomizer-1) > 1e-15 {
			t.Errorf("%s: charge %+v", c.name, a.Charge)
		}
		sum, sq := 0.0, 0.0
		for i, v := range values {
			d := v - float64(i%5)
			sum += d
			sq += d * d
		}
		if off := math.Abs(sum) / math.Sqrt(sq); c.unbiased && off > 5 {
			t.Errorf("%s: mean error %v standard errors from 0", c.name, off)
		}
		// Half the mean squared error is what was promised, but for the rounding.
		if got := sq / n / 2; c.name != "rounded" && math.Abs(got-a.Loss) > 0.1*a.Loss {
			t.Errorf("%s: half-loss %v, promised %v", c.name, got, a.Loss)
		}
		again := filepath.Join(dir, "again.csv")
		args[6] = again
		if _, err := labelRun(args...); err != nil {
			t.Fatal(err)
		}
		x, _ := os.ReadFile(out)
		y, _ := os.ReadFile(again)
		if !bytes.Equal(x, y) {
			t.Errorf("%s: the same seed gives different files", c.name)
		}
	}
}

func TestLabelErrors(t *testing.T) {
	prior := labelTemp(t, "prior.csv", labelPriorA)
	data := labelTemp(t, "data.csv", "label\n0\n1\n2\n")
	odd := labelTemp(t, "odd.csv", "label\n0\n1.5\nx\n")
	out := filepath.Join(t.TempDir(), "out.csv")
	if err := os.WriteFile(out, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	apply := func(args ...string) []string { return append([]string{"apply", "--out", out}, args...) }
	for _, c := range []struct {
		want string
		args []string
	}{
		{"\"epsilon\" not set", []string{"--prior", prior}},
		{`epsilon: "NaN" is not a number`, []string{"--prior", prior, "--epsilon", "NaN"}},
		{"\"prior\" not set", []string{"--epsilon", "1"}},
		{"no such file", []string{"--epsilon", "1", "--prior", "nowhere.csv"}},
		{"--grid: 1 is not in", []string{"--epsilon", "1", "--prior", prior, "--grid", "1"}},
		{"--bias needs --grid", []string{"--epsilon", "1", "--prior", prior, "--bias", "1"}},
		{"bias: -1 is not in", []string{"--epsilon", "1", "--prior", prior, "--grid", "9", "--bias", "-1"}},
		{"plot: \"x.gif\"", []string{"--epsilon", "1", "--prior", prior, "--plot", "x.gif"}},
		{":1: header:", []string{"--epsilon", "1", "--prior", labelTemp(t, "p", "a,b\n1,2\n")}},
		{":3: weight: \"x\"", []string{"--epsilon", "1", "--prior", labelTemp(t, "p", "label,weight\n1,2\n3,x\n")}},
		{":2: weight: -2", []string{"--epsilon", "1", "--prior", labelTemp(t, "p", "label,weight\n1,-2\n")}},
		{":3: wrong number of fields", []string{"--epsilon", "1", "--prior", labelTemp(t, "p", "label,weight\n1,2\n3\n")}},
		{"labels: is empty", []string{"--epsilon", "1", "--prior", labelTemp(t, "p", "label,weight\n")}},
		{"weights: all are 0", []string{"--epsilon", "1", "--prior", labelTemp(t, "p", "label,weight\n1,0\n")}},
		{"\"in\" not set", apply("--epsilon", "1", "--prior", prior)},
		{"missing --prior (or --labels)", apply("--epsilon", "1", "--in", data)},
		{"--prior and --labels exclude each other", apply("--epsilon", "1", "--in", data, "--prior", prior, "--labels", "0..2")},
		{"--column: \"weeks\" is not in ", apply("--epsilon", "1", "--in", data, "--prior", prior, "--column", "weeks")},
		{"method: \"magic\"", apply("--epsilon", "1", "--in", data, "--prior", prior, "--method", "magic")},
		{"odd.csv:3: label: is not one of the 3 labels in [0, 2]", apply("--epsilon", "1", "--in", odd, "--prior", prior)},
		{"odd.csv:4: label: is not a finite number", apply("--epsilon", "1", "--in", odd, "--prior", prior, "--round")},
		{"n: 3 examples of 3 labels", apply("--epsilon", "1", "--in", data, "--labels", "0..2")},
		{"prior-epsilon: 2 is not in", apply("--epsilon", "1", "--in", data, "--labels", "0..2", "--prior-epsilon", "2")},
		{"labels: \"0..1000\"", apply("--epsilon", "1", "--in", data, "--labels", "0..1000")},
		{"labels: \"\" is not a finite number", apply("--epsilon", "1", "--in", data, "--labels", "0,,2")},
		{"is empty, must have a header", apply("--epsilon", "1", "--in", labelTemp(t, "e", ""), "--prior", prior)},
		{"has no rows", apply("--epsilon", "1", "--in", labelTemp(t, "e", "label\n"), "--prior", prior)},
		{"progress: \"maybe\"", apply("--epsilon", "1", "--in", data, "--prior", prior, "--progress", "maybe")},
		{"argument", []string{"--epsilon", "1", "--prior", prior, "x"}},
		{"--group needs --labels", apply("--epsilon", "1", "--in", data, "--prior", prior, "--group", "label")},
		{"--group is the column of labels", apply("--epsilon", "1", "--in", data, "--labels", "0..2", "--group", "label")},
		{"--group: \"hour\" is not in ", apply("--epsilon", "1", "--in", data, "--labels", "0..2", "--group", "hour")},
		{"--classes is of no use to optimal", apply("--epsilon", "1", "--in", data, "--prior", prior, "--classes", "--method", "optimal")},
		{"missing --classes, which rr-with-prior needs", apply("--epsilon", "1", "--in", data, "--prior", prior, "--method", "rr-with-prior")},
		{":4: label: is not one of the 3 classes", apply("--epsilon", "1", "--in", labelTemp(t, "c.csv", "label\n0\n1\nx\n"), "--prior", prior, "--classes")},
		{"class \"a\" is empty or repeated", apply("--epsilon", "1", "--in", data, "--labels", "a,b,a", "--classes")},
		{":3: weight: \"x\"", []string{"--epsilon", "1", "--prior", labelTemp(t, "p", "group,label,weight\na,1,2\nb,3,x\n")}},
		{":2: label: \"x\"", []string{"--epsilon", "1", "--prior", labelTemp(t, "p", "group,label,weight\na,x,2\n")}},
		{"weights: all are 0", []string{"--epsilon", "1", "--prior", labelTemp(t, "p", "group,label,weight\na,1,2\na,2,3\nb,3,0\n")}},
	} {
		_, err := labelRun(c.args...)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: error %v, want %q", c.args, err, c.want)
		}
	}
	if x, _ := os.ReadFile(out); string(x) != "before" {
		t.Errorf("a failed run left %q in the output", x)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), ".*")); len(left) > 0 {
		t.Errorf("a failed run left %v", left)
	}
}

// TestLabelSecret: no error of label apply shows what is in the column of labels, nor what the first line of
// a file without a header has.
func TestLabelSecret(t *testing.T) {
	prior := labelTemp(t, "prior.csv", labelPriorA)
	names := labelTemp(t, "names.csv", "label,weight\nflu,1\ncold,1\n")
	out := filepath.Join(t.TempDir(), "out.csv")
	for _, secret := range []string{"7331", "2.7331", "-7331", "fluu7331", "7_331", "\"7331\n\"", "0x7331"} {
		for _, flags := range [][]string{{"--prior", prior}, {"--prior", prior, "--round"}, {"--labels", "0..2"}, {"--prior", names, "--classes"}, {"--labels", "flu,cold", "--classes"}, {"--prior", prior, "--column", "weeks"}} {
			for _, text := range []string{"label\n" + secret + "\n", secret + "\n0\n", "id,label\n1," + secret + "\n"} {
				in := labelTemp(t, "data.csv", text)
				_, err := labelRun(append([]string{"apply", "--out", out, "--epsilon", "1", "--in", in}, flags...)...)
				if err == nil || strings.Contains(err.Error(), "331") || strings.Contains(err.Error(), "flu") {
					t.Errorf("%q, %v: error %v; want one without the label", text, flags, err)
				}
			}
		}
	}
}

// TestLabelMark: a mark of the byte order is no part of the first column's name, and stays where it was.
func TestLabelMark(t *testing.T) {
	prior := labelTemp(t, "prior.csv", "\ufeff"+labelPriorA)
	in := labelTemp(t, "data.csv", "\ufeff\"label\",id\n0,1\n2,2\n")
	out := filepath.Join(t.TempDir(), "out.csv")
	if _, err := labelRun("apply", "--out", out, "--epsilon", "1", "--in", in, "--prior", prior); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(out); !strings.HasPrefix(string(text), "\ufefflabel,id\n") {
		t.Errorf("%q is written", text)
	}
}

func BenchmarkLabelApply(b *testing.B) {
	var s strings.Builder
	s.WriteString("label\n")
	const n = 1_000_000
	for i := range n {
		fmt.Fprintf(&s, "%d\n", 1+i%52)
	}
	in := labelTemp(b, "data.csv", s.String())
	out := filepath.Join(b.TempDir(), "out.csv")
	for b.Loop() {
		if _, err := labelRun("apply", "--epsilon", "1", "--in", in, "--out", out, "--labels", "1..52"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "labels/s")
}

// A single label has nothing to hide and nothing to lose.
func TestLabelSingle(t *testing.T) {
	prior := labelTemp(t, "prior.csv", "label,weight\n7,3\n")
	dir := t.TempDir()
	out, err := labelRun("--epsilon", "1", "--prior", prior, "--json", "--plot", filepath.Join(dir, "law.svg"))
	if err != nil {
		t.Fatal(err)
	}
	r := labelAnswer(t, out)
	for name, loss := range r.Loss {
		if loss != 0 {
			t.Errorf("%s loses %v", name, loss)
		}
	}
	if _, err := labelRun("--epsilon", "1", "--prior", prior); err != nil {
		t.Fatal(err)
	}
	noisy := filepath.Join(dir, "noisy.csv")
	if _, err := labelRun("apply", "--epsilon", "1", "--prior", prior, "--in", labelTemp(t, "d.csv", "label\r\n7\r\n7.0\r\n"), "--out", noisy); err != nil {
		t.Fatal(err)
	}
	if _, v := labelColumn(t, noisy, 0); len(v) != 2 || v[0] != 7 || v[1] != 7 {
		t.Errorf("column %v", v)
	}
}

func TestLabelProgress(t *testing.T) {
	cmd := newLabelCmd()
	var out, bar bytes.Buffer
	dir := t.TempDir()
	cmd.SetArgs([]string{"apply", "--epsilon", "1", "--labels", "0..1", "--prior-epsilon", "0.5", "--progress", "on",
		"--in", labelTemp(t, "d.csv", "label\n"+strings.Repeat("0\n1\n", 500)), "--out", filepath.Join(dir, "o.csv")})
	cmd.SetOut(&out)
	cmd.SetErr(&bar)
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(bar.String(), " 50% |") {
		t.Errorf("progress %q", bar.String())
	}
	if s := screen(bar.Bytes()); s != "" {
		t.Errorf("%q is left behind", s)
	}
	if !strings.Contains(out.String(), "1000 labels randomized by optimal") || !strings.Contains(out.String(), "two Laplace mechanisms of 0.25") {
		t.Errorf("output %q", out.String())
	}
}

// TestLabelPriorSize: a prior file is read whole, or refused.
func TestLabelPriorSize(t *testing.T) {
	text := "label,weight\n0,1\n1," + strings.Repeat("0", labelMaxFile-30) + "5\n2,3\n"
	if p, err := (&labelJob{Prior: labelTemp(t, "prior.csv", text)}).public(nil); err != nil || len(p[0].Labels()) != 3 {
		t.Errorf("%v, %v; want 3 labels of %d bytes", p, err, len(text))
	}
	path := labelTemp(t, "large.csv", text+strings.Repeat("3,0\n", 100))
	if _, err := (&labelJob{Prior: path}).public(nil); err == nil || err.Error() != fmt.Sprintf("%s: is larger than %d bytes", path, labelMaxFile) {
		t.Errorf("a prior file that is too large: %v", err)
	}
}

// TestLabelBlankLines: every row comes out, or none.
func TestLabelBlankLines(t *testing.T) {
	prior := labelTemp(t, "prior.csv", labelPriorA)
	for _, c := range []struct {
		in, want string
		rows     int
	}{
		{"label\n0\n1\n2\n", "", 3},
		{"label\r\n0\r\n1\r\n2", "", 3},
		{"label\n0\n\n2\n", ":3: is blank, must be a row", 0},
		{"label\r\n\r\n0\r\n", ":2: is blank, must be a row", 0},
		{"label\n0\n1\n\n", ":4: label: is empty", 0},
		{"label\n0\n\"\"\n1\n", ":3: label: is not a finite number; what stands there is private and not shown", 0},
		{"label\n\"1\n\"\n0\n", "", 2},
		{"a,label\nx,0\n\ny,1\n", ":3: is blank, must be a row", 0},
		{"a,label\nx,0\ny,\n", ":3: label: is not a finite number; what stands there is private and not shown", 0},
		{"a,label\nx,0\ny,1\n\n", "", 2},
		{"label,a\n0,\"x\n\ny\"\n1,\"\"\n", "", 2},
	} {
		in := labelTemp(t, "data.csv", c.in)
		for _, source := range [][]string{{"--prior", prior}, {"--labels", "0,1,2"}} {
			out := filepath.Join(t.TempDir(), "out.csv")
			_, err := labelRun(append([]string{"apply", "--epsilon", "10", "--in", in, "--out", out}, source...)...)
			if c.want != "" {
				if _, missing := os.Stat(out); err == nil || err.Error() != in+c.want || missing == nil {
					t.Errorf("%q: %v, want %s", c.in, err, c.want)
				}
				continue
			}
			data, readErr := os.ReadFile(out)
			rows, csvErr := csv.NewReader(bytes.NewReader(data)).ReadAll()
			if err != nil || readErr != nil || csvErr != nil || len(rows) != c.rows+1 {
				t.Errorf("%q: %d rows, %v, %v, %v; want %d", c.in, len(rows)-1, err, readErr, csvErr, c.rows)
			}
		}
	}
}

// TestLabelPipe: standard input and output hold the same rows as files; a row without a
// label is an error and not a row less, and nothing is written then.
func TestLabelPipe(t *testing.T) {
	const text = "id,label\n1,0\n2,1\n3,2\n4,1\n"
	in := labelTemp(t, "data.csv", text)
	prior := labelTemp(t, "prior.csv", labelPriorA)
	for _, source := range [][]string{{"--prior", prior}, {"--labels", "0,1,2", "--prior-epsilon", "0.5"}} {
		file := filepath.Join(t.TempDir(), "out.csv")
		args := append([]string{"apply", "--epsilon", "2", "--seed", "7"}, source...)
		if _, err := labelRun(append(args, "--in", in, "--out", file)...); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pipe := func(text string) (string, string, error) {
			var out, report bytes.Buffer
			cmd := newLabelCmd()
			cmd.SetArgs(append(args, "--in", "-", "--out", "-"))
			cmd.SetIn(strings.NewReader(text))
			cmd.SetOut(&out)
			cmd.SetErr(&report)
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			err := cmd.Execute()
			return out.String(), report.String(), err
		}
		got, report, err := pipe(text)
		if err != nil || got != string(want) {
			t.Errorf("standard output has %q, the file %q, %v", got, want, err)
		}
		if !strings.HasPrefix(report, "standard output: 4 labels randomized by optimal") {
			t.Errorf("report %q", report)
		}
		for bad, want := range map[string]string{
			"id,label\n1,0\n2,\n3,1\n":    "standard input:3: label: is not a finite number; what stands there is private and not shown",
			"id,label\n1,0\n\n3,1\n":      "standard input:3: is blank, must be a row",
			"label\n0\n1\n\n":             "standard input:4: label: is empty",
			"id,label\n1,0\n2,7\n":        "standard input:3: label: is not one of the 3 labels in [0, 2] (--round allows labels between); what stands there is private and not shown",
			"":                            "standard input: is empty, must have a header",
			"id,label\n":                  "standard input: has no rows below the header",
			"id,label\n1,0\n2,1,3\n":      "standard input:3: wrong number of fields",
			"id,label\n1,0\n2,\"1\n3,2\n": "standard input:4: extraneous or missing \" in quoted-field",
		} {
			if got, _, err := pipe(bad); err == nil || err.Error() != want || strings.Contains(got, "1,") {
				t.Errorf("%q: %q, %v; want %s", bad, got, err, want)
			}
		}
	}
}

// TestLabelGroups: a prior for each value of a public column, for one ε.
func TestLabelGroups(t *testing.T) {
	var b strings.Builder
	b.WriteString("when,label\n")
	const n = 20000
	for i := range n {
		fmt.Fprintf(&b, "%s,%d\n", []string{"am", "pm"}[i%2], i%5+10*(i%2))
	}
	in := labelTemp(t, "data.csv", b.String())
	losses := map[bool]float64{}
	for _, grouped := range []bool{false, true} {
		out := filepath.Join(t.TempDir(), "out.csv")
		args := []string{"apply", "--epsilon", "3", "--labels", "0..14", "--in", in, "--out", out, "--seed", "5", "--json"}
		if grouped {
			args = append(args, "--group", "when")
		}
		text, err := labelRun(args...)
		if err != nil {
			t.Fatal(err)
		}
		var a labelApplied
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatal(err)
		}
		losses[grouped] = a.Loss
		rows, values := labelColumn(t, out, 1)
		sum, sq := 0.0, 0.0
		for i, v := range values {
			d := v - float64(i%5+10*(i%2))
			sum, sq = sum+d, sq+d*d
		}
		if len(values) != n || rows[2][0] != "pm" || math.Abs(sum) > 5*math.Sqrt(sq) || sq/n/2 > 1.02*a.Loss {
			t.Errorf("%d rows, %v, error %v, half-loss %v, promised %v", len(values), rows[2], sum, sq/n/2, a.Loss)
		}
		if grouped && (len(a.Groups) != 2 || a.Groups[0].Name != "am" || a.Groups[1].Rows != n/2 || math.Abs(a.PriorEpsilon-math.Sqrt(30.0/n)) > 1e-15 || len(a.Charge) != 2) {
			t.Errorf("%+v", a)
		}
	}
	if losses[true] > 0.9*losses[false] {
		t.Errorf("half-loss %v by groups, %v without", losses[true], losses[false])
	}
	// Known priors of groups, in a file.
	out, err := labelRun("--epsilon", "2", "--json", "--prior", labelTemp(t, "p.csv", "group,label,weight\nam,0,3\nam,1,1\npm,1,1\npm,2,3\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := labelAnswer(t, out)
	if len(r.Groups) != 2 || r.Groups[1].Name != "pm" || r.Groups[0].Share != 0.5 || !(r.GroupedLoss < r.Loss["optimal"]) {
		t.Errorf("%+v", r)
	}
}

// TestLabelClasses: names of classes, kept as often as can be.
func TestLabelClasses(t *testing.T) {
	prior := labelTemp(t, "prior.csv", "label,weight\ncat,50\ndog,40\nfox,6\nowl,4\n")
	text, err := labelRun("--epsilon", "1", "--prior", prior, "--classes")
	if err != nil {
		t.Fatal(err)
	}
	// The top two are kept e/(e + 1) of the time: 0.9·0.731059.
	for _, want := range []string{"4 classes, 2 outputs", "P(·|cat)", "rr-with-prior  0.657953"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	in := labelTemp(t, "data.csv", "label\n"+strings.Repeat("cat\ndog\ncat\nfox\n", 5000))
	for _, source := range [][]string{{"--prior", prior}, {"--labels", "owl, fox,dog,cat"}, {"--prior", prior, "--method", "randomized-response"}} {
		out := filepath.Join(t.TempDir(), "out.csv")
		text, err := labelRun(append([]string{"apply", "--epsilon", "2", "--classes", "--in", in, "--out", out, "--json", "--seed", "3"}, source...)...)
		if err != nil {
			t.Fatal(err)
		}
		var a labelApplied
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Fields(string(data))
		kept := 0
		for i, line := range lines[1:] {
			if line == []string{"cat", "dog", "cat", "fox"}[i%4] {
				kept++
			}
		}
		if len(lines) != 20001 || a.Classes == nil || a.Coarser != nil {
			t.Errorf("%v: %d rows, %+v", source, len(lines)-1, a)
		}
		// The estimated prior is that of the column: what is kept is what was promised.
		if got := float64(kept) / 20000; source[0] == "--labels" && math.Abs(got-a.Kept) > 0.02 {
			t.Errorf("%v: %v kept, promised %v", source, got, a.Kept)
		}
	}
}

// TestLabelHint: many labels and few rows lose less on fewer labels, and so does debiased
// randomized response always; the optimum of a known prior does not.
func TestLabelHint(t *testing.T) {
	var b strings.Builder
	b.WriteString("label\n")
	for i := range 20000 {
		fmt.Fprintf(&b, "%d\n", i%101)
	}
	in, out := labelTemp(t, "data.csv", b.String()), filepath.Join(t.TempDir(), "out.csv")
	prior := labelTemp(t, "prior.csv", "label,weight\n0,1\n1,1\n2,1\n3,1\n4,1\n5,1\n6,1\n7,1\n8,1\n")
	hint := func(args ...string) *service.LabelHint {
		t.Helper()
		text, err := labelRun(append([]string{"apply", "--epsilon", "1", "--out", out, "--json", "--seed", "3"}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		var a labelApplied
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatal(err)
		}
		if a.Coarser != nil && a.Coarser.Loss > 0.99*a.Loss {
			t.Errorf("hint %+v gains nothing on %v", a.Coarser, a.Loss)
		}
		return a.Coarser
	}
	if h := hint("--in", in, "--labels", "0..100"); h == nil || len(h.Labels) > 51 {
		t.Errorf("hint %+v", h)
	}
	few := labelTemp(t, "few.csv", "label\n0\n8\n")
	if h := hint("--in", few, "--prior", prior); h != nil {
		t.Errorf("the optimum of a known prior has the hint %+v", h)
	}
	if h := hint("--in", few, "--prior", prior, "--method", "debiased-rr"); h == nil || h.Labels[len(h.Labels)-1] != 8 {
		t.Errorf("hint %+v", h)
	}
	text, err := labelRun("--epsilon", "1", "--prior", prior)
	if err != nil || !strings.Contains(text, "hint: debiased-rr loses less if labels are first rounded") {
		t.Errorf("%s, %v", text, err)
	}
}
