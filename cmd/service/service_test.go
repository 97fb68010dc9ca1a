package service

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// TestPanic: a defect is an answer, not the end.
func TestPanic(t *testing.T) {
	s := New(nil)
	s.ledgers.open = nil // opening one panics now
	a := s.Answer(t.Context(), []byte(`{"id": 1, "op": "ledger-create", "neighbors": "add-remove", "epsilon": 1, "delta": 0, "mode": "planned"}`))
	if !strings.Contains(a.Stack, "ledgerCreate") {
		t.Errorf("the stack is %q", a.Stack)
	}
	data, err := Marshal(a)
	if err != nil || strings.Contains(string(data), "tack") || !strings.Contains(string(data), `"kind":"internal"`) {
		t.Errorf("%s, %v", data, err)
	}
}

// TestLists: a list in a key that takes several is answered by what each of its values is, in order, and a value alone is a list of one.
func TestLists(t *testing.T) {
	const plan = `"plan":{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":3}},"count":2}]}`
	for _, c := range []struct{ op, keys, first, second string }{
		{"calibrate", plan + `,"delta":1e-5,"epsilon":%s`, "1", "2"},
		{"compare", plan + `,"delta":%s`, "1e-5", "1e-6"},
		{"diff", `"old":{"neighbors":"add-remove","steps":[{"mechanism":{"pure":{"epsilon":1}}}]},"new":{"neighbors":"add-remove","steps":[{"mechanism":{"pure":{"epsilon":2}}}]},"delta":%s`, "1e-5", "0"},
		{"gdp", plan + `,"tolerance":%s`, "1e-6", "0"},
		{"gdp-solve", plan + `,"solve":"count","mu":%s`, "1", "2"},
		{"sampling", `"population":100,"batch":10,"noise-multiplier":5,"steps":2,"recursion":0,"delta":%s`, "1e-5", "1e-4"},
		{"audit", `"design":"many-runs","members":[1,2,3],"non-members":[0,1,0],"delta":%s`, "0.1", "0.2"},
		{"majority", `"mechanisms":3,"epsilon":0.1,"allowance":2,"output-delta":0.01,"answers":2,"delta":%s`, "0.1", "0.2"},
		{"pate", `"votes":[[9,1]],"mechanism":"gnmax","sigma2":4,"orders":[2,4],"delta":%s`, "1e-5", "1e-6"},
		{"matrix-optimize", `"strategy":"banded","steps":4,"participation":"{epochs: 2}","delta":%s`, "1e-5", "1e-6"},
	} {
		ask := func(values string) string {
			text, err := Marshal(New(nil).Answer(t.Context(), fmt.Appendf(nil, `{"op":"`+c.op+`",`+c.keys+`}`, values)))
			results, ok := strings.CutPrefix(string(text), `{"id":null,"result":{"results":[`)
			if err != nil || !ok {
				t.Fatalf("%s: %s, %v", c.op, text, err)
			}
			return strings.TrimSuffix(results, `]}}`)
		}
		if got, want := ask("["+c.first+","+c.second+"]"), ask(c.first)+","+ask("["+c.second+"]"); got != want {
			t.Errorf("%s: %s\nwant %s", c.op, got, want)
		}
	}
	many := strings.Repeat("0.5,", 40) + "0.5"
	if a := New(nil).Answer(t.Context(), []byte(`{"op":"calibrate",`+plan+`,"epsilon":[`+many+`],"delta":[`+many+`]}`)); a.Error == nil || a.Error.Message != "delta: makes more than 1000 answers" {
		t.Errorf("%+v", a)
	}
}

// TestListsEnd: once a request has ended, none of the values that are left is asked about.
func TestListsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	o := lists("gdp", func(*Service, context.Context, GDPRequest) (GDPAnswer, error) {
		asked++
		cancel()
		return GDPAnswer{}, nil
	}, "", "tolerance")
	if _, err := o.do(New(nil), ctx, &GDPRequest{Tolerance: Decimals{"0", "0.1", "0.2"}}); err != context.Canceled || asked != 1 {
		t.Errorf("%v after %d answers", err, asked)
	}
}
