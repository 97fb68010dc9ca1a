package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
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
		if err := newServer().serve(t.Context(), strings.NewReader(line), &out); err != nil {
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
		if a, ok := s.answer(t.Context(), []byte(line)).(errorAnswer); ok {
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

// TestServeCancel: a request is cancelled while it is answered, and while it waits;
// those after it are answered.
func TestServeCancel(t *testing.T) {
	const plan = `{"neighbors": "add-remove", "steps": [{"mechanism": {"gaussian": {"noise-multiplier": 4}}, "sampling": {"poisson": {"rate": 0.01}}, "count": 1000}]}`
	in, w := io.Pipe()
	var out bytes.Buffer
	done := make(chan error)
	go func() { done <- newServer().serve(t.Context(), in, &out) }()
	for _, line := range []string{
		`{"id": "long", "op": "curve", "points": 10000, "plan": ` + plan + `}`,
		`{"id": [2], "op": "curve", "points": 10000, "plan": ` + plan + `}`,
		`{"id": 3, "op": "version"}`,
		`{"id": 4, "op": "cancel", "request": "long"}`,
		`{"id": 5, "op": "cancel", "request": [2]}`,
		`{"id": 6, "op": "cancel", "request": "nobody"}`,
	} {
		if _, err := io.WriteString(w, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	want := []string{
		`{"id":"long","error":{"kind":"cancelled","message":"cancelled"}}`,
		`{"id":[2],"error":{"kind":"cancelled","message":"cancelled"}}`,
		`{"id":3,"result":`,
		`{"id":4,"result":{"request":"long"}}`,
		`{"id":5,"result":{"request":[2]}}`,
		`{"id":6,"result":{"request":"nobody"}}`,
	}
	if len(lines) != len(want) {
		t.Fatalf("answers:\n%s", out.String())
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("got  %s\nwant %s", line, want[i])
		}
	}
}
