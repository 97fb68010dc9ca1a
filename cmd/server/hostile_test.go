package server

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSlowBodyOfAPage: a page that has no use for a body does not wait for one for ever.
func TestSlowBodyOfAPage(t *testing.T) {
	_, h := start(t, Config{Body: time.Millisecond})
	for _, page := range []string{"/healthz", "/readyz", "/openapi.json", "/metrics"} {
		c, err := net.Dial("tcp", h.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(20 * time.Second)) // without an end there is none
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{", page)
		r := bufio.NewReader(c)
		if _, err := r.ReadString('\n'); err != nil {
			t.Fatalf("%s: %v", page, err)
		}
		// The connection ends as well.
		if _, err = r.WriteTo(discard{}); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Errorf("%s: %v", page, err)
		}
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// TestPathsOfLinkedFolder: errors do not tell where a folder is that is given by a link, and are those of storage.
func TestPathsOfLinkedFolder(t *testing.T) {
	target, dir := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(target, dir); err != nil {
		t.Skip(err)
	}
	budget(t, dir, "a.ledger")
	if err := os.Symlink("a.ledger", filepath.Join(target, "b.ledger")); err != nil {
		t.Fatal(err)
	}
	locks, err := filepath.Glob(filepath.Join(target, "*lock*"))
	if err != nil || len(locks) != 1 {
		t.Fatal(locks, err)
	}
	if err := os.Remove(locks[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(locks[0], 0o700); err != nil {
		t.Fatal(err)
	}
	_, h := start(t, Config{Ledgers: dir})
	for _, name := range []string{"a.ledger", "b.ledger"} {
		got := ask(t, h, "ledger-spend", `{"ledger":"`+name+`","plan":`+halfPlan+`}`)
		if got.status != http.StatusInternalServerError || got.err.Kind != "storage" || strings.Contains(got.body, filepath.Base(filepath.Dir(locks[0]))+string(filepath.Separator)) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

// TestNoLedgers: a client with an empty list of ledgers is not one that may name all.
func TestNoLedgers(t *testing.T) {
	name := filepath.Join(t.TempDir(), "clients.json")
	text := `{"clients":[{"name":"a","token-sha256":"` + strings.Repeat("0", 64) + `","scopes":["read"],"ledgers":[]}]}`
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{Clients: name}); err == nil || !strings.Contains(err.Error(), "clients[0]: ledgers: is an empty list") {
		t.Error(err)
	}
}
