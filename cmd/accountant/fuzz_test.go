package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/audit"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/labeldp"
)

// The readers of the command. Those of plans and of votes by themselves are fuzzed
// in their packages.

// FuzzServe: a line that is not blank has one answer, which is JSON in UTF-8, comes
// with the id, and is never the report of a defect.
func FuzzServe(f *testing.F) {
	const plan = `{"neighbors":"add-remove","steps":[{"mechanism":{"pure":{"epsilon":1}}}]}`
	for _, line := range []string{
		`{"id":1,"op":"epsilon","plan":` + plan + `,"delta":0.5}`,
		`{"id":[1,{"a":2}],"op":"delta","plan":"neighbors: add-remove\nsteps: []","epsilon":1,"timeout":1}`,
		`{"id":"\ud83d\ude00","op":"risk","plan":` + plan + `,"priors":[0.5],"false-positives":[]}`,
		`{"id":null,"op":"curve","plan":` + plan + `,"kind":"a--b","points":2,"log":true}`,
		`{"op":"calibrate","plan":` + plan + `,"epsilon":1,"delta":0,"solve":"count","step":"steps[0]","examples":10,"accuracy":0.1}`,
		`{"op":"compare","plan":` + plan + `,"delta":1e-5,"recursion":0}`,
		`{"op":"cancel","request":1}`,
		`{"op":"version","Op":"version","op":"x"}`,
		`{"op":"\ud83d"}`,
		"{\"op\":\"\xff\"}",
		`[]`, `{`, `{"op":{}}`, `{"op":"version"} {}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var head struct{ Op string }
		if json.Unmarshal(line, &head) == nil && strings.HasPrefix(strings.ToLower(head.Op), "ledger") {
			return // opens files
		}
		if len(line) > 4096 || bytes.ContainsAny(line, "\n") {
			return
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // the readers are at work, not the accountant
		for _, ctx := range []context.Context{ctx, t.Context()} {
			if ctx.Err() == nil && !cheap(line) {
				continue
			}
			var out bytes.Buffer
			if err := serve(ctx, service.New(ledgerFiles{}), bytes.NewReader(line), &out); err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			blank := len(bytes.TrimSpace(line)) == 0
			if got := out.String(); ctx.Err() == nil && blank != (got == "") || !utf8.ValidString(got) || strings.Contains(got, `"kind":"internal"`) {
				t.Fatalf("%q: %q", line, got)
			}
			if out.Len() > 0 && (!json.Valid(out.Bytes()) || bytes.Count(out.Bytes(), []byte("\n")) != 1) {
				t.Fatalf("%q: %q", line, out.Bytes())
			}
		}
	})
}

// cheap reports whether a request is answered without composing anything.
func cheap(line []byte) bool {
	var q struct{ Plan json.RawMessage }
	return json.Unmarshal(line, &q) != nil || len(q.Plan) == 0
}

// FuzzScores: every row of a file of scores is a member or not, or there is an error that names
// the file; and both designs bound ε and μ by numbers from 0 on, of which those of one run depend on the
// order of the scores alone.
func FuzzScores(f *testing.F) {
	for _, text := range []string{
		"score,member\n1,1\n0,0\n0.5,1\n-2,0\n", "member,score\r\ntrue, 1e999\r\nfalse,-1e999\r\n1,1e999\r\n", "\ufeffscore,member\n0x1p3,1\n-0,0\n0,1\n",
		"score,member\n1,1\n1,1\n1,0\n1,0\n", "score,member\n1,2\n", "score,member\nNaN,1\n", "score,member\n\"1\n\",1\n", "score,member,x\n", "a,b\n", "",
	} {
		f.Add(text, 1e-5, 0.95)
	}
	f.Fuzz(func(t *testing.T, text string, delta, confidence float64) {
		if len(text) > 2000 {
			return
		}
		in, out, err := parseScores("scores.csv", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "scores.csv") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
		r.TrimLeadingSpace = true
		if rows, err := r.ReadAll(); err == nil && len(rows)-1 != len(in)+len(out) {
			t.Fatalf("%q: %d scores of %d rows", text, len(in)+len(out), len(rows))
		}
		good := func(x float64) bool { return x >= 0 && !math.IsInf(x, 1) }
		if r, err := audit.ManyRuns(t.Context(), audit.Scores{Members: in, NonMembers: out}, delta, confidence); err == nil && !(good(r.Epsilon) && good(r.Mu)) {
			t.Fatalf("%q: %+v", text, r)
		}
		rank := func(xs []float64) []float64 {
			out2 := make([]float64, len(xs))
			for i, x := range xs {
				for _, y := range slices.Concat(in, out) {
					if y < x {
						out2[i]++
					}
				}
			}
			return out2
		}
		a, err := audit.OneRun(audit.Scores{Members: in, NonMembers: out}, delta, confidence, 0)
		b, err2 := audit.OneRun(audit.Scores{Members: rank(in), NonMembers: rank(out)}, delta, confidence, 0)
		if (err == nil) != (err2 == nil) || a != b || err == nil && !(good(a.Epsilon(delta, confidence)) && good(a.Mu(confidence))) {
			t.Fatalf("%q: %+v, %v and by rank %+v, %v", text, a, err, b, err2)
		}
	})
}

// FuzzLabelPrior: a prior file is read whole: as many labels as rows.
func FuzzLabelPrior(f *testing.F) {
	for _, text := range []string{labelPriorA, "label,weight\n1,1e10\n", "label,weight\r\n 1 , 2\r\n\r\n3,0\r\n", "label,weight\n1,-1\n", "label,weight\n\"1\n\",1\n", "", "label,weight\n1,NaN\n", "a,b\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, _, err := publicPrior("prior.csv", []byte(text), false)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "prior.csv") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err == nil && len(rows)-1 != len(p.Labels()) {
			t.Fatalf("%q: %d labels of %d rows", text, len(p.Labels()), len(rows)-1)
		}
		sum := 0.0
		for _, x := range p.Probs() {
			sum += x
		}
		// Each is rounded to 2^-53 of itself when it is divided, the sum as often as
		// there are terms.
		if tol := float64(len(p.Labels())+2) * 0x1p-53; math.Abs(sum-1) > tol {
			t.Fatalf("%q: probabilities sum to %v", text, sum)
		}
	})
}

// FuzzLabelRows: every row of a CSV file comes out, in place, or there is an error.
func FuzzLabelRows(f *testing.F) {
	for _, text := range []string{"label\n0\n1\n", "label\n0\n\n1\n", "a,label\nx,0\n\"y\n\n\",1\n\n", "label\r\n2\r\n", "\n\nlabel\n0\n", "label\n\"0\n\"\n1", "label\n\r\n", "label,label\n0,1\n"} {
		f.Add(text)
	}
	prior, _, err := publicPrior("prior.csv", []byte(labelPriorA), false)
	if err != nil {
		f.Fatal(err)
	}
	r, err := labeldp.RandomizedResponse(prior.Labels(), 1)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		pass := &labelPass{job: &labelJob{In: "data.csv", Column: "label"}, r: r, src: random.Seeded(1), methods: []labeldp.Method{r}, groups: map[string]int{"": 0}}
		var out bytes.Buffer
		if pass.rowsOf(t.Context(), strings.NewReader(text), &out) != nil {
			return
		}
		want, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		got, err := csv.NewReader(&out).ReadAll()
		if err != nil || len(got) != len(want) || int64(len(got)-1) != pass.n {
			t.Fatalf("%q: %d rows of %d, %d counted, %v", text, len(got), len(want), pass.n, err)
		}
		// By lines: with one column every line below the header is a row.
		if len(want[0]) == 1 && !strings.Contains(text, `"`) {
			lines := strings.Split(strings.TrimSuffix(strings.TrimLeft(text, "\r\n"), "\n"), "\n")
			if len(lines) != len(got) {
				t.Fatalf("%q: %d rows of %d lines", text, len(got), len(lines))
			}
		}
	})
}

// FuzzLabelSet: the labels of a flag are finite, and as many as may be.
func FuzzLabelSet(f *testing.F) {
	for _, text := range []string{"1..52", "0..10..2", "0,1,5", "1..0", "0..1e9", "a", "0..1..1e-300", "..", "0..1..1..1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		labels, err := spread("labels", text, "..", labeldp.MaxLabels)
		for _, y := range labels {
			if math.IsNaN(y) || math.IsInf(y, 0) {
				t.Fatalf("%q: %v", text, labels)
			}
		}
		if err == nil && len(labels) == 0 {
			t.Fatalf("%q: no labels", text)
		}
	})
}

// FuzzPlanFile: a plan file is a plan, or an error that begins with its name.
func FuzzPlanFile(f *testing.F) {
	examples, err := filepath.Glob(root + "/examples/*.yaml")
	if err != nil || len(examples) == 0 {
		f.Fatal(examples, err)
	}
	for _, path := range examples {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("neighbors: [\x1b"))
	f.Fuzz(func(t *testing.T, text []byte) {
		cmd := new(cobra.Command)
		cmd.SetIn(bytes.NewReader(text))
		text, name, err := readInput(cmd, "-")
		if err != nil {
			t.Fatal(err)
		}
		if err := planProblem(name, service.CheckPlan(text)); err != nil && !strings.HasPrefix(err.Error(), "standard input:") {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

// FuzzOrders: what --orders takes are finite numbers, not too many of them.
func FuzzOrders(f *testing.F) {
	for _, text := range []string{"", "2,4.5", "1.5:100:0.5", "1:2:0", "1:1e18:1", "1:2", "1e308:-1e308:1e-300", ":::", "2,,3", "0x1p3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		orders, err := spread("--orders", text, ":", 100_000)
		if err != nil && !strings.HasPrefix(err.Error(), "--orders: ") {
			t.Fatalf("%q: %v", text, err)
		}
		if len(orders) > max(100_000, len(text)) {
			t.Fatalf("%q: %d orders", text, len(orders))
		}
		for _, x := range orders {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Fatalf("%q: %v", text, x)
			}
		}
	})
}
