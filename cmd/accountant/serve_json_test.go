package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dpaccountant/accountant/cmd/service"
)

// TestServeNotUTF8: what is not UTF-8 is refused, and not in the answer.
func TestServeNotUTF8(t *testing.T) {
	for _, line := range []string{
		"{\"op\": \"curve\", \"kind\": \"a\xffb\"}",
		"{\"op\": \"version\", \"id\": \"\xc3\"}",
		"{\"op\": \"\xed\xa0\x80\"}",
	} {
		var out bytes.Buffer
		if err := serve(t.Context(), service.New(nil), strings.NewReader(line), &out); err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(out.Bytes()) || !strings.Contains(out.String(), "is not UTF-8") {
			t.Errorf("%q: %q", line, out.Bytes())
		}
	}
}

// TestServeCancel: a request is cancelled while it is answered, and while it waits;
// those after it are answered.
func TestServeCancel(t *testing.T) {
	const plan = `{"neighbors": "add-remove", "steps": [{"mechanism": {"gaussian": {"noise-multiplier": 4}}, "sampling": {"poisson": {"rate": 0.01}}, "count": 1000}]}`
	in, w := io.Pipe()
	var out bytes.Buffer
	done := make(chan error)
	go func() { done <- serve(t.Context(), service.New(nil), in, &out) }()
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
