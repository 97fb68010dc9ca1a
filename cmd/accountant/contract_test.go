package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/cmd/server"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/slow"
)

const (
	sampledPlan = `"plan":{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":2}},"sampling":{"poisson":{"rate":0.1}},"count":20}]}`
	gapPlan     = `"plan":{"neighbors":"substitute","steps":[{"mechanism":{"gaussian":{"noise-multiplier":4}},"sampling":{"without-replacement":{"population":1000,"batch":10}},"count":10}]}`
	purePlan    = `"plan":{"neighbors":"add-remove","steps":[{"mechanism":{"pure":{"epsilon":1}},"count":2}]}`
	tinyPlan    = `"plan":{"neighbors":"substitute","steps":[{"mechanism":{"gaussian":{"noise-multiplier":4}},"sampling":{"without-replacement":{"population":20,"batch":2}},"count":5}]}`
	someVotes   = `"votes":[[95,3,2],[40,35,25]]`
)

// contract has requests of every operation that only asks, which every front end answers alike. Where problem is not "", it is what
// each says; the flags of the command have two dashes before the keys.
var contract = []struct{ op, request, problem string }{
	{"version", `{}`, ""},
	{"explain", `{"topic":"poisson"}`, ""},
	{"explain", `{}`, ""},
	{"explain", `{"containing":"Theorem 3.4"}`, ""},
	{"explain", `{"containing":"no such words"}`, `containing: "no such words" is in no topic`},
	{"epsilon", `{` + sampledPlan + `,"delta":[1e-5,0.5],"recursion":0}`, ""},
	{"epsilon", `{` + sampledPlan + `,"delta":1e-5,"accountant":"rdp"}`, ""},
	{"epsilon", `{` + sampledPlan + `,"delta":1}`, "delta: 1 is not in [0, 1)"},
	{"epsilon", `{` + sampledPlan + `,"delta":[1e-5,2]}`, "2 is not in [0, 1)"},
	{"delta", `{` + purePlan + `,"epsilon":[0.5,1]}`, ""},
	{"delta", `{` + gapPlan + `,"epsilon":1,"accuracy":1e-12,"work":10,"recursion":0}`, ""}, // warnings
	{"delta", `{` + sampledPlan + `,"epsilon":1,"accountant":"rdp"}`, ""},
	{"delta", `{` + sampledPlan + `,"epsilon":1,"accountant":"rpd"}`, `"rpd" is not fourier or rdp; did you mean "rdp"?`},
	{"risk", `{` + sampledPlan + `}`, ""},
	{"risk", `{` + purePlan + `,"false-positives":[1e-6],"priors":[0.25,0.5]}`, ""},
	{"risk", `{` + sampledPlan + `,"priors":[0.5,1]}`, "1 is not in [1e-290, 1)"},
	{"curve", `{` + sampledPlan + `,"points":3,"from":-0.5,"to":1,"rdp":true}`, ""},
	{"curve", `{` + sampledPlan + `,"points":4,"kind":"steps","delta":1e-6}`, ""},
	{"curve", `{` + sampledPlan + `,"points":3,"kind":"steps","delta":[1e-6,1e-5]}`, ""},
	{"curve", `{` + sampledPlan + `,"kind":"steps","delta":[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8]}`, "delta: makes 8 curves, more than 7"},
	{"curve", `{` + sampledPlan + `,"points":3,"kind":"trade-off","log":true}`, ""},
	{"curve", `{` + sampledPlan + `,"points":1}`, "points: 1 is not a whole number in [2, 10000]"},
	{"calibrate", `{` + sampledPlan + `,"epsilon":1,"delta":1e-5,"accuracy":1e-4}`, ""},
	{"calibrate", `{` + gapPlan + `,"epsilon":1,"delta":1e-5,"solve":"batch","step":"steps[0]"}`, ""},
	{"calibrate", `{` + sampledPlan + `,"epsilon":1,"delta":1e-5,"solve":"batch","examples":1000}`, ""},
	{"calibrate", `{` + sampledPlan + `,"target-tpr":0.1,"at-fpr":0.01}`, ""},
	{"calibrate", `{` + sampledPlan + `,"target-advantage":0.1,"solve":"count"}`, ""},
	{"calibrate", `{` + sampledPlan + `,"epsilon":1,"delta":1e-5,"solve":"noise"}`, `did you mean "noise-multiplier"?`},
	{"compare", `{` + sampledPlan + `,"delta":1e-5}`, ""},
	{"compare", `{` + sampledPlan + `,"delta":2}`, "delta: 2 is not in (0, 1)"},
	{"gdp", `{` + sampledPlan + `,"tolerance":1e-6}`, ""},
	{"gdp-solve", `{"plan":{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":1}},"count":4}]},"mu":1,"solve":"noise-multiplier"}`, ""},
	{"plan-check", `{` + sampledPlan + `}`, ""},
	{"plan-check", `{"plan":{"neighbors":"add-remove","steps":[{"name":"train","mechanism":{"pure":{"epsilon":1}}}]}}`, ""},
	{"plan-convert", `{` + sampledPlan + `}`, ""},
	{"plan-convert", `{` + sampledPlan + `,"to":"plan"}`, ""},
	{"diff", `{"delta":1e-5,"recursion":0,"old":` + strings.TrimPrefix(tinyPlan, `"plan":`) + `,"new":` + strings.TrimPrefix(gapPlan, `"plan":`) + `}`, ""},
	{"dpsgd", `{"examples":1000,"batch-size":10,"epochs":1.5,"noise-multiplier":2,"delta":[1e-5,1e-6]}`, ""},
	{"dpsgd", `{"sampling-rate":0.1,"steps":10,"target-epsilon":2,"delta":1e-5,"neighbors":"substitute"}`, ""},
	{"dpsgd", `{"sampling-rate":0.1,"steps":10,"target-epsilon":[2,1],"delta":[1e-5,1e-6]}`, ""},
	{"dpsgd", `{"sampling-rate":0.1,"steps":10,"target-epsilon":[2,-1.5],"delta":1e-5}`, "-1.5 is not in [0, "},
	{"dpsgd", `{"sampling-rate":1,"steps":1,"target-tpr":0.1,"at-fpr":0.01,"delta":1e-5}`, ""},
	{"dpsgd", `{"sampling-rate":0.1,"steps":10,"noise-multiplier":1,"delta":1e-5,"records-per-person":0}`, "records-per-person: 0 is not a whole number in [1, "},
	{"shuffle", `{"users":1000,"epsilon":1,"randomizer":"k-rr","categories":4,"delta":[1e-6,1e-5]}`, ""},
	{"profile", `{"mechanism":"laplace","noise-multiplier":2,"sampling-rate":0.1,"neighbors":"substitute"}`, ""},
	{"profile", `{"mechanism":"finite","p":[0.5,0.5],"q":[0.25,0.75],"at":[0,1]}`, ""},
	{"sampling", `{"population":100,"batch":10,"subset":20,"noise-multiplier":5,"steps":10,"recursion":0}`, ""},
	{"sampling", `{"population":100,"batch":101,"noise-multiplier":0}`, "noise-multiplier: 0 is not in ("},
	{"select", `{` + purePlan + `,"delta":1e-5,"law":["geometric"]}`, ""},
	{"select", `{"candidate-epsilon":1,"mean":[2,3]}`, ""},
	{"majority", `{"mechanisms":11,"epsilon":0.1,"allowance":3}`, ""},
	{"matrix-optimize", `{"strategy":"toeplitz","steps":12,"participation":"{epochs: 3}"}`, ""},
	{"filter", `{"menu":{"neighbors":"add-remove","budget":{"units":2},"menu":[{"name":"a","cost":1,"steps":[{"mechanism":{"pure":{"epsilon":1}}}]}]},"epsilon":1}`, ""},
	{"audit", `{"design":"one-run","members":[3,4,5],"non-members":[1,2],"delta":0,"confidence":0.5}`, ""},
	{"label", `{"epsilon":[0.5,1],"labels":[0,1,2],"weights":[1,1,3]}`, ""},
	{"pate", `{` + someVotes + `,"mechanism":"confident","threshold":60,"sigma1":20,"sigma2":10,"delta":1e-5,"orders":[4,8]}`, ""},
	{"pate", `{` + someVotes + `,"mechanism":"Confident-GNMax","sigma1":20,"delta":1e-5}`, `did you mean "confident"?`},
	{"pate-calibrate", `{` + someVotes + `,"mechanism":"gnmax","epsilon":[1,2],"delta":[1e-5,1e-6]}`, ""},
	{"pate-smooth", `{` + someVotes + `,"mechanism":"gnmax","sigma2":40,"delta":1e-5,"order":14,"beta":0.0143,"sigma-ss":5,"seed":3}`, ""},
	{"pate-publish", `{` + someVotes + `,"mechanism":"gnmax","sigma2":40,"delta":1e-5,"order":12,"beta":0.02,"noise":0.15,"seed":3}`, ""},
}

// A reply is a result in JSON, or what is wrong.
type reply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// TestContract: a request is answered alike by every front end: a struct in Go, the flags of its command, a line of JSON, HTTP and
// Python.
func TestContract(t *testing.T) {
	slow.Test(t)
	asked := map[string]bool{}
	for _, c := range contract {
		asked[c.op] = asked[c.op] || c.problem == ""
	}
	for _, o := range service.Operations() {
		if o.Scope == service.ScopeRead && !strings.HasPrefix(o.Name, "ledger-") && !asked[o.Name] {
			t.Errorf("no front end is asked for %s", o.Name)
		}
	}
	s, err := server.New(server.Config{Log: &bytes.Buffer{}})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler())
	defer h.Close()
	python := askPython(t)
	for i, c := range contract {
		frontEnds := map[string]reply{"Go": askGo(t, c.op, c.request), "flags": askFlags(t, c.op, c.request), "HTTP": askHTTP(t, h.URL, c.op, c.request)}
		if python != nil {
			frontEnds["Python"] = python[i]
		}
		lines := service.New(nil)
		for _, frontEnd := range []string{"line", "line again"} { // the second time from memory, where there is one
			var out bytes.Buffer
			var r reply
			if err := serve(t.Context(), lines, strings.NewReader(strings.Replace(fmt.Sprintf(`{"op":%q,%s`, c.op, c.request[1:]), ",}", "}", 1)), &out); err != nil || json.Unmarshal(out.Bytes(), &r) != nil {
				t.Fatal(err)
			}
			frontEnds[frontEnd] = r
		}
		want := frontEnds["line"]
		for frontEnd, got := range frontEnds {
			switch {
			case c.problem != "":
				if got.Error == nil || !strings.Contains(got.Error.Message, c.problem) {
					t.Errorf("%s %s by %s: %s %v, want %s", c.op, c.request, frontEnd, got.Result, got.Error, c.problem)
				}
			case got.Error != nil || !same(t, got.Result, want.Result):
				t.Errorf("%s %s by %s: %v\ngot  %s\nwant %s", c.op, c.request, frontEnd, got.Error, got.Result, want.Result)
			}
		}
	}
}

// same reports whether two texts of JSON have the same values.
func same(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}

func failed(err error) reply { return reply{Error: &struct{ Message string }{err.Error()}} }

// askGo asks by a struct.
func askGo(t *testing.T, op, request string) reply {
	t.Helper()
	q := service.NewRequest(op)
	if err := json.Unmarshal([]byte(request), q); err != nil {
		t.Fatal(err)
	}
	a, err := service.New(nil).Ask(t.Context(), op, q)
	if err != nil {
		return failed(err)
	}
	text, err := service.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return reply{Result: text}
}

// commandOf are the commands of operations that are called otherwise.
var commandOf = map[string]string{"pate": "pate analyze", "plan-check": "plan check", "plan-convert": "plan convert", "gdp-solve": "gdp solve", "matrix-optimize": "matrix optimize", "pate-calibrate": "pate calibrate", "pate-smooth": "pate smooth", "pate-publish": "pate publish"}

// askFlags asks by the command: each key is a flag, but for what the command reads from files.
func askFlags(t *testing.T, op, request string) reply {
	t.Helper()
	var given map[string]any
	var texts map[string]json.RawMessage
	if err := json.Unmarshal([]byte(request), &texts); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(request))
	d.UseNumber()
	if err := d.Decode(&given); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	words := strings.Fields(op)
	if c := commandOf[op]; c != "" {
		words = strings.Fields(c)
	}
	cmd, _, err := newRootCmd().Find(words)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, key := range []string{"plan", "old", "new", "menu"} {
		if given[key] == nil {
			continue
		}
		if path := file(key, string(texts[key])); cmd.Flags().Lookup(key) != nil {
			words = append(words, "--"+key, path)
		} else {
			paths = append(paths, path)
		}
		delete(given, key)
	}
	column := func(key, word string) (text string) {
		for _, x := range given[key].([]any) {
			text += fmt.Sprintf("%v,%s\n", x, word)
		}
		delete(given, key)
		return text
	}
	switch {
	case given["topic"] != nil:
		paths = append(paths, fmt.Sprint(given["topic"]))
		delete(given, "topic")
	case given["votes"] != nil:
		text := ""
		for _, row := range given["votes"].([]any) {
			text += strings.Join(strings.Fields(strings.Trim(fmt.Sprint(row), "[]")), ",") + "\n"
		}
		words = append(words, "--votes", file("votes.csv", text))
		delete(given, "votes")
	case given["weights"] != nil:
		text := "label,weight\n"
		for i, x := range given["labels"].([]any) {
			text += fmt.Sprintf("%v,%v\n", x, given["weights"].([]any)[i])
		}
		words = append(words, "--prior", file("prior.csv", text))
		delete(given, "weights")
		delete(given, "labels")
	case given["members"] != nil:
		paths = append(paths, file("scores.csv", "score,member\n"+column("members", "1")+column("non-members", "0")))
	}
	for key, value := range given {
		text := fmt.Sprint(value)
		if list, ok := value.([]any); ok {
			text = strings.Join(strings.Fields(strings.Trim(fmt.Sprint(list), "[]")), ",")
		}
		words = append(words, "--"+key+"="+text)
	}
	code, stdout, stderr := command("", append(append(words, "--json"), paths...)...)
	if code != 0 {
		var r reply
		if err := json.Unmarshal([]byte(strings.ReplaceAll(stderr, "--", "")), &r); err != nil {
			t.Fatalf("%q: %s", words, stderr)
		}
		return r
	}
	if op == "plan-check" { // of several files, by their names
		_, stdout, _ = strings.Cut(stdout, ",")
		stdout = "{" + stdout[:strings.Index(stdout, "}")+1]
	}
	return reply{Result: json.RawMessage(stdout)}
}

func askHTTP(t *testing.T, url, op, request string) reply {
	t.Helper()
	a, err := http.Post(url+"/v1/"+op, "application/json", strings.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	var text json.RawMessage
	if err := json.NewDecoder(a.Body).Decode(&text); err != nil {
		t.Fatal(err)
	}
	if a.StatusCode == http.StatusOK {
		return reply{Result: text}
	}
	var r reply
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// askPython asks all by the methods of the Python client, whose answers can be read, and returns what came to them; nil where there is no Python.
func askPython(t *testing.T) (replies []reply) {
	python := pythonFor(t)
	program := linkedProgram(t)
	var in bytes.Buffer
	for _, c := range contract {
		fmt.Fprintf(&in, "%s %s\n", c.op, c.request)
	}
	cmd := exec.CommandContext(t.Context(), python, "-B", filepath.Join("testdata", "contract.py"))
	cmd.Env = append(os.Environ(), "ACCOUNTANT="+program, "PYTHONPATH="+filepath.Join("..", "..", "python"), "PYTHONIOENCODING=utf-8")
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(out) {
		var r reply
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		replies = append(replies, r)
	}
	if len(replies) != len(contract) {
		t.Fatalf("Python has %d answers to %d requests", len(replies), len(contract))
	}
	return replies
}
