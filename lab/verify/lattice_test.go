package verify

// Plans of which no integral or list is in reach: laws on a lattice, above and below.

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

// TestLawsProveAndRefute: each plan is proved, and nothing false about it is: both ends moved by one and a half of the width, a run more or
// less, a parameter by 3 %, the other direction.
func TestLawsProveAndRefute(t *testing.T) {
	checker := build(t)
	d := draw{newRand(3)}
	for i, c := range []struct {
		relation, step string
		delta          float64
	}{
		{"add-remove", "{mechanism: {discrete-gaussian: {noise-multiplier: 2}}, sampling: {poisson: {rate: 0.1}}}", 1e-6},
		{"add-remove", "{mechanism: {discrete-gaussian: {noise-multiplier: 3, sensitivity: 2, dimension: 1}}, sampling: {poisson: {rate: 0.05}}, count: 40}", 1e-8},
		{"zero-out", "{mechanism: {discrete-gaussian: {noise-multiplier: 1, dimension: 1}}, sampling: {poisson: {rate: 0.02}}, count: 9}", 1e-4},
		{"add-remove", "{mechanism: {laplace: {noise-multiplier: 0.722}}, sampling: {poisson: {rate: 0.0787}}, count: 11}", 1.5e-7},
		{"substitute", "{mechanism: {laplace: {noise-multiplier: 3}}, count: 6}", 1e-4},
	} {
		if i > 2 && !slow.All() {
			continue
		}
		s := sample{kind: "dp-sgd", relation: c.relation, steps: []string{c.step}, records: 1, delta: c.delta}
		if !s.certify(t) {
			t.Errorf("wide or with a warning: %v\n%s", s.answer.Epsilon, s.text)
		}
		if code, said := check(t, checker, s.certificate); code != proved {
			t.Errorf("exit %d\n%s%s\n%s", code, s.text, said, s.certificate)
		}
		refuse := func(name, text string) {
			if code, said := check(t, checker, text); code != refuted {
				t.Errorf("%s: exit %d\n%s%s", name, code, said, text)
			}
		}
		for _, x := range sabotages {
			if text := x.do(d, s); x.codes[0] == refuted && len(x.codes) == 1 && !strings.HasPrefix(x.name, "a parameter") && text != "" {
				refuse(x.name, text)
			}
		}
		refuse("a parameter larger", scaled(s.certificate, 1.03))
		refuse("a parameter smaller", scaled(s.certificate, 0.97))
	}
}

// TestManySteps: lines with the same words are one step, and others are many; neither more records than that may be merged into a claim.
func TestManySteps(t *testing.T) {
	checker := build(t)
	var equal, distinct strings.Builder
	for i := range 70 {
		equal.WriteString("  - {mechanism: {gaussian: {noise-multiplier: 1.5}}, sampling: {poisson: {rate: 0.02}}, count: 20}\n")
		fmt.Fprintf(&distinct, "  - {mechanism: {gaussian: {noise-multiplier: %v}}, sampling: {poisson: {rate: 0.02}}, count: 5}\n", 1+float64(i)/100)
	}
	// 400 outcomes that are equally likely on one data set, and a quarter more or less so on the other.
	p, q := strings.Repeat("0.0025, ", 400), strings.Repeat("0.003125, 0.001875, ", 200)
	for _, c := range []struct {
		name, steps string
		records     int
	}{
		{"equal", equal.String(), 1},
		{"distinct", distinct.String(), 1},
		{"a person of 20 records", "  - {mechanism: {gaussian: {noise-multiplier: 5}}, sampling: {poisson: {rate: 0.005}}, count: 300}\n", 20},
		{"400 outcomes", fmt.Sprintf("  - {mechanism: {finite: {p: [%s], q: [%s]}}, count: 3}\n", p, q), 1},
	} {
		if (c.name == "distinct" || c.records > 1) && !slow.All() {
			continue
		}
		text := fmt.Sprintf("neighbors: add-remove\nrecords-per-person: %d\nsteps:\n%s", c.records, c.steps)
		certificate, a, err := certify(text, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		if code, said := check(t, checker, certificate); code != proved {
			t.Errorf("%s: exit %d\n%s\n%.3000s", c.name, code, said, certificate)
		}
		s := sample{certificate: certificate, answer: a}
		lo, hi := float64(a.Epsilon.Lower), float64(a.Epsilon.Upper)
		for name, text := range map[string]string{
			"ends too low": s.claiming(lo/2, lo-1.5*(hi-lo)-1e-12*lo),
			"a run more":   s.counting(1),
		} {
			if code, said := check(t, checker, text); code != refuted {
				t.Errorf("%s, %s: exit %d\n%s", c.name, name, code, said)
			}
		}
	}
}

// TestLimitOfProcessorTime: where the caller has a limit of its own, which may not be raised, the checker still ends with a reason, before it.
func TestLimitOfProcessorTime(t *testing.T) {
	slow.Test(t)
	checker := build(t)
	text, _, err := certify(onSamples("add-remove", "gaussian: {noise-multiplier: 3.12}", "with-replacement: {population: 889, batch: 53}", 2), 3.93e-5)
	if err != nil {
		t.Fatal(err)
	}
	limited := filepath.Join(t.TempDir(), "limited")
	if err := os.WriteFile(limited, []byte("#!/bin/sh\nulimit -t 2\nexec "+checker+" -\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("VERIFY_SECONDS", "0.5")
	if code, said := check(t, limited, text); code != notChecked {
		t.Errorf("exit %d\n%s\n%s", code, said, text)
	}
}
