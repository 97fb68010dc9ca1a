package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/service"
)

var slow = flag.Bool("slow", false, "build the page and ask it, under node and in Chromium: about half a minute")

const root = "../.."

// built makes the page in a folder of the test, or leaves the test out.
func built(t *testing.T, program string) string {
	t.Helper()
	if !*slow {
		t.Skip("THE PAGE IS NOT TESTED: go test ./web/build -slow does")
	}
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("THE PAGE IS NOT TESTED: there is no %s", program)
	}
	to := t.TempDir()
	s, err := build(root, to)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("module %d bytes, packed (%s) %d", s.module, s.format, s.packed)
	return to
}

// node runs run.js and returns what it prints.
func node(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("node", append([]string{"run.js"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, &stdout, &stderr)
	}
	t.Logf("times in ms: %s", strings.Join(strings.Fields(stderr.String()), " "))
	return stdout.String()
}

const training = `{"op":"dpsgd","id":7,"examples":60000,"batch-size":256,"epochs":60,"noise-multiplier":1.1,"delta":1e-5}`

// TestNode: the page's worker says what the library says, of ends as well as of errors.
func TestNode(t *testing.T) {
	dist := built(t, "node")
	requests := []string{
		training,
		`{"op":"plan-check","plan":"neighbors: add-remove\nsteps:\n  - mechanism: {gaussian: {sigma: 1}}\n"}`,
		`{"op":"epsilon","plan":{"neighbors":"substitute","steps":[{"mechanism":{"gaussian":{"noise-multiplier":2}},"count":3}]},"delta":1e-6}`,
	}
	answers := strings.Split(strings.TrimSpace(node(t, append([]string{dist}, requests...)...)), "\n")
	if len(answers) != len(requests) {
		t.Fatalf("%d answers", len(answers))
	}
	for i, request := range requests {
		want, err := service.Marshal(service.New(nil).Answer(context.Background(), []byte(request)))
		if err != nil {
			t.Fatal(err)
		}
		if answers[i] != string(want) {
			t.Errorf("%s:\nthe page\n%s\nthe library\n%s", request, answers[i], want)
		}
	}
	// Hundreds of points, each some milliseconds: it is cancelled long before the last.
	cancelled := node(t, dist, "--cancel", `{"op":"curve","kind":"steps","delta":1e-5,"points":500,"plan":{"neighbors":"add-remove","steps":[{"mechanism":{"laplace":{"noise-multiplier":1.1}},"sampling":{"poisson":{"rate":0.01}},"count":14063}]}}`)
	if !strings.Contains(cancelled, `"kind":"cancelled"`) {
		t.Errorf("a cancelled request is answered by %s", cancelled)
	}
}

// TestCopy: the plan that the page writes for a training run has the ε of the run.
func TestCopy(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("THE PLANS THAT THE PAGE WRITES ARE NOT TESTED: there is no node")
	}
	s := service.New(nil)
	for _, batching := range service.Batchings {
		form := map[string]any{"examples": 1000, "batch-size": 100, "epochs": 2, "noise-multiplier": 3, "delta": 1e-5, "batching": batching}
		if batching == service.TruncatedPoisson {
			form["cap"] = 150
		}
		request, err := json.Marshal(form)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := s.Do(context.Background(), "dpsgd", request)
		if err != nil {
			t.Fatal(batching, err)
		}
		text, err := service.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("node", "-e", `const [form, answer] = process.argv.slice(1).map((t) => JSON.parse(t)); process.stdout.write(require("../copy.js").planOf(form, answer))`, string(request), string(text)).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", batching, err, out)
		}
		got, err := s.Epsilon(context.Background(), service.EpsilonRequest{Plan: service.PlanText(out), Delta: service.One("1e-5")})
		if err != nil {
			t.Fatalf("%s: %v\n%s", batching, err, out)
		}
		if want := answer.(service.DPSGDAnswer).Results[0].Epsilon; got.Results[0].Epsilon != want {
			t.Errorf("%s: the plan has ε %v, the run %v\n%s", batching, got.Results[0].Epsilon, want, out)
		}
	}
}

// TestFields: every key that the form of a training run sends is one of the operation, and
// the page offers every batching, and nothing to solve for that cannot be.
func TestFields(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "web", "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	_, form, _ := strings.Cut(string(page), `<form id="training-form"`)
	form, _, _ = strings.Cut(form, "</form>")
	keys := map[string]bool{}
	for _, o := range service.Operations() {
		for _, k := range o.Keys {
			keys[o.Name+" "+k.Name] = true
		}
	}
	parts := strings.Split(form, ` name="`)[1:]
	for _, part := range parts {
		if name, _, _ := strings.Cut(part, `"`); !keys["dpsgd "+name] {
			t.Errorf("the form has a field %q, which dpsgd has not", name)
		}
	}
	if len(parts) < 9 {
		t.Errorf("the form has %d fields", len(parts))
	}
	_, solve, _ := strings.Cut(string(page), `<select name="solve">`)
	solve, _, _ = strings.Cut(solve, "</select>")
	for _, part := range strings.Split(solve, "<option>")[1:] {
		name, _, _ := strings.Cut(part, "<")
		if _, err := accountant.ParseQuantity(name); err != nil {
			t.Error(err)
		}
	}
	for _, b := range service.Batchings {
		if !strings.Contains(form, `<option value="`+b+`">`) {
			t.Errorf("the form does not offer %s", b)
		}
	}
}
