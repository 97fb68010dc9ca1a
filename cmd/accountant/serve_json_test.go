package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestServeNotUTF8: what is not UTF-8 is refused, and not in the answer.
func TestServeNotUTF8(t *testing.T) {
	for _, line := range []string{
		"{\"op\": \"curve\", \"kind\": \"a\xffb\"}",
		"{\"op\": \"version\", \"id\": \"\xc3\"}",
		"{\"op\": \"\xed\xa0\x80\"}",
	} {
		var out bytes.Buffer
		if err := newServer().serve(strings.NewReader(line), &out); err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(out.Bytes()) || !strings.Contains(out.String(), "is not UTF-8") {
			t.Errorf("%q: %q", line, out.Bytes())
		}
	}
}

// TestServeKeepsLittle: answers are kept up to a number of bytes, lists are not.
func TestServeKeepsLittle(t *testing.T) {
	s := newServer()
	const plan = `{"neighbors": "add-remove", "steps": [{"mechanism": {"pure": {"epsilon": 1}}}]}`
	ask := func(format string, args ...any) {
		t.Helper()
		line := fmt.Sprintf(format, args...)
		if a, ok := s.answer([]byte(line)).(errorAnswer); ok {
			t.Fatalf("%s: %+v", line, a)
		}
	}
	list, err := json.Marshal(make([]float64, 10))
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		ask(`{"op": "risk", "plan": %s, "priors": %s}`, plan, bytes.ReplaceAll(list, []byte("0"), []byte("0.5")))
	}
	if n := len(s.recent); n != 0 {
		t.Errorf("%d plans are kept of lists", n)
	}
	most := 0
	for i := range 5000 {
		ask(`{"op": "delta", "plan": %s, "epsilon": %v}`, plan, float64(i)/5000)
		sv := s.recent[0]
		held := 0
		if i%1000 == 0 {
			for key, a := range sv.answers {
				held += len(key) + len(a)
			}
			if held != sv.size {
				t.Fatalf("%d bytes held, %d counted", held, sv.size)
			}
		}
		most = max(most, sv.size)
	}
	if most > maxAnswers || most < maxAnswers/2 {
		t.Errorf("up to %d bytes kept, want nearly %d", most, maxAnswers)
	}
}
