package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/slow"
)

// TestServeSaysWhatCommandsSay: a request is answered by the bytes that the
// command of its name prints.
func TestServeSaysWhatCommandsSay(t *testing.T) {
	slow.Test(t)
	const plan = `{"neighbors": "add-remove", "steps": [{"mechanism": {"gaussian": {"noise-multiplier": 2}}, "sampling": {"poisson": {"rate": 0.1}}, "count": 20}]}`
	const gap = `{"neighbors": "substitute", "steps": [{"mechanism": {"gaussian": {"noise-multiplier": 4}}, "sampling": {"without-replacement": {"population": 1000, "batch": 10}}, "count": 10}]}`
	const tiny = `{"neighbors": "substitute", "steps": [{"mechanism": {"gaussian": {"noise-multiplier": 4}}, "sampling": {"without-replacement": {"population": 20, "batch": 2}}, "count": 5}]}`
	for _, c := range []struct {
		plan, op, keys string
		args           []string
	}{
		{plan, "risk", ``, nil},
		{gap, "risk", `, "false-positives": [1e-6], "priors": [0.25, 0.5]`, []string{"--false-positives", "1e-6", "--priors", "0.25,0.5"}},
		{plan, "curve", `, "points": 3`, []string{"--points", "3"}},
		{plan, "curve", `, "points": 3, "from": -0.5, "to": 1, "rdp": true`, []string{"--points", "3", "--from", "-0.5", "--to", "1", "--rdp"}},
		{plan, "curve", `, "points": 4, "kind": "steps", "delta": 1e-6`, []string{"--points", "4", "--kind", "steps", "--delta", "1e-6"}},
		{plan, "curve", `, "points": 3, "kind": "trade-off", "log": true`, []string{"--points", "3", "--kind", "trade-off", "--log"}},
		{plan, "calibrate", `, "epsilon": 1, "delta": 1e-5, "solve": "noise-multiplier", "accuracy": 1e-4`,
			[]string{"--epsilon", "1", "--delta", "1e-5", "--solve", "noise-multiplier", "--accuracy", "1e-4"}},
		{gap, "calibrate", `, "epsilon": 1, "delta": 1e-5, "solve": "batch", "step": "steps[0]"`,
			[]string{"--epsilon", "1", "--delta", "1e-5", "--solve", "batch", "--step", "steps[0]"}},
		{plan, "calibrate", `, "epsilon": 1, "delta": 1e-5, "solve": "batch", "examples": 1000`,
			[]string{"--epsilon", "1", "--delta", "1e-5", "--solve", "batch", "--examples", "1000"}},
		{plan, "calibrate", `, "target-tpr": 0.1, "at-fpr": 0.01, "solve": "noise-multiplier"`,
			[]string{"--target-tpr", "0.1", "--at-fpr", "0.01", "--solve", "noise-multiplier"}},
		{plan, "calibrate", `, "target-advantage": 0.1, "solve": "count"`, []string{"--target-advantage", "0.1", "--solve", "count"}},
		{plan, "compare", `, "delta": 1e-5`, []string{"--delta", "1e-5"}},
		{plan, "epsilon", `, "delta": [1e-5, 0.5]`, []string{"--delta", "1e-5,0.5", "--recursion", "0"}},
		{plan, "epsilon", `, "delta": [1e-5], "accountant": "rdp"`, []string{"--delta", "1e-5", "--accountant", "rdp"}},
		{tiny, "delta", `, "epsilon": [1], "recursion": 10, "accuracy": 1e-2`, []string{"--epsilon", "1", "--recursion", "10", "--accuracy", "0.01"}},
		{gap, "delta", `, "epsilon": [1], "accuracy": 1e-12, "work": 10`, []string{"--epsilon", "1", "--accuracy", "1e-12", "--work", "10", "--recursion", "0"}}, // warnings
		{plan, "delta", `, "epsilon": [1], "accountant": "rdp"`, []string{"--epsilon", "1", "--accountant", "rdp"}},
		{plan, "select", `, "delta": 1e-5, "law": ["geometric"]`, []string{"--delta", "1e-5", "--law", "geometric", "--plan"}},
		{"", "select", `, "candidate-epsilon": 1, "mean": [2, 3]`, []string{"--candidate-epsilon", "1", "--mean", "2,3"}},
		{"", "dpsgd", `, "examples": 1000, "batch-size": 10, "epochs": 1.5, "noise-multiplier": 2, "delta": [1e-5, 1e-6]`,
			[]string{"--examples", "1000", "--batch-size", "10", "--epochs", "1.5", "--noise-multiplier", "2", "--delta", "1e-5,1e-6"}},
		{"", "dpsgd", `, "sampling-rate": 0.1, "steps": 10, "target-epsilon": 2, "delta": 1e-5, "neighbors": "substitute"`,
			[]string{"--sampling-rate", "0.1", "--steps", "10", "--target-epsilon", "2", "--delta", "1e-5", "--neighbors", "substitute"}},
		{"", "dpsgd", `, "sampling-rate": 1, "steps": 1, "target-tpr": 0.1, "at-fpr": 0.01, "delta": 1e-5`,
			[]string{"--sampling-rate", "1", "--steps", "1", "--target-tpr", "0.1", "--at-fpr", "0.01", "--delta", "1e-5"}},
		{"", "profile", `, "mechanism": "laplace", "noise-multiplier": 2, "sampling-rate": 0.1, "neighbors": "substitute"`,
			[]string{"--mechanism", "laplace", "--noise-multiplier", "2", "--sampling-rate", "0.1", "--neighbors", "substitute"}},
		{"", "profile", `, "mechanism": "finite", "p": [0.5, 0.5], "q": [0.25, 0.75], "at": [0, 1]`,
			[]string{"--mechanism", "finite", "--p", "0.5,0.5", "--q", "0.25,0.75", "--at", "0,1"}},
		{"", "sampling", `, "population": 100, "batch": 10, "subset": 20, "noise-multiplier": 5, "steps": 10`,
			[]string{"--population", "100", "--batch", "10", "--subset", "20", "--noise-multiplier", "5", "--steps", "10", "--recursion", "0"}},
		{plan, "gdp", `, "tolerance": 1e-6`, []string{"--tolerance", "1e-6"}},
		{plan, "plan-convert", ``, []string{"convert"}},
		{plan, "plan-convert", `, "to": "plan"`, []string{"convert", "--to", "plan"}},
		{"", "majority", `, "mechanisms": 11, "epsilon": 0.1, "allowance": 3`, []string{"--mechanisms", "11", "--epsilon", "0.1", "--allowance", "3"}},
		{"", "majority", `, "mechanisms": 7, "epsilon": 0.1, "allowance": 2, "prior": [0.5, 1], "samples": 300`,
			[]string{"--mechanisms", "7", "--epsilon", "0.1", "--allowance", "2", "--prior", "0.5,1", "--samples", "300"}},
		{"", "label", `, "epsilon": 1, "labels": [0, 1, 2], "weights": [1, 1, 3]`, []string{"--epsilon", "1", "--prior", "PRIOR"}},
		{"", "pate", `, "votes": [[95, 3, 2], [40, 35, 25]], "mechanism": "confident", "threshold": 60, "sigma1": 20, "sigma2": 10, "delta": 1e-5, "orders": [4, 8]`,
			[]string{"analyze", "--votes", "VOTES", "--mechanism", "confident", "--threshold", "60", "--sigma1", "20", "--sigma2", "10", "--delta", "1e-5", "--orders", "4,8"}},
		{"", "pate-calibrate", `, "votes": [[95, 3, 2], [40, 35, 25]], "mechanism": "gnmax", "epsilon": 1, "delta": 1e-5`,
			[]string{"calibrate", "--votes", "VOTES", "--mechanism", "gnmax", "--epsilon", "1", "--delta", "1e-5"}},
		{"", "pate-smooth", `, "votes": [[95, 3, 2], [40, 35, 25]], "mechanism": "gnmax", "sigma2": 40, "delta": 1e-5, "order": 14, "beta": 0.0143, "sigma-ss": 5, "seed": 3`,
			[]string{"smooth", "--votes", "VOTES", "--mechanism", "gnmax", "--sigma2", "40", "--delta", "1e-5", "--order", "14", "--beta", "0.0143", "--sigma-ss", "5", "--seed", "3"}},
		{"", "pate-publish", `, "votes": [[95, 3, 2], [40, 35, 25]], "mechanism": "gnmax", "sigma2": 40, "delta": 1e-5, "order": 12, "beta": 0.02, "noise": 0.15, "seed": 3`,
			[]string{"publish", "--votes", "VOTES", "--mechanism", "gnmax", "--sigma2", "40", "--delta", "1e-5", "--order", "12", "--beta", "0.02", "--noise", "0.15", "--seed", "3"}},
		{"", "explain", `, "topic": "poisson"`, []string{"poisson"}},
		{"", "explain", ``, nil},
		{"", "version", ``, nil},
	} {
		dir := t.TempDir()
		files := map[string]string{"plan": c.plan, "PRIOR": "label,weight\n0,1\n1,1\n2,3\n", "VOTES": "95,3,2\n40,35,25\n"}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		name, _, _ := strings.Cut(c.op, "-")
		args := append([]string{name}, c.args...)
		if c.plan != "" {
			args = append(args, filepath.Join(dir, "plan"))
		}
		for i, arg := range args {
			if files[arg] != "" && arg != "plan" {
				args[i] = filepath.Join(dir, arg)
			}
		}
		cmd := newRootCmd()
		var printed, want bytes.Buffer
		cmd.SetOut(&printed)
		cmd.SetErr(&bytes.Buffer{})
		cmd.SetArgs(append(args, "--json"))
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&want, printed.Bytes()); err != nil {
			t.Fatal(err)
		}
		s := service.New(nil)
		line := fmt.Sprintf(`{"op": %q%s}`, c.op, c.keys)
		if c.plan != "" {
			line = fmt.Sprintf(`{"op": %q, "plan": %s%s}`, c.op, c.plan, c.keys)
		}
		for range 2 { // the second time from memory, where there is one
			var out bytes.Buffer
			if err := serve(t.Context(), s, bytes.NewReader([]byte(line)), &out); err != nil {
				t.Fatal(err)
			}
			var got struct{ Result json.RawMessage }
			if err := json.Unmarshal(out.Bytes(), &got); err != nil || !bytes.Equal(got.Result, want.Bytes()) {
				t.Errorf("%s\ngot  %s\nwant %s", line, out.Bytes(), want.Bytes())
			}
		}
	}
}
