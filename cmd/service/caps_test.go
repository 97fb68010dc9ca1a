package service

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/parallel"
)

// computing are the operations that compute privacy, and so have limits. What publishes has none: an early end would tell of the
// votes.
var computing = []string{"dpsgd", "epsilon", "delta", "curve", "sampling", "calibrate", "compare", "risk", "profile", "diff", "gdp", "gdp-solve", "filter", "audit",
	"select", "matrix-optimize", "majority", "shuffle", "query", "pate", "pate-calibrate", "label", "ledger-spend", "ledger-fits", "ledger-status", "ledger-check"}

// TestCaps: every operation that computes has the limits of one struct, and what the context allows bounds them.
func TestCaps(t *testing.T) {
	s := New(nil)
	if a := s.Answer(t.Context(), []byte(`{"op":"ledger-create","neighbors":"add-remove","epsilon":9,"delta":1e-6,"mode":"planned"}`)); a.Error != nil {
		t.Fatal(a.Error)
	}
	for _, o := range Operations() {
		want := false
		for _, name := range computing {
			want = want || name == o.Name
		}
		f, has := o.Request.FieldByName("Caps")
		if has = has && f.Type == reflect.TypeFor[Caps](); has != want {
			t.Errorf("%s: has limits: %v", o.Name, has)
		}
		if !want || o.Name == "ledger-check" || o.Name == "audit" { // one needs a file, the other a plan for limits
			continue
		}
		ctx := WithMost(t.Context(), 100, 1e6)
		for _, c := range []struct{ key, problem string }{
			{`"memory":101`, "memory: 101 is not in [1, 100]"}, {`"work":1e7`, "work: 1e7 is not in [1, 1000000]"},
			{`"time-limit":0`, "time-limit: 0 is not in (0, 1e+06]"}, {`"work":0`, "work: 0 is not in [1, "},
		} {
			request := strings.TrimSuffix(trials[o.Name].good, "}") + "," + c.key + "}"
			if strings.Contains(request, `"memory"`) && strings.Count(request, `"memory"`) > 1 {
				continue
			}
			a := s.AnswerTo(ctx, o.Name, []byte(request))
			if a.Error == nil || !strings.Contains(a.Error.Message, c.problem) {
				t.Errorf("%s with %s: %v, want %s", o.Name, c.key, a.Error, c.problem)
			}
		}
	}
}

// hostilePlan has so many distinct laws that only lattices compose.
func hostilePlan(n int) string {
	var steps []string
	for i := range n {
		steps = append(steps, fmt.Sprintf(`{"mechanism":{"discrete-gaussian":{"noise-multiplier":%v}},"sampling":{"poisson":{"rate":0.01}},"count":10}`, 1+float64(i)/37))
	}
	return `{"neighbors":"add-remove","steps":[` + strings.Join(steps, ",") + `]}`
}

// TestWithinCaps: what an operation takes is about its limit of work, and its answer is there.
func TestWithinCaps(t *testing.T) {
	plan := hostilePlan(3)
	for _, c := range []struct{ op, request string }{
		{"select", `"plan":` + plan + `,"delta":1e-5,"law":["geometric"]`},
		{"majority", `"mechanisms":5,"epsilon":0.5,"allowance":3,"output-delta":1e-5,"plan":` + plan},
		{"matrix-optimize", `"strategy":"banded","steps":8000,"participation":"{min-separation: 80, at-most: 100}"`},
		{"majority", `"mechanisms":201,"epsilon":0.1,"allowance":9`},
		{"profile", `"mechanism":"discrete-gaussian","noise-multiplier":30,"sampling-rate":0.1,"neighbors":"substitute","at":` + list("1", 100)},
		{"calibrate", `"epsilon":1,"delta":1e-5,"solve":"noise-multiplier","plan":` + plan},
		{"label", `"epsilon":1,"labels":` + counting(60) + `,"weights":` + list("1", 60)},
		{"sampling", `"population":1000,"subset":118,"batch":50,"noise-multiplier":4,"steps":100,"recursion":1000`},
	} {
		for _, work := range []float64{1, 1e6} {
			ctx := parallel.WithWork(t.Context(), math.Inf(1))
			a := New(nil).AnswerTo(ctx, c.op, fmt.Appendf(nil, `{%s,"work":%v}`, c.request, work))
			spent, _ := parallel.Work(ctx)
			text, err := json.Marshal(a)
			if t.Logf("%s, work %g: spent %.3g", c.op, work, spent); a.Error != nil || err != nil {
				t.Errorf("%s, work %g: %.300s %v", c.op, work, text, err)
			}
			// Beside the limit, the least that laws have whatever is left: of a calibration at each of its last looks.
			if most := 2*work + 3e7; spent > most {
				t.Errorf("%s: a limit of %g took %.3g", c.op, work, spent)
			}
		}
	}
}

// TestTimeLimits: a limit of time ends a request with what is proved, or with an error that names it.
func TestTimeLimits(t *testing.T) {
	a := New(nil).AnswerTo(context.Background(), "majority", []byte(`{"mechanisms":201,"epsilon":0.1,"allowance":9,"time-limit":1e-9}`))
	if a.Error == nil || a.Error.Kind != KindTimeout || a.Error.Field != "time-limit" {
		t.Errorf("%+v", a.Error)
	}
	a = New(nil).AnswerTo(context.Background(), "sampling", []byte(`{"population":1000,"subset":118,"batch":50,"noise-multiplier":4,"steps":100,"time-limit":1e-9}`))
	text, err := json.Marshal(a)
	if err != nil || a.Error != nil || strings.Count(string(text), "the time limit was reached") != 6 {
		t.Errorf("%s %v", text, err)
	}
}

// TestSizes: what would take long, or much memory, for its size alone is refused before any of it is done.
func TestSizes(t *testing.T) {
	many := strings.Repeat(`"c",`, 600) + `"c"`
	for _, c := range []struct{ request, problem string }{
		{`{"op":"label","epsilon":1,"classes":[` + many + `],"weights":[` + strings.Repeat("1,", 600) + `1]}`, "classes: 601 distinct labels is not in [1, 500]"},
		{`{"op":"explain","topic":"` + strings.Repeat("ab c", 1<<18) + `"}`, "is not a topic"},
		{`{"op":"explain","containing":"` + strings.Repeat("ab c", 1<<18) + `"}`, "is in no topic"},
		{`{"op":"majority","mechanisms":1001,"epsilon":0.01,"allowance":3,"prior":[0.4,0.9],"samples":1000000}`, "samples: 1000000 of 1001 mechanisms take too long, most are 9980"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		a := New(nil).Answer(t.Context(), []byte(c.request))
		if runtime.ReadMemStats(&after); a.Error == nil || !strings.Contains(a.Error.Message, c.problem) || after.TotalAlloc-before.TotalAlloc > 64<<20 {
			t.Errorf("%.40s: %+v after %d bytes, want %s", c.request, a.Error, after.TotalAlloc-before.TotalAlloc, c.problem)
		}
	}
}
