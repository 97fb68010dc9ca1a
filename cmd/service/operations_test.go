package service

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/ledger"
)

const (
	purePlan = `{"neighbors":"add-remove","steps":[{"mechanism":{"pure":{"epsilon":1}}}]}`
	longPlan = `{"neighbors":"substitute","steps":[{"mechanism":{"gaussian":{"noise-multiplier":4}},"sampling":{"without-replacement":{"population":1000,"batch":10}},"count":1000}]}`
)

// pureMenu is a menu of one type, for two units.
const pureMenu = `{"neighbors":"add-remove","budget":{"units":2},"menu":[{"name":"a","cost":1,"steps":[{"mechanism":{"pure":{"epsilon":1}}}]}]}`

// manyVotes are enough rows for the work to take a while.
func manyVotes() string {
	var rows []string
	for i := range 1000 {
		rows = append(rows, fmt.Sprintf("[%d,%d,%d]", 900-i%400, 50+i%100, 50+i%400-i%100))
	}
	return "[" + strings.Join(rows, ",") + "]"
}

// list is a JSON list of a number.
func list(x string, n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(x+",", n), ",") + "]"
}

// trials are requests of every operation, without the key op: one that is answered, one
// with a value of a wrong type, one beyond a limit, and, where work can take long, one
// that does. The others of their texts are in the answers.
var trials = map[string]struct {
	good, answer       string
	wrong, wrongAnswer string
	limit, limitAnswer string
	long               string
}{
	"version": {`{}`, `"go":"go`, `{"timeout":"x"}`, `timeout: a JSON string is not a number`, `{"timeout":1e9}`, `timeout: 1e9 is not in (0, 1e+06]`, ``},
	"local-messages": {`{"mechanism":"k-rr","epsilon":1,"categories":3,"values":[0,2,1],"test-seed":1}`, `{"messages":[[`,
		`{"mechanism":"k-rr","epsilon":1,"categories":3,"values":"x"}`, `values: a JSON string is not`,
		`{"mechanism":"k-rr","epsilon":51,"categories":3,"values":[1]}`, `epsilon: 51 is not in (0, 50]`, ``},
	"local-estimates": {`{"mechanism":"unary","epsilon":1,"categories":3,"messages":[[0],[],[1,2]]}`, `{"estimates":[{"value":0,`,
		`{"mechanism":"k-rr","epsilon":1,"categories":3,"messages":[1]}`, `messages: `,
		`{"mechanism":"k-rr","epsilon":1,"categories":10001,"messages":[[1]]}`, `categories: 10001 is not a whole number in [2, 10000]`, ``},
	"query": {`{"in":"t.csv","budget":1,"count":true,"sum":["x:0:5"]}`, `{"columns":["count","sum_x"],"rows":[["`,
		`{"in":7,"budget":1,"count":true}`, `in: a JSON number is not a string`,
		`{"in":"t.csv","budget":501,"count":true}`, `budget: 501 is not in (0, 500]`, ``},
	"epsilon": {`{"plan":` + purePlan + `,"delta":[0,1e-5]}`, `{"neighbors":"add-remove","results":[{"delta":0,"epsilon":{"lower":1,`,
		`{"plan":7,"delta":0}`, `plan: is not a JSON object or a string`,
		`{"plan":` + purePlan + `,"delta":` + list("0", MaxValues+1) + `}`, `delta: 10001 values are more than 10000`,
		`{"plan":` + longPlan + `,"delta":1e-5,"recursion":1000}`},
	"delta": {`{"plan":` + purePlan + `,"epsilon":1,"accuracy":1e-6}`, `{"neighbors":"add-remove","results":[{"epsilon":1,"delta":{"lower":0,`,
		`{"plan":` + purePlan + `,"epsilon":[1,"x"]}`, `epsilon: a JSON string is not a number that fits 64 bits`,
		`{"plan":` + purePlan + `,"epsilon":1,"memory":1e9}`, `memory: 1e9 is not in [1, 1e+06]`,
		`{"plan":` + longPlan + `,"epsilon":[0.1,0.2,0.3],"recursion":1000}`},
	"dpsgd": {`{"examples":1000,"batch-size":10,"epochs":1,"noise-multiplier":2,"delta":1e-5}`, `"statement":"PRIVACY STATEMENT`,
		`{"examples":"1000"}`, `examples: a JSON string is not a number`,
		`{"examples":1000,"batch-size":1001,"epochs":1,"noise-multiplier":2,"delta":1e-5}`, `batch-size: 1001 is not a whole number in [1, 1000]`,
		`{"examples":60000,"batch-size":256,"epochs":60,"target-epsilon":2,"delta":1e-5}`},
	"shuffle": {`{"users":1000,"epsilon":1,"randomizer":"k-rr","delta":1e-6}`, `"statement":"PRIVACY STATEMENT`,
		`{"users":"1000"}`, `users: a JSON string is not a number`,
		`{"users":1,"epsilon":1,"delta":1e-6}`, `users: 1 is not a whole number in [2, 10000000000]`,
		`{"users":100000000,"epsilon":1,"rounds":1000,"delta":[1e-6,1e-9]}`},
	"risk": {`{"plan":` + purePlan + `,"priors":[0.5]}`, `"bayes-success":[{"prior":0.5,`,
		`{"plan":` + purePlan + `,"priors":"0.5"}`, `priors: a JSON string is not a list of numbers`,
		`{"plan":` + purePlan + `,"priors":[0.5,1]}`, `priors[1]: 1 is not in [1e-290, 1)`,
		`{"plan":` + strings.Replace(longPlan, "1000}]", "100000}]", 1) + `}`},
	"curve": {`{"plan":` + purePlan + `,"points":2}`, `{"kind":"delta","x":"epsilon","y":"delta","curves":[{"plan":"plan",`,
		`{"plan":` + purePlan + `,"log":1}`, `log: a JSON number is not true or false`,
		`{"plans":` + list(`{"name":"a","plan":`+purePlan+`}`, MaxCurves+1) + `}`, `plans: 8 are not in [1, 7]`,
		`{"plan":` + longPlan + `,"points":10000}`},
	"profile": {`{"mechanism":"gaussian","noise-multiplier":1,"at":[0]}`, `{"epsilon":0,"directions":[{"direction":"remove","delta":{"lower":0.3829`,
		`{"mechanism":{}}`, `mechanism: a JSON object is not a string`,
		`{"mechanism":"gaussian","noise-multiplier":1,"min-delta":1}`, `min-delta: 1 is not in [1e-300, 0.5]`,
		`{"mechanism":"discrete-gaussian","noise-multiplier":30,"sampling-rate":0.1,"neighbors":"substitute","at":` + list("1", MaxValues) + `}`},
	"sampling": {`{"population":100,"batch":10,"noise-multiplier":5,"steps":1}`, `{"scheme":"must-ow","not-applicable":"needs a subset"}`,
		`{"population":true}`, `population: a JSON bool is not a number`,
		`{"population":1e13,"batch":10,"noise-multiplier":5}`, `population: 1e13 is not a whole number in [1, 1000000000000]`,
		`{"population":10000,"subset":118,"batch":200,"noise-multiplier":4,"recursion":1000}`},
	"calibrate": {`{"plan":` + purePlan + `,"epsilon":3,"delta":0,"solve":"count"}`, `"value":3,`,
		`{"plan":` + purePlan + `,"epsilon":3,"delta":0,"solve":3}`, `solve: a JSON number is not a string`,
		`{"plan":` + purePlan + `,"epsilon":3,"delta":0,"solve":"batch","examples":1e300}`, `examples: 1e300 is not a whole number in [1, 9007199254740992]`,
		`{"plan":` + longPlan + `,"epsilon":1,"delta":1e-5,"solve":"noise-multiplier"}`},
	"compare": {`{"plan":` + purePlan + `,"delta":1e-5}`, `{"method":"basic composition",`,
		`{"plan":[],"delta":1e-5}`, `plan: is not a JSON object or a string`,
		`{"plan":` + purePlan + `,"delta":1e-5,"work":1e99}`, `work: 1e99 is not in [1, 1e+15]`,
		`{"plan":` + longPlan + `,"delta":1e-5,"recursion":1000}`},
	"plan-check": {`{"plan":{"neighbors":"add-remove","steps":[{"name":"a","mechanism":{"pure":{"epsilon":1}},"count":3}]}}`, `{"neighbors":"add-remove","steps":1,"runs":3,"names":["a"]}`,
		`{"plan":1}`, `plan: is not a JSON object or a string`, `{"plan":"x"}`, `is not a plan`, ``},
	"diff": {`{"delta":0,"old":{"neighbors":"add-remove","steps":[{"mechanism":{"pure":{"epsilon":1}}}]},"new":{"neighbors":"add-remove","steps":[{"mechanism":{"pure":{"epsilon":2}}}]}}`,
		`"changes":[{"path":"steps[0].mechanism.pure.epsilon","old":"1","new":"2"}]`, `{"delta":"x"}`, `delta: a JSON string is not a list of numbers`,
		`{"delta":0,"old":"x","new":"x"}`, `old: `, ``},
	"plan-convert": {`{"plan":` + purePlan + `}`, `{"format":"events","text":"{\n  \"module_name\": \"dp_accounting.dp_event\",`,
		`{"plan":` + purePlan + `,"to":1}`, `to: a JSON number is not a string`,
		`{"plan":` + purePlan + `,"to":"event"}`, `to: \"event\" is not plan or events; did you mean \"events\"?`, ``},
	"gdp": {`{"plan":` + purePlan + `,"tolerance":0.5}`, `{"neighbors":"add-remove","tolerance":0.5,"mu":{"lower":0,"estimate":0,"upper":0},"regret":{"upper":`,
		`{"plan":` + purePlan + `,"tolerance":[]}`, `tolerance: is an empty list; must be numbers in [0, 1)`,
		`{"plan":` + purePlan + `,"tolerance":1}`, `tolerance: 1 is not in [0, 1)`,
		`{"plan":` + longPlan + `}`},
	"filter": {`{"menu":` + pureMenu + `,"epsilon":1}`, `{"neighbors":"add-remove","units":2,"types":[{"name":"a","cost":1,"runs":2}],"deltas":[{"epsilon":1,"delta":{"lower":0.33783471`,
		`{"menu":7}`, `menu: is not a JSON object or a string`,
		`{"menu":` + pureMenu + `,"units":1e6}`, `units: 1e6 is not a whole number in [1, 100000]`, ``},
	"gdp-solve": {`{"plan":{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":1}},"count":4}]},"mu":1,"tolerance":0,"solve":"noise-multiplier"}`, `"solve":"noise-multiplier","value":2.00000`,
		`{"plan":` + purePlan + `,"mu":1,"solve":3}`, `solve: a JSON number is not a string`,
		`{"plan":` + purePlan + `,"solve":"count"}`, `missing mu (or zcdp)`,
		`{"plan":` + longPlan + `,"mu":1,"solve":"noise-multiplier"}`},
	"audit": {`{"design":"one-run","members":[3,4,5],"non-members":[1,2],"delta":0,"confidence":0.5}`, `"guesses":{"in":3,"out":2,"correct":5,"tests":1}`,
		`{"design":"one-run","members":["x"]}`, `members: a JSON string is not a number that fits 64 bits`,
		`{"design":"many-runs","members":[1,2],"non-members":[1,2],"delta":0,"guesses":4}`, `guesses is of no use to many-runs`,
		`{"design":"many-runs","members":[3,4],"non-members":[1,2],"delta":1e-5,"plan":` + longPlan + `}`},
	"select": {`{"candidate-epsilon":1,"law":["geometric"],"mean":[10]}`, `"papernot-steinke":3,`,
		`{"candidate-epsilon":1,"law":"geometric"}`, `law: a JSON string is not a list of strings`,
		`{"candidate-epsilon":1,"mean":` + list("10", 1001) + `}`, `mean, law and delta make more than 1000 lines`,
		`{"plan":{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":1}},"sampling":{"poisson":{"rate":0.01}},"count":1000}]},"delta":1e-5}`},
	"matrix-optimize": {`{"strategy":"blt","steps":12,"participation":"{epochs: 3}","buffers":1}`, `"strategy":{"blt":{"scales":[`,
		`{"strategy":"blt","steps":12,"participation":{}}`, `participation: a JSON object is not a string`,
		`{"strategy":"blt","steps":12,"participation":"{epochs: 5}"}`, `participation: epochs: 5 does not divide the 12 steps`,
		`{"strategy":"banded","steps":8000,"participation":"{min-separation: 80, at-most: 100}"}`},
	"majority": {`{"mechanisms":5,"epsilon":0.1,"allowance":3}`, `"certified":true`,
		`{"mechanisms":5.5,"epsilon":0.1,"allowance":3}`, `mechanisms: a JSON number 5.5 is not a whole number`,
		`{"mechanisms":1003,"epsilon":0.1,"allowance":3}`, `mechanisms: 1003 is not in [1, 1001]`,
		`{"mechanisms":201,"epsilon":0.1,"allowance":9}`},
	"pate": {`{"votes":[[9,1],[5,5]],"mechanism":"gnmax","sigma2":4,"delta":1e-5,"orders":[8]}`, `"report":"worst","bound":true,`,
		`{"votes":[[9,"x"]],"mechanism":"gnmax","sigma2":4,"delta":1e-5}`, `votes: a JSON string is not a whole number`,
		`{"votes":[[9,1]],"mechanism":"gnmax","sigma2":1e99,"delta":1e-5}`, `sigma2: 1e+99 is not in [`,
		`{"votes":` + manyVotes() + `,"mechanism":"confident","threshold":500,"sigma1":90,"sigma2":40,"delta":1e-5}`},
	"pate-calibrate": {`{"votes":[[9,1],[5,5]],"mechanism":"gnmax","epsilon":2,"delta":1e-5}`, `"report":"worst",`,
		`{"votes":[[9,1]],"mechanism":"gnmax","epsilon":"two","delta":1e-5}`, `epsilon: a JSON string is not a list of numbers`,
		`{"votes":[[9,1]],"mechanism":"gnmax","epsilon":2,"delta":1e-5,"threshold":3}`, `threshold is of no use to gnmax`,
		`{"votes":` + manyVotes() + `,"mechanism":"confident","epsilon":2,"delta":1e-5}`},
	"pate-publish": {`{"votes":[[9,1],[5,5]],"mechanism":"gnmax","sigma2":4,"delta":1e-5,"order":14,"beta":0.02,"noise":0.15,"seed":1}`, `"published-epsilon":`,
		`{"votes":[[9,1]],"noise":"some"}`, `noise: a JSON string is not a number`,
		`{"votes":[[9,1],[5,5]],"mechanism":"gnmax","sigma2":4,"delta":1e-5,"order":14,"beta":0.02,"noise":0}`, `noise: 0 is not in [1e-06, 100]`,
		`{"votes":` + manyVotes() + `,"mechanism":"confident","threshold":500,"sigma1":90,"sigma2":40,"delta":1e-5,"order":14,"beta":0.0005,"noise":0.15}`},
	"pate-smooth": {`{"votes":[[9,1],[5,5]],"mechanism":"gnmax","sigma2":4,"delta":1e-5,"order":14,"beta":0.0143,"sigma-ss":5,"seed":1}`, `"sanitized-epsilon":`,
		`{"votes":[[9,1]],"optimise":"yes"}`, `optimise: a JSON string is not true or false`,
		`{"votes":[[9,1]],"mechanism":"gnmax","sigma2":4,"delta":2,"order":14,"beta":0.0143,"sigma-ss":5}`, `delta: 2 is not in (0, 1)`,
		`{"votes":` + manyVotes() + `,"mechanism":"confident","threshold":500,"sigma1":90,"sigma2":40,"delta":1e-5,"order":14,"beta":0.0143,"sigma-ss":5}`},
	"label": {`{"epsilon":1,"labels":[0,1,2],"weights":[1,1,3]}`, `"loss":{"`,
		`{"epsilon":1,"labels":[0,null,"x"],"weights":[1]}`, `labels: a JSON string is not a number`,
		`{"epsilon":29,"labels":[0,1],"weights":[1,1]}`, `epsilon: 29 is not in [1e-06, 28]`,
		`{"epsilon":1,"labels":` + counting(201) + `,"weights":` + list("1", 201) + `}`},
	"ledger-create": {`{"neighbors":"add-remove","epsilon":1,"delta":0,"mode":"planned"}`, `{"ledger":"ledger-`,
		`{"neighbors":1}`, `neighbors: a JSON number is not a string`,
		`{"neighbors":"add-remove","epsilon":1,"delta":1,"mode":"planned"}`, `delta: 1 is not in [0, 1)`, ``},
	"ledger-open": {`{"path":"a.ledger"}`, `{"ledger":"ledger-`, `{"path":[]}`, `path: a JSON array is not a string`,
		`{"path":""}`, `path: is missing`, ``},
	"ledger-spend": {`{"ledger":"ledger-1","plan":` + strings.Replace(purePlan, "1}", "0.5}", 1) + `}`, `{"spent":true}`,
		`{"ledger":"ledger-1","plan":true}`, `plan: is not a JSON object or a string`,
		`{"ledger":"ledger-1","plan":` + strings.Replace(purePlan, "1}", "9}", 1) + `}`, `the privacy budget does not allow this step`, ``},
	"ledger-status": {`{"ledger":"ledger-1"}`, `"mode":"planned"`, `{"ledger":1}`, `ledger: a JSON number is not a string`,
		`{"ledger":"ledger-77"}`, `ledger: \"ledger-77\" is not open`, ``},
	"ledger-check": {`{"path":"a.ledger"}`, `"mode":"planned"`, `{"path":"a.ledger","head":1}`, `head: a JSON number is not a string`,
		`{"path":""}`, `path: is missing`, ``},
	"ledger-fits": {`{"ledger":"ledger-1","limit":2,"plan":{"neighbors":"add-remove","steps":[{"mechanism":{"pure":{"epsilon":1e-9}}}]}}`, `{"fits":2,"limit":true}`,
		`{"ledger":"ledger-1","limit":"2"}`, `limit: a JSON string is not a number`,
		`{"ledger":"ledger-1","limit":0}`, `limit: 0 is not a whole number in [1, 9007199254740992]`, ``},
	"ledger-log": {`{"path":"a.ledger"}`, `"entries":[]`, `{"path":1}`, `path: a JSON number is not a string`,
		`{}`, `path: is missing`, ``},
	"ledger-close": {`{"ledger":"ledger-2"}`, `{"ledger":"ledger-2"}`, `{"ledger":{}}`, `ledger: a JSON object is not a string`,
		`{"ledger":""}`, `ledger: is missing; must be a text`, ``},
	"explain": {`{"topic":"poisson"}`, `{"topic":"poisson",`, `{"topic":1}`, `topic: a JSON number is not a string`,
		`{"topic":"` + strings.Repeat("x", 200) + `"}`, `is not a topic`, ``},
	"draw": {`{"sampling":{"without-replacement":{"population":3,"batch":3}},"population":3,"batches":2}`, `{"batches":[[0,1,2],[0,1,2]]}`,
		`{"sampling":{"poisson":{"rate":0.5}},"population":"3"}`, `population: a JSON string is not a number`,
		`{"sampling":{"poisson":{"rate":0.5}},"population":1e9}`, `batches: 1 are about 500000001 batches and records, more than 33554432`, ``},
	"release": {`{"mechanism":{"exponential":{"epsilon":90}},"values":[0,9]}`, `{"chosen":1}`,
		`{"mechanism":{"exponential":{"epsilon":1}},"values":["9"]}`, `values: a JSON string is not a number`,
		`{"mechanism":{"pure":{"epsilon":1}},"values":[9]}`, `mechanism: pure is not run here`, ``},
	"pate-answer": {`{"votes":[[99,0]],"mechanism":"gnmax","sigma2":1}`, `{"labels":[0],"answered":[true]}`,
		`{"votes":[["9",1]],"mechanism":"gnmax","sigma2":1}`, `votes: a JSON string is not a whole number`,
		`{"votes":[[9,1]],"mechanism":"gnmax","sigma2":-1}`, `sigma`, ``},
	"label-apply": {`{"column":[0,1],"epsilon":1,"labels":[0,1],"weights":[1,1]}`, `{"column":[`,
		`{"column":[0,"x"],"epsilon":1,"labels":[0,1]}`, `column: a JSON string is not a number`,
		`{"column":[0,7],"epsilon":1,"labels":[0,1],"weights":[1,1]}`, `column[1]`, ``},
	"run-open": {`{"kind":"best","selection":{"law":"fixed","max":2}}`, `{"run":"run-`,
		`{"kind":1}`, `kind: a JSON number is not a string`,
		`{"kind":"matrix","clip":1,"dimension":2}`, `mechanism: is missing; matrix needs it`, ``},
	"run-next": {`{"run":"run-1"}`, `{"try":true}`, `{"run":"run-1","score":"1"}`, `score: a JSON string is not a number`,
		`{"run":"run-99"}`, `run: \"run-99\" is not open`, ``},
	"run-close": {`{"run":"run-1"}`, `{"run":"run-1"}`, `{"run":7}`, `run: a JSON number is not a string`,
		`{"run":"run-99"}`, `run: \"run-99\" is not open`, ``},
	"cancel": {`{"request":[1]}`, `{"request":[1]}`, `{"request":1,"timeout":[]}`, `timeout: a JSON array is not a number`,
		`{}`, `request: is missing`, ``},
}

// counting is a JSON list of 0, 1, …
func counting(n int) string {
	xs := make([]int, n)
	for i := range xs {
		xs[i] = i
	}
	text, _ := json.Marshal(xs)
	return string(text)
}

// memoryFiles keep ledgers in memory under one name.
type memoryFiles struct{}

var fileConfig = ledger.Config{Epsilon: 1, Mode: ledger.Planned}

func (memoryFiles) CreateLedger(_ context.Context, path string, c ledger.Config) (Ledger, error) {
	return ledger.New(c)
}

func (memoryFiles) OpenLedger(ctx context.Context, path string) (Ledger, error) {
	return ledger.New(fileConfig)
}

func (memoryFiles) VerifyLedger(ctx context.Context, path, head string) (ledger.Status, error) {
	l, err := ledger.New(fileConfig)
	if err != nil {
		return ledger.Status{}, err
	}
	return l.Status(ctx)
}

func (memoryFiles) LogLedger(context.Context, string, func(ledger.Entry)) (ledger.Config, error) {
	return fileConfig, nil
}

func (memoryFiles) OpenTable(path string) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader("id,x\n1,2\n1,3\n")), nil
}

// with returns a request with the key op, and perhaps another in front.
func with(op, more, request string) []byte {
	rest := strings.TrimPrefix(request, "{")
	head := fmt.Sprintf(`{"op":%q%s`, op, more)
	if rest != "}" {
		head += ","
	}
	return []byte(head + rest)
}

// TestOperations: every operation answers a good request, and says what is wrong with a
// bad one and where; one that is cancelled changes nothing.
func TestOperations(t *testing.T) {
	if len(trials) != len(operations) {
		t.Errorf("%d operations are tried of %d", len(trials), len(operations))
	}
	s := New(memoryFiles{})
	for range 2 {
		if _, err := Ask[LedgerHandle](t.Context(), s, LedgerCreateRequest{Neighbors: "add-remove", Epsilon: "1", Delta: "0", Mode: "planned"}); err != nil {
			t.Fatal(err)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, o := range Operations() {
		c := trials[o.Name]
		names := []string{"timeout"}
		for _, k := range o.Keys {
			names = append(names, k.Name)
		}
		mistyped := names[len(names)-1] + "x"
		unknown := fmt.Sprintf(`request: unknown key \"%s\"; did you mean \"`, mistyped)
		for _, trial := range []struct {
			ctx           context.Context
			request       []byte
			want, notKind string
		}{
			{t.Context(), with(o.Name, "", c.wrong), c.wrongAnswer, ""},
			{t.Context(), with(o.Name, "", c.limit), c.limitAnswer, ""},
			{t.Context(), with(o.Name, `,"`+mistyped+`":1`, c.good), unknown, ""},
			{stopped, with(o.Name, "", c.good), `"kind":"cancelled"`, ""},
			{t.Context(), with(o.Name, `,"id":"é<"`, c.good), c.answer, `"error":{"kind"`},
		} {
			text, err := Marshal(s.Answer(trial.ctx, trial.request))
			if err != nil {
				t.Fatal(err)
			}
			short := trial.request[:min(len(trial.request), 300)]
			if !strings.Contains(string(text), trial.want) || strings.Contains(string(text), `"kind":"internal"`) {
				t.Errorf("%s\nis answered %.500s\nwant %s", short, text, trial.want)
			}
			if trial.notKind != "" && (strings.Contains(string(text), trial.notKind) || !strings.HasPrefix(string(text), `{"id":"é<","result":`)) {
				t.Errorf("%s\nis answered %.500s", short, text)
			}
			if trial.notKind == "" && !strings.Contains(string(text), `"error":`) {
				t.Errorf("%s\nis answered %.500s", short, text)
			}
		}
	}
	// Only the good spend has been made, and only the second ledger closed.
	st, err := Ask[LedgerState](t.Context(), s, LedgerStatusRequest{LedgerHandle: LedgerHandle{"ledger-1"}})
	if err != nil || st.Entries != 1 {
		t.Errorf("%+v, %v", st, err)
	}
}

// TestTimeout: work that takes long ends when its time is up, with an error or a warning that says so; the next
// request is answered.
func TestTimeout(t *testing.T) {
	s := New(nil)
	tried := 0
	for name, c := range trials {
		if c.long == "" {
			continue
		}
		tried++
		a := s.Answer(t.Context(), with(name, `,"timeout":1e-3`, c.long))
		// What is proved without a law is an answer too, where it comes at once.
		if text, _ := json.Marshal(a.Result); a.Error == nil && strings.Contains(string(text), "the time limit was reached") {
			continue
		}
		if a.Error == nil || a.Error.Kind != KindTimeout || a.Error.Message != "timeout: there is no answer after 0.001 seconds" {
			t.Errorf("%s: %+v", name, a.Error)
		}
		if a := s.Answer(t.Context(), with(name, "", c.good)); a.Error != nil {
			t.Errorf("%s: %+v", name, a.Error)
		}
	}
	if tried < 12 {
		t.Errorf("%d operations tried", tried)
	}
}

// TestOwnText: a user's own text comes back as it was written.
func TestOwnText(t *testing.T) {
	a := New(nil).Answer(t.Context(), []byte(`{"op":"curve","plan":`+purePlan+`,"kind":"a--b"}`))
	if a.Error == nil || a.Error.Message != `kind: "a--b" is not delta, steps or trade-off` {
		t.Errorf("%+v", a.Error)
	}
}

// TestNoFiles: a service without files has ledgers in memory only.
func TestNoFiles(t *testing.T) {
	s := New(nil)
	for _, line := range []string{
		`{"op":"ledger-create","path":"x","neighbors":"add-remove","epsilon":1,"delta":0,"mode":"planned"}`,
		`{"op":"ledger-open","path":"x"}`, `{"op":"ledger-check","path":"x"}`,
	} {
		if a := s.Answer(t.Context(), []byte(line)); a.Error == nil || a.Error.Message != "path: there are no files here; ledgers are in memory only" {
			t.Errorf("%s: %+v", line, a.Error)
		}
	}
}

// TestRequestsRoundTrip: a request that Go writes is the one that it was read from, so
// that a program may send the structs of this package.
func TestRequestsRoundTrip(t *testing.T) {
	for _, o := range operations {
		q := reflect.New(o.Request)
		if err := read([]byte(trials[o.Name].good), q.Interface(), o.Keys); err != nil {
			t.Fatal(err)
		}
		text, err := Marshal(q.Interface())
		if err != nil {
			t.Fatalf("%s: %v", o.Name, err)
		}
		again := reflect.New(o.Request)
		if err := read(text, again.Interface(), o.Keys); err != nil {
			t.Fatalf("%s: %v in %s", o.Name, err, text)
		}
		if !reflect.DeepEqual(q.Interface(), again.Interface()) {
			t.Errorf("%s: %+v is written %s", o.Name, q.Elem(), text)
		}
	}
}

func read(text []byte, q any, keys []Key) error {
	var given object
	if err := json.Unmarshal(text, &given); err != nil {
		return err
	}
	return given.decode(q, keys)
}

// TestTogether: several goroutines may ask, about the same plan too.
func TestTogether(t *testing.T) {
	s := New(nil)
	done := make(chan string)
	for i := range 8 {
		go func() {
			text, _ := Marshal(s.Answer(t.Context(), fmt.Appendf(nil, `{"op":"epsilon","plan":%s,"delta":%v}`, purePlan, float64(i%2)/10)))
			done <- string(text)
		}()
	}
	var all []string
	for range 8 {
		all = append(all, <-done)
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != 2 || strings.Contains(all[0], "error\"") {
		t.Errorf("%q", all)
	}
}

// TestImports: the service knows no command line, no pictures and no files.
func TestImports(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	bad := regexp.MustCompile(`"(os|os/.*|net.*|.*cobra.*|.*pflag.*|.*/plot.*|.*/cmd/(accountant|server|web|figure).*)"`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(text), ")\n")
		if m := bad.FindString(head); m != "" && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("%s imports %s", file, m)
		}
	}
}

// update has TestPage write the table of operations.
var update = os.Getenv("UPDATE") != ""

// TestPage: docs/reference/cli.md has the table of the operations that no command has, or only in other words, with their
// keys; with UPDATE=1 in the environment it is written.
func TestPage(t *testing.T) {
	const path, begin, end = "../../docs/reference/cli.md", "| `op` | keys | result |\n|---|---|---|\n", "\n`delta` of `epsilon`"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	table, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the page has no table of operations")
	}
	var want strings.Builder
	for _, o := range Operations() {
		var must, may []string
		for _, k := range o.Keys {
			if k.Optional {
				may = append(may, "`"+k.Name+"`")
			} else {
				must = append(must, "`"+k.Name+"`")
			}
		}
		// The request of a command takes its flags, which the reference of commands has.
		if strings.HasPrefix(o.Answer, "as `") {
			continue
		}
		keys := strings.Join(must, ", ")
		if len(may) > 0 {
			if keys != "" {
				keys += ", and "
			}
			keys += "perhaps " + strings.Join(may, ", ")
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", o.Name, keys, o.Answer)
	}
	if table != want.String() {
		if !update {
			t.Fatalf("docs/reference/cli.md has another table of operations; UPDATE=1 go test ./cmd/service -run TestPage writes it:\n%s", want.String())
		}
		if err := os.WriteFile(path, []byte(before+begin+want.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
