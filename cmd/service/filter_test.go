package service

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestFilterBelowTheMassAtInfinity: where both ends of ε are ∞ the answer has them, and no number that is none.
func TestFilterBelowTheMassAtInfinity(t *testing.T) {
	const menu = `{"neighbors":"add-remove","budget":{"units":8},"menu":[{"name":"a","cost":1,"steps":[{"mechanism":{"approximate":{"epsilon":0.37,"delta":0.001}}}]}]}`
	for _, question := range []string{`,"delta":1e-6`, ``} {
		a := New(nil).Answer(t.Context(), []byte(`{"op":"filter","menu":`+menu+question+`}`))
		text, err := json.Marshal(a)
		if a.Error != nil || err != nil || !strings.Contains(string(text), `"epsilon":{"lower":"Infinity","estimate":"Infinity","upper":"Infinity"}`) {
			t.Errorf("%s: %+v, %v: %s", question, a.Error, err, text)
		}
	}
}
