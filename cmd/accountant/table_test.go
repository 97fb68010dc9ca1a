package main

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/cmd/service"
)

// failing is an output that takes nothing.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestFullOutput: an answer that could not be written is no success, whichever command wrote it.
func TestFullOutput(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(plan, []byte("neighbors: add-remove\nsteps: [{mechanism: {laplace: {noise-multiplier: 1}}, count: 10}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"--help", "--version", "version", "help epsilon", "epsilon --help", "explain", "explain risk",
		"epsilon --delta 1e-5 " + plan, "calibrate --markdown --epsilon 2 --delta 0 --solve noise-multiplier " + plan,
		"majority --mechanisms 5 --epsilon 0.1 --allowance 3", "plan schema", "plan check " + plan, "risk " + plan,
	} {
		var stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(line), strings.NewReader(""), failing{}, &stderr)
		if code != exitInput || stderr.String() != "accountant: no space left on device\n" {
			t.Errorf("%s: exit status %d, %s", line, code, stderr.String())
		}
	}
}

// TestCertifiedTitle: a column is headed certified where both ends of every row are proved, and the gap below a
// bound is told of where it is one.
func TestCertifiedTitle(t *testing.T) {
	inf := service.Number(math.Inf(1))
	for _, c := range []struct {
		lower, upper service.Number
		gap          bool
		title, note  bool
	}{
		{1, 2, true, true, true},
		{1, 2, false, true, false},
		{1, 1 + 1e-13, true, true, false},
		{1, 1 + 1e-11, true, true, true},
		{0, 0, true, true, false},
		{inf, inf, false, true, false},
		{2.7365, inf, false, false, false},
		{2.7365, inf, true, false, true},
	} {
		var b bytes.Buffer
		a := answer{"δ", "ε", 1e-5, service.Bounds{Lower: c.lower, Estimate: c.lower, Upper: c.upper}, service.Basis{TheoryGap: c.gap, Warnings: []string{"wide"}}}
		printTable(&b, []answer{a}, false)
		if strings.Contains(b.String(), "certified") != c.title || strings.Contains(b.String(), "not bounded from above") == c.title || strings.Contains(b.String(), "two nothing is proved") != c.note {
			t.Errorf("[%v, %v], gap %v:\n%s", c.lower, c.upper, c.gap, b.String())
		}
	}
}

// TestEveryTitle: every command that prints intervals says "certified" where their upper ends are finite, and never where one
// is infinite above a finite lower end.
func TestEveryTitle(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		// One record has an infinite loss with a probability of 5e-7; for three, at most 1.5e-6 is proved.
		"open.yaml":   "neighbors: add-remove\nrecords-per-person: 3\nsteps: [{mechanism: {approximate: {epsilon: 1, delta: 1.0e-6}}, sampling: {poisson: {rate: 0.5}}}]\n",
		"closed.yaml": "neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 2}}}]\n",
		"scores.csv":  "member,score\n1,2\n1,3\n1,1\n0,0\n0,-1\n0,-2\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const certified, open = "certified", "not bounded from above"
	for _, c := range []struct{ line, title string }{
		{"epsilon --delta 8e-7 open.yaml", open},
		{"epsilon --delta 8e-7 closed.yaml", certified},
		{"epsilon --delta 8e-7 --follow - open.yaml", open},
		{"epsilon --delta 8e-7 --follow - closed.yaml", certified},
		{"delta --epsilon 1 open.yaml", certified},
		{"compare --delta 8e-7 open.yaml", open},
		{"compare --delta 8e-7 closed.yaml", certified},
		{"diff --delta 8e-7 closed.yaml open.yaml", open},
		{"audit --design one-run --delta 8e-7 --plan open.yaml scores.csv", open},
		{"audit --design one-run --delta 8e-7 --plan closed.yaml scores.csv", certified},
		{"risk open.yaml", certified}, // probabilities
		{"gdp --tolerance 0 closed.yaml", certified},
		{"gdp solve --mu 1 --tolerance 0 --solve noise-multiplier closed.yaml", certified},
		{"calibrate --markdown --epsilon 2 --delta 1e-5 --solve noise-multiplier closed.yaml", certified},
		{"dpsgd --examples 1000 --batch-size 10 --epochs 1 --noise-multiplier 2 --delta 1e-5", certified},
		{"sampling --population 100 --batch 10 --noise-multiplier 2 --steps 2 --recursion 0", certified},
		{"sampling --population 100 --batch 10 --noise-multiplier 2 --epochs 1 --recursion 0", certified},
	} {
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		var out, stderr bytes.Buffer
		code := run(ctx, strings.Fields(c.line), strings.NewReader("{\"steps\": 1}\n"), &out, &stderr)
		stop()
		other := certified + open
		other = strings.Replace(other, c.title, "", 1)
		if text := out.String(); code != 0 || !strings.Contains(text, c.title) || strings.Contains(text, other) {
			t.Errorf("%s: exit status %d, not %q:\n%s%s", c.line, code, c.title, text, stderr.String())
		}
	}
	// No plan of these answers has an infinite upper end.
	for _, a := range []service.SamplingAnswer{{}, {Epochs: 1}} {
		zero := service.Number(0)
		a.Schemes = []service.Scheme{{Scheme: "one", Eta: &zero, ExpectedDistinct: &zero, AmplifiedEpsilon: &zero, AmplifiedDelta: &zero,
			Epsilon: &service.Ends{Lower: 1, Upper: service.Number(math.Inf(1))}}}
		var b bytes.Buffer
		printSampling(&b, a, nil)
		if strings.Contains(b.String(), certified) || !strings.Contains(b.String(), open) {
			t.Errorf("sampling:\n%s", b.String())
		}
	}
}
