package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/slow"
)

// runPate runs the command in-process.
func runPate(args ...string) (stdout, stderr string, err error) {
	return execute(newRootCmd(), append([]string{"pate"}, args...)...)
}

func mustPate(t *testing.T, args ...string) string {
	t.Helper()
	out, _, err := runPate(args...)
	if err != nil {
		t.Fatalf("pate %v: %v", args, err)
	}
	return out
}

// pateVotes writes the synthetic votes S1(250, 10, queries) and the transcript of a
// noise-free check at 200.
func pateVotes(t *testing.T, queries int) (votes, answered string) {
	t.Helper()
	dir, n := t.TempDir(), strconv.Itoa(queries)
	votes = filepath.Join(dir, "votes.npy")
	mustPate(t, "synth", "--rule", "s1", "--teachers", "250", "--classes", "10", "--queries", n, "--out", votes)
	table := mustPate(t, "synth", "--teachers", "250", "--classes", "10", "--queries", n, "--out", "-")
	var b strings.Builder
	for _, line := range strings.Fields(table) {
		flag := "0\n"
		for _, f := range strings.Split(line, ",") {
			// Counts of three digits from 200 to 250.
			if len(f) == 3 && f[0] == '2' {
				flag = "1\n"
			}
		}
		b.WriteString(flag)
	}
	answered = filepath.Join(dir, "answered.csv")
	if err := os.WriteFile(answered, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return votes, answered
}

func TestPateAnalyze(t *testing.T) {
	slow.Test(t)
	votes, answered := pateVotes(t, 640)
	confident := []string{"analyze", "--votes", votes, "--mechanism", "confident", "--threshold", "200", "--sigma1", "150", "--sigma2", "40", "--delta", "1e-5", "--price", "theorem6", "--json"}
	// pate.md §7.4, golden A.
	for _, c := range []struct {
		args           []string
		report         string
		bound          bool
		epsilon, order float64
		answered       float64
	}{
		{nil, "worst", true, 2.085720226739883, 10.5, 640},
		// Golden A's classic ε is at one order; with all 198, each has δ/198.
		{[]string{"--answered", answered, "--orders", "22.5"}, "realised", false, 0.9938799844332244, 22.5, 446},
		{[]string{"--answered", answered, "--conversion", "classic", "--orders", "22.5"}, "realised", false, 0.9938799844332244, 22.5, 446},
		{[]string{"--report", "expected", "--conversion", "classic"}, "expected", false, 1.568968209141574, 16.5, 342.20293162840394},
		{[]string{"--orders", "1.5:100:0.5", "--report", "worst", "--conversion", "classic"}, "worst", true, 2.417832499499732, 11.5, 640},
	} {
		out := mustPate(t, append(confident, c.args...)...)
		var list struct {
			Results []service.PateAnswer `json:"results"`
		}
		d := json.NewDecoder(strings.NewReader(out))
		d.DisallowUnknownFields()
		if err := d.Decode(&list); err != nil || len(list.Results) != 1 {
			t.Fatalf("%v: %d answers, %v", c.args, len(list.Results), err)
		}
		got := list.Results[0]
		if got.Report != c.report || got.Bound != c.bound || got.Order != c.order || got.Delta != 1e-5 ||
			math.Abs(got.Epsilon-c.epsilon) > 1e-12*c.epsilon || math.Abs(got.Answered-c.answered) > 1e-12*c.answered {
			t.Errorf("%v: %s ε=%v at %v, answered %v; want %s %v %v %v", c.args, got.Report, got.Epsilon, got.Order, got.Answered, c.report, c.epsilon, c.order, c.answered)
		}
		n := 198
		if c.report == "realised" {
			n = 1
		}
		if len(got.Orders) != n || len(got.RDP) != n || len(got.Threshold) != n || len(got.Answer) != n {
			t.Fatalf("%v: arrays of %d, %d, %d, %d", c.args, len(got.Orders), len(got.RDP), len(got.Threshold), len(got.Answer))
		}
		for i := range got.RDP {
			if s := got.Threshold[i] + got.Answer[i]; math.Abs(s-got.RDP[i]) > 1e-14*s {
				t.Errorf("%v: the parts at order %v add up to %v, not %v", c.args, got.Orders[i], s, got.RDP[i])
			}
		}
		if got.Independent <= got.Epsilon {
			t.Errorf("%v: data-independent %v is not above %v", c.args, got.Independent, got.Epsilon)
		}
	}
	text := mustPate(t, confident[:len(confident)-3]...)
	for _, want := range []string{"epsilon    1.01486 at delta 1e-5 (joint report: an upper bound at this data set)", "independent   3.92671      –"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
	text = mustPate(t, confident[:len(confident)-1]...)
	for _, want := range []string{"epsilon    2.08573 at delta 1e-5 (worst report: an upper bound at this data set, to its neighbours and not back)",
		"expected (not a bound)", "NOT SAFE TO PUBLISH"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
	for _, args := range [][]string{
		{"analyze", "--votes", votes, "--mechanism", "gnmax", "--sigma2", "40", "--delta", "1e-5", "--conversion", "classic", "--price", "theorem6"},
		{"analyze", "--votes", votes, "--mechanism", "lnmax", "--gamma", "0.05", "--delta", "1e-5", "--conversion", "classic", "--price", "theorem6"},
	} {
		want := map[string]string{"gnmax": "epsilon    2.24472 at", "lnmax": "epsilon    3.70524 at"}[args[4]]
		if out := mustPate(t, args...); !strings.Contains(out, want) {
			t.Errorf("%v does not say %q:\n%s", args, want, out)
		}
	}
}

// Issue 13, claim 2: votes 5,5 of which nothing is answered. The neighbour 6,4 is
// told apart with δ(0.1775) ≈ 0.22, and nothing is answered with probability
// 0.56, so that the cost of that transcript is no bound and is not said to be.
func TestPateTranscriptIsNoBound(t *testing.T) {
	dir := t.TempDir()
	votes, answered := filepath.Join(dir, "v.csv"), filepath.Join(dir, "a.csv")
	for file, text := range map[string]string{votes: "5,5\n", answered: "0\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cdf := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	// Outcomes: none, class 1, class 2; T = 8, σ1 = 20, σ2 = ½.
	law := func(a, b float64) [3]float64 {
		pass, first := cdf((max(a, b)-8)/20), cdf((a-b)/(0.5*math.Sqrt2))
		return [3]float64{1 - pass, pass * first, pass * (1 - first)}
	}
	p, q := law(5, 5), law(6, 4)
	delta := 0.0
	for i := range p {
		delta += max(0, p[i]-math.Exp(0.1775)*q[i])
	}
	if math.Abs(p[0]-0.56) > 0.005 || math.Abs(delta-0.22) > 0.005 {
		t.Fatalf("nothing is answered with probability %v, δ(0.1775) = %v", p[0], delta)
	}
	args := []string{"analyze", "--votes", votes, "--mechanism", "confident", "--threshold", "8", "--sigma1", "20", "--sigma2", "0.5", "--delta", "1e-5"}
	text := mustPate(t, append(args, "--answered", answered)...)
	for _, bad := range []string{"realised report: an upper bound", "may be published"} {
		if strings.Contains(text, bad) {
			t.Errorf("a transcript's cost is called %q:\n%s", bad, text)
		}
	}
	if !strings.Contains(text, "ex post, NOT AN (ε, δ) BOUND") {
		t.Errorf("the ex-post cost is not labelled:\n%s", text)
	}
	for _, more := range [][]string{nil, {"--max-answers", "1"}, {"--answered", answered}, {"--report", "independent"}} {
		var got service.PateAnswer
		if err := decodeOne(mustPate(t, append(append(args, "--json"), more...)...), &got); err != nil {
			t.Fatal(err)
		}
		if got.Bound && got.Epsilon < 0.1775 || got.Independent < 0.1775*1.1 {
			t.Errorf("%v: bound %v, ε %v, independent %v", more, got.Bound, got.Epsilon, got.Independent)
		}
		if want := len(more) == 0 || more[0] != "--answered"; got.Bound != want {
			t.Errorf("%v: bound is %v", more, got.Bound)
		}
	}
	_, _, err := runPate(append(args, "--max-answers", "0")...)
	if want := "--max-answers: 0 is not in [1, +Inf)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestPateInteractive(t *testing.T) {
	dir := t.TempDir()
	votes, base := filepath.Join(dir, "v.csv"), filepath.Join(dir, "b.csv")
	if err := os.WriteFile(votes, []byte("cat,dog\n8,2\n3,7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(base, []byte("0.5,0.5\n0.2,0.8\n0.1,0.9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"analyze", "--votes", votes, "--baseline", base, "--mechanism", "interactive", "--threshold", "3", "--sigma1", "5", "--sigma2", "2", "--delta", "1e-5"}
	_, _, err := runPate(args...)
	if want := "baseline: shape (3, 2) is not the votes' (2, 2)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
	// v = max(8−5, 2−5) = 3 and max(3−2, 7−8) = 1.
	out := mustPate(t, append(args, "--queries", "2", "--baseline-kind", "probs", "--json", "--orders", "2")...)
	if !strings.Contains(out, "\"answered\": 2,\n") {
		t.Errorf("two queries are not two:\n%s", out)
	}
}

func TestPateSmooth(t *testing.T) {
	votes, answered := pateVotes(t, 640)
	args := []string{"smooth", "--votes", votes, "--answered", answered, "--mechanism", "confident", "--threshold", "200", "--sigma1", "150", "--sigma2", "40",
		"--delta", "1e-5", "--conversion", "classic", "--order", "14", "--beta", "0.014285714285714286", "--private", "--json"}
	run := func(more ...string) (r service.PateSmoothAnswer) {
		t.Helper()
		if err := json.Unmarshal([]byte(mustPate(t, append(args, more...)...)), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := run("--sigma-ss", "5"); r.Epsilon != nil || !strings.Contains(r.Why, "leave answered out") {
		t.Errorf("a transcript's cost is sanitized: %+v", r)
	}
	// pate.md §7.7.
	best := run("--optimise")
	for _, c := range []struct{ got, want float64 }{
		{best.Private.Smooth, 0.111384484122637}, {best.Sigma, 4.65455984895509}, {best.Private.GNSSCost, 0.522347135783576},
		{best.Private.Fixed, 1.68211472287031}, {best.Private.StdDev, 0.518445747594},
	} {
		if math.Abs(c.got-c.want) > 1e-11*c.want {
			t.Errorf("optimised: %v, want %v", c.got, c.want)
		}
	}
	if best.Epsilon != nil || best.Why == "" {
		t.Error("a noise scale chosen from the votes is published")
	}
	paper := run("--optimise", "--gnss", "paper")
	if paper.Epsilon != nil || math.Abs(paper.Private.Fixed-1.75808489780337) > 1e-11 || paper.Private.Bound {
		t.Errorf("paper's formula: %+v", paper)
	}
	args = append([]string{"smooth"}, args[1:]...)
	args[3], args[4] = "--report", "worst"
	a, b, c := run("--sigma-ss", "5", "--seed", "1"), run("--sigma-ss", "5", "--seed", "1"), run("--sigma-ss", "5", "--seed", "2")
	if a.Epsilon == nil || *a.Epsilon != *b.Epsilon || *a.Epsilon == *c.Epsilon {
		t.Errorf("seeds 1, 1, 2 give %v %v %v", a.Epsilon, b.Epsilon, c.Epsilon)
	}
	if z := (*a.Epsilon - a.Private.Fixed) / a.Private.StdDev; math.Abs(z) > 6 {
		t.Errorf("the noise is %v standard deviations", z)
	}
	args = args[:len(args)-1]
	text := mustPate(t, append(args, "--sigma-ss", "5")...)
	before, after, ok := strings.Cut(text, "NOT SAFE TO PUBLISH")
	if !strings.Contains(before, "may be published") || !strings.Contains(before, "NOT AN UPPER BOUND") || a.IsBound {
		t.Errorf("a sanitized ε passes for a bound:\n%s", text)
	}
	if !ok || !strings.Contains(before, "sanitized epsilon") || strings.Contains(before, "smooth sensitivity") || !strings.Contains(after, "smooth sensitivity") {
		t.Errorf("private diagnostics are not set apart:\n%s", text)
	}
	args = args[:len(args)-1]
	if text := mustPate(t, append(args, "--sigma-ss", "5")...); strings.Count(text, "\n") != 4 || strings.Contains(text, "NOT SAFE") || strings.Contains(text, "smooth sensitivity") {
		t.Errorf("private values without --private:\n%s", text)
	}
}

// Only what may be published is printed, in every form, unless --private asks for the rest.
func TestPatePublish(t *testing.T) {
	slow.Test(t)
	votes, _ := pateVotes(t, 640)
	args := []string{"publish", "--votes", votes, "--mechanism", "gnmax", "--sigma2", "40", "--delta", "1e-5", "--order", "12", "--beta", "0.02", "--noise", "0.15"}
	run := func(more ...string) (r map[string]any) {
		t.Helper()
		if err := json.Unmarshal([]byte(mustPate(t, append(slices.Clone(args), append(more, "--json")...)...)), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	public := []string{"beta", "confidence", "delta", "noise", "noise-rdp", "order", "published-epsilon", "published-rdp", "statement"}
	if got := slices.Sorted(maps.Keys(run())); !slices.Equal(got, public) {
		t.Errorf("published: %v, want %v", got, public)
	}
	private, ok := run("--private")["not-safe-to-publish"].(map[string]any)
	if !ok || len(private) != 4 {
		t.Errorf("private values: %v", private)
	}
	text, with := mustPate(t, args...), mustPate(t, append(slices.Clone(args), "--private")...)
	if !strings.Contains(text, "may be published") || strings.Contains(text, "NOT SAFE") || strings.Contains(text, "smooth bound") {
		t.Errorf("by default:\n%s", text)
	}
	if before, after, ok := strings.Cut(with, "NOT SAFE TO PUBLISH"); !ok || strings.Contains(before, "smooth bound") || !strings.Contains(after, "smooth bound") {
		t.Errorf("with --private:\n%s", with)
	}
	// With a known seed the number can be taken back to the votes.
	seeded := mustPate(t, append(slices.Clone(args), "--seed", "1")...)
	if !strings.Contains(seeded, "NOT to be published") || !strings.Contains(run("--seed", "1")["statement"].(string), "not to be published") {
		t.Errorf("with a seed:\n%s", seeded)
	}
}

func TestPatePlot(t *testing.T) {
	slow.Test(t)
	votes, answered := pateVotes(t, 40)
	dir := t.TempDir()
	for _, more := range [][]string{{}, {"--answered", answered}, {"--report", "expected"}, {"--report", "independent"}} {
		file := filepath.Join(dir, "out.svg")
		args := append([]string{"analyze", "--votes", votes, "--mechanism", "confident", "--threshold", "200", "--sigma1", "150", "--sigma2", "40", "--delta", "1e-5", "--plot", file}, more...)
		mustPate(t, args...)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(bytes.NewReader(data))
		paths := 0
		for {
			tok, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("the plot is not XML: %v", err)
			}
			if s, ok := tok.(xml.StartElement); ok && s.Name.Local == "path" {
				paths++
			}
		}
		if paths < 5 {
			t.Errorf("the plot has only %d paths", paths)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 1 {
			t.Errorf("files left over: %v %v", left, err)
		}
	}
}

func TestPateProgress(t *testing.T) {
	votes, _ := pateVotes(t, 40)
	args := []string{"smooth", "--votes", votes, "--mechanism", "gnmax", "--sigma2", "40", "--delta", "1e-5", "--order", "14", "--beta", ".01", "--sigma-ss", "5", "--progress"}
	_, stderr, err := runPate(append(args, "on")...)
	if err != nil || !strings.Contains(stderr, "smooth sensitivity") {
		t.Errorf("no progress on standard error: %q, %v", stderr, err)
	}
	if _, stderr, err = runPate(append(args, "auto")...); err != nil || stderr != "" {
		t.Errorf("progress where there is no terminal: %q, %v", stderr, err)
	}
}

func TestPateBadFlags(t *testing.T) {
	dir := t.TempDir()
	votes := filepath.Join(dir, "v.csv")
	if err := os.WriteFile(votes, []byte("8,2\n3,7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "bad.csv")
	if err := os.WriteFile(bad, []byte("8,2\n3,-7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := "analyze --mechanism gnmax --sigma2 1 --delta 1e-5 --votes "
	c := "analyze --mechanism confident --sigma1 1 --sigma2 1 --threshold 6 --delta 1e-5 --votes " + votes
	s := "smooth --mechanism gnmax --sigma2 1.5 --delta 1e-5 --votes " + votes
	for _, x := range []struct{ args, want string }{
		{a + votes + " --delta 0", "--delta: 0 is not in (0, 1)"},
		{a + votes + " --delta NaN", `--delta: "NaN" is not a number`},
		{a + votes + " --sigma2 0", "--sigma2: 0 is not in [0.0001, 1e+09]"},
		{a + votes + " --sigma1 3", "--sigma1 is of no use to gnmax"},
		{a + votes + " --mechanism lnmax", "--sigma2 is of no use to lnmax"},
		{a + votes + " --mechanism interactive", "missing --threshold, which interactive needs"},
		{a + votes + " --mechanism best", "--mechanism: \"best\" is not gnmax, confident, interactive or lnmax"},
		{a + votes + " --conversion best", "--conversion: \"best\" is not cks or classic"},
		{a + votes + " --report best", "--report: \"best\" is not joint, expected, realised, worst or independent"},
		{a + votes + " --format best", "--format: \"best\" is not counts or labels"},
		{a + votes + " --progress best", "--progress: \"best\" is not auto, on or off"},
		{a + votes + " --queries 3", "--queries: 3 is not in [1, 2]"},
		{a + votes + " --queries 0", "--queries: 0 is not in [1, 2]"},
		{a + votes + " --orders 1:2", "--orders[0]: 1 is not in (1, 1e+06]"},
		{a + votes + " --orders 2:9:1:3", "--orders: \"2:9:1:3\" does not make between 1 and 100000 orders"},
		{a + votes + " --orders 2:1:1", "--orders: \"2:1:1\" does not make between 1 and 100000 orders"},
		{a + votes + " --orders 2:9:0", "--orders: \"2:9:0\" does not make between 1 and 100000 orders"},
		{a + votes + " --orders 2,x", "--orders: \"x\" is not a finite number"},
		{a + votes + " --orders 3,2", "--orders[1]: 2 is not in (3, 1e+06]: orders must ascend"},
		{a + votes + " --plot out.gif", "--plot: \"out.gif\" does not end in .svg, .png or .pdf"},
		{a + votes + " --format labels", votes + ": classes: 0 is not in [2, 1000000]"},
		{a + filepath.Join(dir, "none.csv"), filepath.Join(dir, "none.csv") + ": no such file or directory"},
		{a + bad, bad + ": votes: row 2: column 2: -7 is not in [0, 1000000000]"},
		{c + " --report realised", "missing --answered, which the realised report needs"},
		{c + " --answered " + bad, bad + ": answered: 2 columns are not 1"},
		{s + " --order 2 --beta .1", "missing --sigma-ss (or --optimise)"},
		{s + " --order 2 --beta .1 --sigma-ss 5 --optimise", "--sigma-ss and --optimise exclude each other"},
		{s + " --order 2 --beta .1 --sigma-ss 5 --gnss best", "--gnss: \"best\" is not exact or paper"},
		{s + " --order 1 --beta .1 --sigma-ss 5", "--order: 1 is not in (1, 1e+06]"},
		{s + " --order 2 --beta 0 --sigma-ss 5", "--beta: 0 is not in [1e-12, 1000]"},
		{s + " --order 2 --beta .1 --sigma-ss 0", "--sigma-ss: 0 is not in [0.0001, 1e+09]"},
		{"synth --teachers 9 --classes 2 --queries 5 --out - --json", "--json and --csv exclude --out -"},
		{"", "missing command"},
		{"analyse", "unknown command \"analyse\"; did you mean \"analyze\"?"},
		{a + votes + " more", "\"more\" is an argument, but the command takes flags only"},
		{"synth --teachers 0 --classes 10 --queries 5 --out -", "--teachers: 0 is not in [1, 1000000000]"},
		{"synth --teachers 9 --classes 1 --queries 5 --out -", "--classes: 1 is not in [2, 1000000]"},
		{"synth --teachers 9 --classes 2 --queries 5 --out - --rule s2", "--rule: \"s2\" is not s1; did you mean \"s1\"?"},
	} {
		_, _, err := runPate(strings.Fields(x.args)...)
		if err == nil || err.Error() != x.want {
			t.Errorf("%s: %v, want %q", x.args, err, x.want)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("files left over: %v %v", left, err)
	}
}
