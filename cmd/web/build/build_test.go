package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/slow"
)

const root = "../../.."

// made is the page of all tests, which takes a minute to make.
var made struct {
	sync.Once
	to   string
	size size
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if made.to != "" {
		os.RemoveAll(made.to)
	}
	os.Exit(code)
}

// built makes the page, or leaves the test out.
func built(t *testing.T, program string) string {
	t.Helper()
	slow.Long(t)
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("THE PAGE IS NOT TESTED: there is no %s", program)
	}
	made.Do(func() {
		if made.to, made.err = os.MkdirTemp("", "page"); made.err == nil {
			made.size, made.err = build(root, made.to)
		}
	})
	to, s, err := made.to, made.size, made.err
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("module %d bytes, packed (%s) %d", s.module, s.format, s.packed)
	if most := map[string]int{"lzma": 2_500_000, "gzip": 3_500_000}[s.format]; s.packed > most {
		t.Errorf("packed as %s the module has %d bytes, more than %d", s.format, s.packed, most)
	}
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

// asked returns what an engine of the page answers, a line each.
func asked(t *testing.T, engine string, requests []string) []string {
	t.Helper()
	answers := strings.Split(strings.TrimSpace(node(t, append([]string{engine}, requests...)...)), "\n")
	if len(answers) != len(requests) {
		t.Fatalf("%s: %d answers to %d requests", engine, len(answers), len(requests))
	}
	return answers
}

var numeral = regexp.MustCompile(`\d+(\.\d+)?(e[-+]?\d+)?`)

// alike reports whether two answers are the same but for last digits. math.Exp is written in assembler on
// some machines, and errs otherwise there than the portable one that WebAssembly has, by less than a unit in the
// last place each. An answer is made of sums whose terms have some tens of exponentials as factors: 100 of them
// make 100·2⁻⁵² = 2e-14 of a number. Both ends count that error, so that both intervals are proved.
func alike(page, library string) bool {
	if numeral.ReplaceAllString(page, "0") != numeral.ReplaceAllString(library, "0") {
		return false
	}
	p, l := numeral.FindAllString(page, -1), numeral.FindAllString(library, -1)
	for i := range p {
		x, errX := strconv.ParseFloat(p[i], 64)
		y, errY := strconv.ParseFloat(l[i], 64)
		if errX != nil || errY != nil || !(math.Abs(x-y) <= 2e-14*math.Abs(y)) {
			return false
		}
	}
	return true
}

// TestAlike: a difference in the thirteenth digit is one, and so is another word.
func TestAlike(t *testing.T) {
	for _, c := range []struct {
		page, library string
		want          bool
	}{
		{`{"upper":2.3816897261462593}`, `{"upper":2.3816897261462597}`, true},
		{`{"upper":2.38168972614}`, `{"upper":2.38168972615}`, false},
		{`{"upper":2.5}`, `{"lower":2.5}`, false},
		{`{"steps":14063}`, `{"steps":14064}`, false},
	} {
		if got := alike(c.page, c.library); got != c.want {
			t.Errorf("%s, %s: %v", c.page, c.library, got)
		}
	}
}

// TestNode: the page's worker says what the library says, of ends as well as of errors.
func TestNode(t *testing.T) {
	dist := built(t, "node")
	engine := filepath.Join(dist, "engine.js")
	requests := []string{
		training,
		`{"op":"dpsgd","examples":1000,"batch-size":100,"epochs":2,"noise-multiplier":-1,"delta":1e-5}`,
		`{"op":"plan-check","plan":"neighbors: add-remove\nsteps:\n  - mechanism: {gaussian: {sigma: 1}}\n"}`,
		`{"op":"epsilon","plan":{"neighbors":"substitute","steps":[{"mechanism":{"gaussian":{"noise-multiplier":2}},"count":3}]},"delta":1e-6}`,
	}
	for i, got := range asked(t, engine, requests) {
		want, err := service.Marshal(service.New(nil).Answer(context.Background(), []byte(requests[i])))
		if err != nil {
			t.Fatal(err)
		}
		if !alike(got, string(want)) {
			t.Errorf("%s:\nthe page\n%s\nthe library\n%s", requests[i], got, want)
		}
	}
	// Hundreds of points, each some milliseconds: it is cancelled long before the last.
	cancelled := node(t, engine, "--cancel", `{"op":"curve","kind":"steps","delta":1e-5,"points":500,"plan":{"neighbors":"add-remove","steps":[{"mechanism":{"laplace":{"noise-multiplier":1.1}},"sampling":{"poisson":{"rate":0.01}},"count":14063}]}}`)
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
		answer := s.AnswerTo(context.Background(), "dpsgd", request)
		if answer.Error != nil {
			t.Fatal(batching, answer.Error)
		}
		run := answer.Result.(service.Answers[service.DPSGDAnswer]).Results[0]
		text, err := service.Marshal(run)
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("node", "-e", `const [form, answer] = process.argv.slice(1).map((t) => JSON.parse(t)); process.stdout.write(require("../copy.js").planOf(form, answer))`, string(request), string(text)).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", batching, err, out)
		}
		got, err := service.Ask[service.EpsilonAnswer](context.Background(), s, service.EpsilonRequest{Plan: service.PlanText(out), Delta: service.Decimals{"1e-5"}})
		if err != nil {
			t.Fatalf("%s: %v\n%s", batching, err, out)
		}
		if want := run.Results[0].Epsilon; got.Results[0].Epsilon != want {
			t.Errorf("%s: the plan has ε %v, the run %v\n%s", batching, got.Results[0].Epsilon, want, out)
		}
	}
}

// TestStatisticsPlan: the plans that the page writes for statistics are those of the library for the same
// bounds: L0 partitions with C records of at most B are noise multiplier s/(√L0·C·B), or b/(L0·C·B).
func TestStatisticsPlan(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("THE PLANS THAT THE PAGE WRITES ARE NOT TESTED: there is no node")
	}
	s := service.New(nil)
	for form, want := range map[string]string{
		`{"statistic":"counts","noise":"gaussian","scale":"40","partitions":"4","records":"2","releases":"3"}`:                      `{gaussian: {noise-multiplier: 10}}, count: 3`,
		`{"statistic":"counts","noise":"laplace","scale":"40","partitions":"4","records":"2","releases":"3"}`:                       `{laplace: {noise-multiplier: 5}}, count: 3`,
		`{"statistic":"sums","noise":"gaussian","scale":"400","partitions":"4","records":"2","largest":"12.5","releases":"1"}`:      `{gaussian: {noise-multiplier: 8}}, count: 1`,
		`{"statistic":"sums","noise":"laplace","scale":"400","partitions":"4","records":"2","largest":"12.5","releases":"2"}`:       `{laplace: {noise-multiplier: 4}}, count: 2`,
		`{"statistic":"partitions","noise":"gaussian","scale":"12","threshold":"75","partitions":"3","records":"9","releases":"1"}`: `{threshold: {noise: gaussian, standard-deviation: 12, threshold: 75, partitions: 3}}, count: 1`,
		`{"statistic":"partitions","noise":"laplace","scale":"12","threshold":"400","partitions":"3","records":"9","releases":"2"}`: `{threshold: {noise: laplace, scale: 12, threshold: 400}}, count: 6`,
	} {
		plan, err := exec.Command("node", "-e", `process.stdout.write(require("../copy.js").statisticsPlan(JSON.parse(process.argv[1])))`, form).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, plan)
		}
		epsilon := func(plan string) service.EpsilonAnswer {
			a, err := service.Ask[service.EpsilonAnswer](context.Background(), s, service.EpsilonRequest{Plan: service.PlanText(plan), Delta: service.Decimals{"1e-6"}})
			if err != nil {
				t.Fatalf("%v\n%s", err, plan)
			}
			return a
		}
		got, want := epsilon(string(plan)).Results[0].Epsilon, epsilon("neighbors: add-remove\nsteps: [{mechanism: " + want + "}]").Results[0].Epsilon
		// The square root and the quotient are rounded: a few units in the last place.
		if !(math.Abs(float64(got.Upper-want.Upper)) <= 1e-13*float64(want.Upper)) {
			t.Errorf("%s: ε %v, want %v\n%s", form, got, want, plan)
		}
	}
}

// TestCopyCommand: the command that the page writes for a plan hands exactly that plan to the program.
func TestCopyCommand(t *testing.T) {
	for _, name := range []string{"node", "sh"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("THE COMMANDS THAT THE PAGE WRITES ARE NOT TESTED: there is no %s", name)
		}
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "accountant"), []byte("#!/bin/sh\nprintf '%s\\n' \"$*\"; cat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, plan := range []string{"neighbors: add-remove\nsteps:\n  - name: it's $HOME `x` \\ \"y\"\n", "a: 1\nPLAN\nPLAN_\nb: 2\n", "no end"} {
		command, err := exec.Command("node", "-e", `process.stdout.write(require("../copy.js").planCommandOf(process.argv[1], "1e-5"))`, plan).Output()
		if err != nil {
			t.Fatal(err)
		}
		run := exec.Command("sh", "-c", string(command))
		run.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := run.CombinedOutput()
		if want := "epsilon --delta 1e-5 -\n" + strings.TrimSuffix(plan, "\n") + "\n"; err != nil || string(out) != want {
			t.Errorf("%v: %q, want %q", err, out, want)
		}
	}
}

// TestDefaultFolder: the page is made where documentation says, which is a folder that git ignores.
func TestDefaultFolder(t *testing.T) {
	for _, name := range []string{".gitignore", "docs/reference/web.md", "README.md"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), filepath.ToSlash(dist)) {
			t.Errorf("%s does not have the folder %s", name, dist)
		}
	}
}

// TestForgotten: every part of the page that shows answers is one of those that a change of the fields clears.
func TestForgotten(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "cmd", "web", "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(root, "cmd", "web", "app.js"))
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(script), "const shown = {")
	shown, _, _ = strings.Cut(shown, "\n};")
	found := 0
	for _, tag := range regexp.MustCompile(`<[a-z]+ [^>]*(?:aria-live|id="statement")[^>]*>`).FindAllString(string(page), -1) {
		_, id, _ := strings.Cut(tag, ` id="`)
		id, _, _ = strings.Cut(id, `"`)
		if found++; !strings.Contains(shown, strconv.Quote(id)) {
			t.Errorf("%s keeps its answer when the fields change", tag)
		}
	}
	if found < 5 {
		t.Errorf("%d parts of the page show answers", found)
	}
}

// TestFields: every key that the form of a training run sends is one of the operation, and
// the page offers every batching.
func TestFields(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "cmd", "web", "index.html"))
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
	for _, b := range service.Batchings {
		if !strings.Contains(form, `<option value="`+b+`">`) {
			t.Errorf("the form does not offer %s", b)
		}
	}
}
