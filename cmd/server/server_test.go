package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/profiles"
)

const (
	halfPlan = `{"neighbors":"add-remove","steps":[{"mechanism":{"pure":{"epsilon":0.5}}}]}`
	token    = "0123456789abcdef0123456789abcdef"
)

// A safeBuffer is a log that is read while it is written.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// start returns a running server and a function that asks it.
func start(t *testing.T, c Config) (*Server, *httptest.Server) {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler())
	t.Cleanup(h.Close)
	return s, h
}

// serve has a server of its own listen and serve; end tells it to end, and served gets what Serve returns.
func serve(t *testing.T, c Config) (s *Server, addr *net.TCPAddr, end func(), served <-chan error) {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	return s, ln.Addr().(*net.TCPAddr), end, done
}

// begin sends a request without the body, which the caller writes and closes, and returns when it is inside the server.
// Its status comes when it is answered, 0 if it is not.
func begin(t *testing.T, s *Server, client *http.Client, url string, headers ...string) (body *io.PipeWriter, status <-chan int) {
	t.Helper()
	r, w := io.Pipe()
	request, err := http.NewRequestWithContext(t.Context(), "POST", url+"/v1/version", r)
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range append(headers, "Content-Type: application/json") {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	inside := s.reads.now().inside
	answer := make(chan int, 1)
	go func() {
		resp, err := client.Do(request)
		if err != nil {
			t.Error(err)
			answer <- 0
			return
		}
		resp.Body.Close()
		answer <- resp.StatusCode
	}()
	for s.reads.now().inside == inside {
		time.Sleep(time.Millisecond)
	}
	return w, answer
}

// An answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
	err    service.Error
}

// ask sends a request; headers are "Name: value".
func ask(t *testing.T, h *httptest.Server, op, body string, headers ...string) answer {
	t.Helper()
	return send(t, h, http.MethodPost, "/v1/"+op, body, append([]string{"Content-Type: application/json"}, headers...)...)
}

func send(t *testing.T, h *httptest.Server, method, path, body string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, h.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if name == "" {
			continue
		}
		if name == "Host" {
			r.Host = value
		} else {
			r.Header.Set(name, value)
		}
	}
	resp, err := h.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: resp.StatusCode, header: resp.Header, body: string(text)}
	var e struct{ Error service.Error }
	if json.Unmarshal(text, &e) == nil {
		a.err = e.Error
	}
	return a
}

// budget makes a ledger of ε = 1 in a folder.
func budget(t *testing.T, dir, name string) {
	t.Helper()
	if _, err := ledger.Create(t.Context(), ledger.File(filepath.Join(dir, name)), ledger.Config{Neighbors: profiles.AddRemove, Epsilon: 1, Mode: ledger.Planned}); err != nil {
		t.Fatal(err)
	}
}

// TestStatuses: each kind of error has its status, and its parts.
func TestStatuses(t *testing.T) {
	dir := t.TempDir()
	budget(t, dir, "a.ledger")
	if err := os.WriteFile(filepath.Join(dir, "broken.ledger"), []byte("nothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var log safeBuffer
	_, h := start(t, Config{Ledgers: dir, MaxBody: 5000, Log: &log})
	for _, c := range []struct {
		op, body string
		status   int
		kind     string
		want     string
	}{
		{"version", `{}`, 200, "", `"version"`},
		{"epsilon", `{"op":"epsilon","plan":` + halfPlan + `,"delta":0}`, 200, "", `"lower":0.5`},
		{"epsilon", `{"op":"delta","plan":` + halfPlan + `,"delta":0}`, 400, "input", `"field":"op"`},
		{"epsilon", `{"plan":` + halfPlan + `,"delta":2}`, 400, "input", `"field":"delta","value":"2","allowed":"[0, 1)"`},
		{"epsilon", `{"plan":` + strings.Replace(halfPlan, "0.5", "-1", 1) + `,"delta":0}`, 400, "input", `"field":"steps[0].mechanism.pure.epsilon"`},
		{"epsilon", ``, 400, "input", `request: is not one JSON value`},
		{"epsilon", strings.Repeat(" ", 6000), 413, "transport", `longer than 5000 bytes`},
		{"calibrate", `{"plan":` + halfPlan + `,"epsilon":0.1,"delta":0,"solve":"count"}`, 422, "infeasible", ``},
		{"epsilon", `{"plan":` + strings.Replace(halfPlan, `{"epsilon":0.5}}`, `{"epsilon":0.5}},"sampling":{"poisson":{"rate":0.01}},"count":100000`, 1) + `,"delta":1e-9,"timeout":1e-9}`, 408, "timeout", `timeout: there is no answer after`},
		{"nothing", `{}`, 404, "transport", `openapi.json`},
		{"cancel", `{"request":1}`, 404, "transport", ``},
		{"ledger-open", `{"path":"a.ledger"}`, 404, "transport", ``},
		{"ledger-spend", `{"ledger":"a.ledger","plan":` + halfPlan + `,"key":"one"}`, 200, "", `{"spent":true}`},
		{"ledger-spend", `{"ledger":"a.ledger","plan":` + halfPlan + `,"key":"one"}`, 200, "", `{"spent":true,"again":true}`},
		{"ledger-spend", `{"ledger":"a.ledger","plan":` + strings.Replace(halfPlan, "0.5", "0.6", 1) + `,"key":"two"}`, 409, "budget", ``},
		{"ledger-spend", `{"ledger":"a.ledger","plan":` + strings.Replace(halfPlan, "0.5", "0.1", 1) + `,"key":"one"}`, 400, "input", `"field":"key"`},
		{"ledger-status", `{"ledger":"a.ledger"}`, 200, "", `"entries":1`},
		{"ledger-log", `{"path":"a.ledger"}`, 200, "", `"key":"one"`},
		{"ledger-check", `{"path":"a.ledger"}`, 200, "", `"entries":1`},
		{"ledger-status", `{"ledger":"b.ledger"}`, 400, "input", `is not the name of a ledger here`},
		{"ledger-status", `{"ledger":"broken.ledger"}`, 500, "storage", `cannot be used now`},
		{"ledger-create", `{"path":"a.ledger","neighbors":"add-remove","epsilon":1,"delta":0,"mode":"planned"}`, 400, "input", `exists already`},
		{"ledger-create", `{"neighbors":"add-remove","epsilon":1,"delta":0,"mode":"planned"}`, 400, "input", `path: is missing`},
		{"ledger-create", `{"path":"team/c.ledger","neighbors":"add-remove","epsilon":1,"delta":0,"mode":"planned"}`, 200, "", `{"ledger":"team/c.ledger"}`},
		{"ledger-fits", `{"ledger":"team/c.ledger","plan":` + halfPlan + `}`, 200, "", `{"fits":2,`},
	} {
		a := ask(t, h, c.op, c.body)
		if a.status != c.status || a.err.Kind != c.kind || !strings.Contains(a.body, c.want) {
			t.Errorf("%s %.200s\nis answered %d %s\nwant %d %s %s", c.op, c.body, a.status, a.body, c.status, c.kind, c.want)
		}
		if strings.Contains(a.body, dir) {
			t.Errorf("%s: the answer has the path of the folder: %s", c.op, a.body)
		}
		if a.header.Get("X-Request-Id") == "" || a.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: headers %v", c.op, a.header)
		}
	}
	for _, c := range []struct {
		method, path, header string
		status               int
	}{
		{"GET", "/v1/version", "", 405},
		{"POST", "/v1/version", "Content-Type: text/plain", 415},
		{"POST", "/v1/version", "Content-Type: application/x-www-form-urlencoded", 415},
		{"POST", "/v1/version", "Host: rebound.example", 421},
		{"GET", "/healthz", "", 200}, {"GET", "/readyz", "", 200}, {"GET", "/metrics", "", 200}, {"GET", "/openapi.json", "", 200}, {"GET", "/", "", 404},
	} {
		if a := send(t, h, c.method, c.path, `{}`, c.header); a.status != c.status {
			t.Errorf("%s %s %s: %d, want %d", c.method, c.path, c.header, a.status, c.status)
		}
	}
	metrics := send(t, h, "GET", "/metrics", "").body
	for _, want := range []string{`accountant_requests_total{op="ledger-spend",status="409"} 1`, `accountant_spends_total{result="granted"} 1`, `accountant_spends_total{result="again"} 1`,
		`accountant_spends_total{result="refused"} 1`, `accountant_request_seconds_count{op="version"} 5`, "accountant_ready 1"} {
		if !strings.Contains(metrics, want+"\n") {
			t.Errorf("metrics lack %s in\n%s", want, metrics)
		}
	}
	if !strings.Contains(log.String(), `"msg":"ledger","ledger":"broken.ledger"`) {
		t.Errorf("the log does not say why a ledger cannot be used:\n%s", log.String())
	}
}

// TestPathsOfOpenLedgers: a ledger that has been used is no way out of the folder either once a link stands at its name, or at that of
// a folder above it; and where its file is gone it is none.
func TestPathsOfOpenLedgers(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "team"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, h := start(t, Config{Ledgers: dir})
	for name, moved := range map[string]string{"a.ledger": "a.ledger", "team/b.ledger": "team", "gone.ledger": ""} {
		budget(t, dir, filepath.FromSlash(name))
		spend := `{"ledger":"` + name + `","plan":` + halfPlan + `}`
		if a := ask(t, h, "ledger-spend", spend); a.status != 200 {
			t.Fatalf("%s: %d %s", name, a.status, a.body)
		}
		from, to := filepath.Join(dir, moved), filepath.Join(outside, moved)
		if moved == "" {
			from, to = filepath.Join(dir, name), filepath.Join(outside, name)
		}
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
		if moved != "" {
			if err := os.Symlink(to, from); err != nil {
				t.Skipf("no symbolic links here: %v", err)
			}
		}
		for op, body := range map[string]string{"ledger-spend": spend, "ledger-status": `{"ledger":"` + name + `"}`} {
			if a := ask(t, h, op, body); a.status != 400 {
				t.Errorf("%s %s: %d %s", op, name, a.status, a.body)
			}
		}
		if st, err := ledger.Verify(t.Context(), ledger.File(filepath.Join(outside, filepath.FromSlash(name))), ""); err != nil || st.Entries != 1 {
			t.Errorf("%s: outside there are %d entries, %v", name, st.Entries, err)
		}
	}
}

// TestPaths: no name leads out of the folder of ledgers, by dots, by an absolute path or by a link; what
// is outside stays as it is.
func TestPaths(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	budget(t, outside, "x.ledger")
	budget(t, dir, "in.ledger")
	for link, to := range map[string]string{"link.ledger": filepath.Join(outside, "x.ledger"), "folder": outside, "new.ledger": filepath.Join(outside, "new.ledger"), "fine.ledger": "in.ledger"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	_, h := start(t, Config{Ledgers: dir})
	names := []string{"../" + filepath.Base(outside) + "/x.ledger", filepath.Join(outside, "x.ledger"), "link.ledger", "folder/x.ledger", "new.ledger", "folder/new.ledger",
		"a/../../x.ledger", "./in.ledger", "a//b.ledger", ".hidden.ledger", ".git/x.ledger", "in.ledger.lock", "in", "", `..\\x.ledger`, "a\\u0000.ledger", "C:x.ledger", strings.Repeat("a", 300) + ".ledger"}
	for _, name := range names {
		for op, body := range map[string]string{
			"ledger-spend":  `{"ledger":"` + name + `","plan":` + halfPlan + `}`,
			"ledger-status": `{"ledger":"` + name + `"}`,
			"ledger-log":    `{"path":"` + name + `"}`,
			"ledger-check":  `{"path":"` + name + `"}`,
			"ledger-create": `{"path":"` + name + `","neighbors":"add-remove","epsilon":1,"delta":0,"mode":"planned"}`,
		} {
			if a := ask(t, h, op, body); a.status != 400 {
				t.Errorf("%s %q: %d %s", op, name, a.status, a.body)
			}
		}
	}
	files, err := os.ReadDir(outside)
	if err != nil || len(files) > 2 {
		t.Errorf("outside there is %v, %v", files, err)
	}
	if st, err := ledger.Verify(t.Context(), ledger.File(filepath.Join(outside, "x.ledger")), ""); err != nil || st.Entries != 0 {
		t.Errorf("outside: %d entries, %v", st.Entries, err)
	}
	if a := ask(t, h, "ledger-status", `{"ledger":"fine.ledger"}`); a.status != 200 {
		t.Errorf("a link that stays inside: %d %s", a.status, a.body)
	}
}

// clientsFile writes a file of clients with the token of this file for the first.
func clientsFile(t *testing.T, more string) string {
	t.Helper()
	sum := sha256.Sum256([]byte(token))
	name := filepath.Join(t.TempDir(), "clients.json")
	text := fmt.Sprintf(`{"clients":[{"name":"a","token-sha256":"%s",%s}`, hex.EncodeToString(sum[:]), more)
	if err := os.WriteFile(name, []byte(text+"]}"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestTokens: without the right token nothing is answered, and with it what its scopes and ledgers allow.
func TestTokens(t *testing.T) {
	dir := t.TempDir()
	for _, team := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, team), 0o700); err != nil {
			t.Fatal(err)
		}
		budget(t, dir, team+"/x.ledger")
	}
	short := sha256.Sum256([]byte("short"))
	reader := sha256.Sum256([]byte(strings.Repeat("r", 32)))
	name := clientsFile(t, fmt.Sprintf(`"scopes":["read","spend"],"ledgers":["a/*"]},{"name":"short","token-sha256":"%x","scopes":["read"]},{"name":"reader","token-sha256":"%x","scopes":["read"]`, short, reader))
	var log safeBuffer
	_, h := start(t, Config{Ledgers: dir, Clients: name, Log: &log})
	bearer := "Authorization: Bearer " + token
	spend := func(ledger string) string {
		return `{"ledger":"` + ledger + `","plan":` + halfPlan + `,"note":"a secret note","key":"a secret key"}`
	}
	create := `{"path":"a/new.ledger","neighbors":"add-remove","epsilon":1,"delta":0,"mode":"planned"}`
	for _, c := range []struct {
		op, body, header string
		status           int
	}{
		{"version", `{}`, "", 401},
		{"version", `{}`, "Authorization: Bearer " + strings.ToUpper(token), 401},
		{"version", `{}`, "Authorization: Bearer short", 401},
		{"version", `{}`, "Authorization: Basic " + token, 401},
		{"version", `{}`, "Authorization: Bearer", 401},
		{"version", `{}`, bearer, 200},
		{"ledger-spend", spend("a/x.ledger"), bearer, 200},
		{"ledger-spend", spend("b/x.ledger"), bearer, 403},
		{"ledger-status", `{"ledger":"b/x.ledger"}`, bearer, 403},
		{"ledger-log", `{"path":"b/none.ledger"}`, bearer, 403},
		{"ledger-create", create, bearer, 403},
		{"ledger-spend", spend("a/x.ledger"), "Authorization: Bearer " + strings.Repeat("r", 32), 403},
		{"ledger-status", `{"ledger":"b/x.ledger"}`, "Authorization: Bearer " + strings.Repeat("r", 32), 200},
	} {
		a := ask(t, h, c.op, c.body, c.header)
		if a.status != c.status {
			t.Errorf("%s %s %s: %d %s, want %d", c.op, c.body, c.header, a.status, a.body, c.status)
		}
		if (a.status == 401) != (a.header.Get("WWW-Authenticate") != "") {
			t.Errorf("%s: headers %v", c.op, a.header)
		}
	}
	if a := send(t, h, "GET", "/metrics", ""); a.status != 401 {
		t.Errorf("metrics without a token: %d", a.status)
	}
	if a := send(t, h, "GET", "/metrics", "", bearer); a.status != 200 {
		t.Errorf("metrics: %d", a.status)
	}
	if st, err := ledger.Verify(t.Context(), ledger.File(filepath.Join(dir, "b/x.ledger")), ""); err != nil || st.Entries != 0 {
		t.Errorf("b has %d entries, %v", st.Entries, err)
	}
	for _, secret := range []string{token, strings.ToUpper(token), "a secret note", "a secret key", "pure", "short\""} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has %s:\n%s", secret, log.String())
		}
	}
	for line := range strings.Lines(log.String()) {
		var entry struct{ ID, Op, Client string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.ID == "" || entry.Op == "" {
			t.Errorf("line of the log: %s", line)
		}
	}
	if !strings.Contains(log.String(), `"client":"a","op":"ledger-spend","status":200`) {
		t.Errorf("log:\n%s", log.String())
	}
}

// TestClientsFile: a file of clients that is wrong is refused, and its hashes are in no message.
func TestClientsFile(t *testing.T) {
	for more, want := range map[string]string{
		`"scopes":[]`:                                                              "scopes: is missing",
		`"scopes":["write"]`:                                                       `scopes: "write" is not read, spend or create`,
		`"scopes":["read"],"certificate":"x"`:                                      "and not both",
		`"scopes":["read"],"ledgers":["["]`:                                        "is not a pattern",
		`"scopes":["read"],"token":"x"`:                                            `the key "token" at byte`,
		`"scopes":["read"],"scopes":["read","create"]`:                             `the key "scopes" at byte 125 is set a second time; the first is at byte 107`,
		`"scopes":["read"],"Scopes":["read","create"]`:                             "in its case only",
		`"\u0053copes":["read"]`:                                                   `the key "Scopes" at byte`,
		`"scopes":["read"]},{"name":"a","certificate":"y","scopes":["read"]`:       "of another one",
		`"scopes":["read"]},{"name":"b","token-sha256":"secret","scopes":["read"]`: "is not 64 hexadecimal digits",
		`"scopes":["read"]},{"name":"","certificate":"y","scopes":["read"]`:        "name:",
		`"scopes":["read"]},null,{"name":"c","certificate":"y","scopes":["read"]`:  "clients[1]: is missing",
	} {
		_, err := New(Config{Clients: clientsFile(t, more)})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %s", more, err, want)
		}
	}
	name := clientsFile(t, `"scopes":["read"]}]} {"clients":[{"name":"b"`)
	if _, err := New(Config{Clients: name}); err == nil || !strings.Contains(err.Error(), "is not one JSON value") {
		t.Errorf("%v", err)
	}
	name = clientsFile(t, `"scopes":["read"]`)
	if err := os.Chmod(name, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{Clients: name}); err == nil || !strings.Contains(err.Error(), "can be written by others") {
		t.Errorf("%v", err)
	}
}

// TestNumbers: a limit that is none is an error with its value and its range.
func TestNumbers(t *testing.T) {
	for want, c := range map[string]Config{
		"max-body: -1 is not in [1, 4194304]":      {MaxBody: -1},
		"max-body: 4194305 is not in [1, 4194304]": {MaxBody: service.MaxRequest + 1},
		"time-limit: -1s is not above 0s":          {Time: -time.Second},
		"running: -1 is not in [1, 1048576]":       {Running: -1},
		"running: 1048577 is not in [1, 1048576]":  {Running: maxRequests + 1},
		"waiting: -1 is not in [1, 1048576]":       {Waiting: -1},
		"per-client: -7 is not in [1, 1048576]":    {Each: -7},
	} {
		if _, err := New(c); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestListen: where other machines can reach it, a server without access control does not start, nor one
// whose tokens would travel in plain text.
func TestListen(t *testing.T) {
	name := clientsFile(t, `"scopes":["read"]`)
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Addr: "0"}, ""}, {Config{Addr: ":0"}, ""}, {Config{Addr: "localhost:0"}, ""}, {Config{Addr: "127.0.0.1:0"}, ""},
		{Config{Addr: "0.0.0.0:0"}, "--clients or --client-ca is needed"},
		{Config{Addr: "[::]:0"}, "--clients or --client-ca is needed"},
		{Config{Addr: "0.0.0.0:0", Plaintext: true}, "--clients or --client-ca is needed"},
		{Config{Addr: "0.0.0.0:0", Clients: name}, "plain text"},
		{Config{Addr: "0.0.0.0:0", Clients: name, Plaintext: true}, ""},
		{Config{Addr: "nowhere"}, "http: "},
	} {
		s, err := New(c.config)
		if err != nil {
			t.Fatal(err)
		}
		ln, err := s.Listen()
		if err == nil {
			if loopback := ln.Addr().(*net.TCPAddr).IP.IsLoopback(); !loopback && s.access.open() {
				t.Errorf("%+v listens at %v", c.config, ln.Addr())
			}
			ln.Close()
		}
		if err == nil && c.want != "" || err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)) {
			if strings.HasPrefix(c.config.Addr, "[") && err != nil && !errors.As(err, new(*fault.Error)) {
				continue
			}
			t.Errorf("%+v: %v, want %q", c.config, err, c.want)
		}
	}
}

// TestLimits: a client with too many requests gets 429, everybody 503 when the house is full, and a body
// that does not come 408; the one that waited is answered.
func TestLimits(t *testing.T) {
	sum := sha256.Sum256([]byte(strings.Repeat("b", 32)))
	name := clientsFile(t, fmt.Sprintf(`"scopes":["read"]},{"name":"b","token-sha256":"%x","scopes":["read"]`, sum))
	s, h := start(t, Config{Clients: name, Running: 1, Waiting: 2, Each: 2})
	a, b := "Authorization: Bearer "+token, "Authorization: Bearer "+strings.Repeat("b", 32)
	// Two requests of a are inside while their bodies are not.
	var writers []*io.PipeWriter
	var answers []<-chan int
	slow := func(bearer string) {
		w, status := begin(t, s, h.Client(), h.URL, bearer)
		writers, answers = append(writers, w), append(answers, status)
	}
	slow(a)
	slow(a)
	if got := ask(t, h, "version", `{}`, a); got.status != 429 || got.header.Get("Retry-After") == "" {
		t.Errorf("a third request of a client: %d %v", got.status, got.header)
	}
	slow(b)
	if got := ask(t, h, "version", `{}`, b); got.status != 503 || got.header.Get("Retry-After") == "" {
		t.Errorf("a fourth request: %d %v", got.status, got.header)
	}
	for _, w := range writers {
		_, _ = io.WriteString(w, "{}")
		w.Close()
	}
	for _, status := range answers {
		if got := <-status; got != 200 {
			t.Errorf("a request that was inside: %d", got)
		}
	}
	if got := ask(t, h, "version", `{}`, a); got.status != 200 {
		t.Errorf("afterwards: %d", got.status)
	}
}

// TestSlowBody: a body that does not come in time is 408.
func TestSlowBody(t *testing.T) {
	_, h := start(t, Config{Body: time.Millisecond})
	c, err := net.Dial("tcp", h.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /v1/version HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{")
	line := make([]byte, 12)
	if _, err := io.ReadFull(c, line); err != nil || string(line) != "HTTP/1.1 408" {
		t.Errorf("%q, %v", line, err)
	}
}

// TestTimeLimit: a question that takes longer than the server allows is 408, and one that waits that
// long for its turn 503.
func TestTimeLimit(t *testing.T) {
	s, h := start(t, Config{Time: 50 * time.Millisecond, Running: 1})
	long := `{"plan":{"neighbors":"substitute","steps":[{"mechanism":{"gaussian":{"noise-multiplier":4}},"sampling":{"without-replacement":{"population":1000,"batch":10}},"count":1000}]},"points":10000}`
	if a := ask(t, h, "curve", long); a.status != 408 || a.err.Kind != "timeout" {
		t.Errorf("%d %s", a.status, a.body)
	}
	leave, _ := s.reads.enter("somebody")
	done, err := s.reads.start(t.Context(), "somebody")
	if err != nil {
		t.Fatal(err)
	}
	if a := ask(t, h, "version", `{}`); a.status != 503 || a.header.Get("Retry-After") == "" {
		t.Errorf("%d %s", a.status, a.body)
	}
	done()
	leave()
	if a := ask(t, h, "version", `{}`); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestEnd: when it is told to end, a server answers what it has, takes nothing more, and returns nil.
func TestEnd(t *testing.T) {
	s, addr, end, served := serve(t, Config{Addr: "127.0.0.1:0"})
	w, status := begin(t, s, http.DefaultClient, "http://"+addr.String())
	end()
	for !s.ending.Load() {
		time.Sleep(time.Millisecond)
	}
	if s.ready(t.Context()) {
		t.Error("ready while it ends")
	}
	select {
	case err := <-served:
		t.Fatalf("ended with a request inside: %v", err)
	default:
	}
	_, _ = io.WriteString(w, "{}")
	w.Close()
	if got := <-status; got != 200 {
		t.Errorf("the request that was inside: %d", got)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", addr.String()); err == nil {
		t.Error("listens still")
	}
}

// TestOverspend: sixteen clients that spend at once, through two servers of one folder, get exactly what
// the budget has, and repeated requests get nothing more.
func TestOverspend(t *testing.T) {
	dir := t.TempDir()
	budget(t, dir, "x.ledger")
	_, one := start(t, Config{Ledgers: dir})
	_, two := start(t, Config{Ledgers: dir})
	const clients, each, fit = 16, 4, 20 // 64 spends of 0.049, of which 20 fit
	plan := strings.Replace(halfPlan, "0.5", "0.049", 1)
	var mu sync.Mutex
	var all sync.WaitGroup
	count := map[string]int{}
	for c := range clients {
		all.Go(func() {
			for n := range each {
				body := fmt.Sprintf(`{"ledger":"x.ledger","plan":%s,"key":"%d-%d"}`, plan, c, n)
				for _, h := range []*httptest.Server{one, two} { // the second time repeats the first
					a := ask(t, h, "ledger-spend", body)
					for a.status == 503 {
						a = ask(t, h, "ledger-spend", body)
					}
					mu.Lock()
					count[fmt.Sprint(a.status, " ", strings.TrimSpace(a.body[:min(len(a.body), 30)]))]++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	if count[`200 {"spent":true}`] != fit || count[`200 {"spent":true,"again":true}`] != fit {
		t.Errorf("%v", count)
	}
	if st, err := ledger.Verify(t.Context(), ledger.File(filepath.Join(dir, "x.ledger")), ""); err != nil || st.Entries != fit {
		t.Errorf("%d entries, %v", st.Entries, err)
	}
}

// TestDescription: the description has every operation that the table offers and no other, with its
// keys, and refers to nothing that is not there.
func TestDescription(t *testing.T) {
	_, h := start(t, Config{Version: "1.2.3"})
	var d struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct {
					Schema struct{ Properties map[string]any }
				}
			}
		}
		Components map[string]map[string]any
	}
	text := send(t, h, "GET", "/openapi.json", "").body
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	found := 2 // health
	for _, o := range service.Operations() {
		post, ok := d.Paths["/v1/"+o.Name]["post"]
		if ok != (o.Scope != service.ScopeOwn) {
			t.Errorf("%s: %v", o.Name, ok)
		}
		if status := ask(t, h, o.Name, "{").status; (status != 404) != ok {
			t.Errorf("%s: status %d", o.Name, status)
		}
		if !ok {
			continue
		}
		found++
		keys := post.RequestBody.Content["application/json"].Schema.Properties
		if len(keys) != len(o.Keys)+1 { // and timeout
			t.Errorf("%s: keys %v", o.Name, keys)
		}
		for _, k := range o.Keys {
			if keys[k.Name] == nil {
				t.Errorf("%s: no key %s", o.Name, k.Name)
			}
		}
	}
	if found != len(d.Paths) {
		t.Errorf("%d paths, %d of the table", len(d.Paths), found)
	}
	for part := range strings.SplitSeq(text, `"$ref": "#/components/`) {
		ref, _, _ := strings.Cut(part, `"`)
		kind, name, ok := strings.Cut(ref, "/")
		if ok && !strings.Contains(ref, "\n") && d.Components[kind][name] == nil {
			t.Errorf("nothing is at %s", ref)
		}
	}
}
