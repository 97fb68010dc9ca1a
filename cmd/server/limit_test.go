package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/profiles"
)

// slowQuestion takes seconds of a core, or what it may.
const slowQuestion = `{"plan":{"neighbors":"substitute","steps":[{"mechanism":{"gaussian":{"noise-multiplier":4}},"sampling":{"without-replacement":{"population":1000,"batch":10}},"count":1000}]},"points":10000}`

// TestStarved: while one client has 64 slow questions open, another one's spends are answered.
func TestStarved(t *testing.T) {
	slow.Test(t)
	dir := t.TempDir()
	if _, err := ledger.Create(t.Context(), ledger.File(filepath.Join(dir, "a.ledger")), ledger.Config{Neighbors: profiles.AddRemove, Epsilon: 1000, Mode: ledger.Planned}); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(strings.Repeat("b", 32)))
	name := clientsFile(t, fmt.Sprintf(`"scopes":["read"]},{"name":"b","token-sha256":"%x","scopes":["spend"]`, sum))
	s, h := start(t, Config{Clients: name, Ledgers: dir, Time: 30 * time.Second})
	ctx, stop := context.WithCancel(t.Context())
	var attack sync.WaitGroup
	for range 64 {
		attack.Go(func() {
			for ctx.Err() == nil {
				r, err := http.NewRequestWithContext(ctx, "POST", h.URL+"/v1/curve", strings.NewReader(slowQuestion))
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("Authorization", "Bearer "+token)
				r.Header.Set("Content-Type", "application/json")
				if answer, err := h.Client().Do(r); err == nil {
					answer.Body.Close()
				}
			}
		})
	}
	for s.reads.now().inside < 64 {
		time.Sleep(time.Millisecond)
	}
	var times []time.Duration
	for i := range 200 {
		began := time.Now()
		got := ask(t, h, "ledger-spend", fmt.Sprintf(`{"ledger":"a.ledger","key":"%d","plan":%s}`, i, halfPlan), "Authorization: Bearer "+strings.Repeat("b", 32))
		times = append(times, time.Since(began))
		if got.status != http.StatusOK {
			t.Errorf("%d %s", got.status, got.body)
			break
		}
		if times[i] > 10*time.Second {
			t.Errorf("a spend takes %v", times[i])
			break
		}
	}
	slices.Sort(times)
	if worst := times[len(times)*99/100]; worst > 2*time.Second {
		t.Errorf("99 of 100 spends take %v", worst)
	}
	t.Logf("half %v, 99 of 100 %v, longest %v", times[len(times)/2], times[len(times)*99/100], times[len(times)-1])
	stop()
	attack.Wait()
}

// TestLane: with any clients that come and go, no more requests are at work than may be, none of a client is more than its
// share, no place stays free for which somebody may wait, and of two clients that wait neither gets two turns in a row while
// they have as many at work.
func TestLane(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		places := 1 + rng.IntN(6)
		l := newLane("read", places, 1000, 30)
		var wait sync.WaitGroup
		for client := range 1 + rng.IntN(4) {
			for range rng.IntN(20) {
				name := fmt.Sprint(client)
				leave, p := l.enter(name)
				if p != nil {
					t.Fatal(p.err.Message)
				}
				patience := time.Duration(rng.IntN(3000)) * time.Microsecond
				work := time.Duration(rng.IntN(200)) * time.Microsecond
				wait.Go(func() {
					defer leave()
					ctx, stop := context.WithTimeout(t.Context(), patience)
					defer stop()
					done, err := l.start(ctx, name)
					if err != nil {
						if !errors.Is(err, context.DeadlineExceeded) {
							t.Error(err)
						}
						return
					}
					check(t, l)
					time.Sleep(work)
					check(t, l)
					done()
				})
			}
		}
		wait.Wait()
		if n := l.now(); n.inside != 0 || n.atWork != 0 || n.waiting != 0 || len(l.guests) != 0 {
			t.Fatalf("%+v is left, and %d clients", n, len(l.guests))
		}
	}
}

func check(t *testing.T, l *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.atWork > l.places {
		t.Errorf("%d at work of %d", l.atWork, l.places)
	}
	for name, g := range l.guests {
		if g.atWork > l.share || g.atWork < l.share && len(g.queue) > 0 && l.atWork < l.places {
			t.Errorf("%s has %d at work of %d and %d waiting, and %d of %d places are taken", name, g.atWork, l.share, len(g.queue), l.atWork, l.places)
		}
	}
}

// TestTurns: who has many requests waiting gets every second turn of two, not the first of all.
func TestTurns(t *testing.T) {
	l := newLane("read", 1, 100, 100)
	var mu sync.Mutex
	var order string
	var wait sync.WaitGroup
	enter := func(name string) {
		leave, p := l.enter(name)
		if p != nil {
			t.Fatal(p.err.Message)
		}
		waiting := l.now().waiting
		wait.Go(func() {
			defer leave()
			done, err := l.start(t.Context(), name)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			order += name
			mu.Unlock()
			done()
		})
		for l.now().waiting == waiting {
			runtime.Gosched()
		}
	}
	leave, _ := l.enter("x")
	done, err := l.start(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Split("aaaaaabbb", "") {
		enter(name)
	}
	done()
	leave()
	wait.Wait()
	if order != "abababaaa" && order != "bababaaaa" {
		t.Error(order)
	}
}

// TestMost: a client has no more memory and work than the server allows, whatever it asks for.
func TestMost(t *testing.T) {
	_, h := start(t, Config{Memory: 64, Work: 1e9})
	for _, c := range []struct {
		key    string
		status int
	}{
		{"", 200}, {`,"memory":64,"work":1e9`, 200}, {`,"memory":65`, 400}, {`,"memory":1e6`, 400}, {`,"work":1e15`, 400}, {`,"work":1000000001`, 400}, {`,"memory":0.5`, 400},
	} {
		got := ask(t, h, "epsilon", `{"plan":`+halfPlan+`,"delta":1e-6`+c.key+`}`)
		if got.status != c.status || got.status == 400 && (got.err.Field == "" || !strings.Contains(c.key, got.err.Field) || !strings.Contains(got.err.Message, " is not in [1, ")) {
			t.Errorf("%s: %d %s", c.key, got.status, got.body)
		}
	}
	for _, c := range []Config{{Memory: 31}, {Memory: 2e6}, {Work: 0.5}, {Work: 1e16}, {Connections: -1}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

// TestConnections: one address, or one user of this machine, has so many connections and no more, and gets new ones when
// others end.
func TestConnections(t *testing.T) {
	s, addr, end, served := serve(t, Config{Addr: "127.0.0.1:0", Connections: 3})
	alive := func(c net.Conn) bool {
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		fmt.Fprintf(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		line := make([]byte, 12)
		n, _ := c.Read(line)
		return string(line[:n]) == "HTTP/1.1 200"
	}
	var open []net.Conn
	for i := range 5 {
		c, err := net.Dial("tcp", addr.String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if got := alive(c); got != (i < 3) {
			t.Errorf("connection %d: %v", i, got)
		}
		open = append(open, c)
	}
	open[0].Close()
	for n := 3; n > 2; n, _ = s.connections.now() {
		time.Sleep(time.Millisecond)
	}
	c, err := net.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if !alive(c) {
		t.Error("no connection in the place of one that ended")
	}
	if _, n := s.connections.now(); n != 2 {
		t.Errorf("%d connections were turned away, want 2", n)
	}
	for _, c := range append(open, c) {
		c.Close()
	}
	end()
	if err := <-served; err != nil {
		t.Error(err)
	}
	// The server's goroutines note the end of their connections when they see it.
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		n, _ := s.connections.now()
		if n == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d connections are left", n)
		}
	}
	if len(s.connections.count) != 0 {
		t.Errorf("%v are counted without a connection", s.connections.count)
	}
}

// TestLocalUsers: where everybody of this machine may ask, its users are clients of their own.
func TestLocalUsers(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no system but Linux tells whose a connection is")
	}
	want := fmt.Sprintf(`"client":"local:%d"`, os.Getuid())
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		var log safeBuffer
		_, addr, end, served := serve(t, Config{Addr: address, Log: &log})
		transport := &http.Transport{}
		client := &http.Client{Transport: transport}
		answer, err := client.Post("http://"+addr.String()+"/v1/version", "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		transport.CloseIdleConnections()
		end()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if !strings.Contains(log.String(), want) {
			t.Errorf("%s: no %s in the log:\n%s", address, want, log.String())
		}
	}
}

// TestWaits: the metrics have who waits, and how long.
func TestWaits(t *testing.T) {
	s, h := start(t, Config{Running: 1})
	leave, _ := s.reads.enter("somebody")
	done, err := s.reads.start(t.Context(), "somebody")
	if err != nil {
		t.Fatal(err)
	}
	var asked sync.WaitGroup
	asked.Go(func() {
		if got := ask(t, h, "version", "{}"); got.status != 200 {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
	for s.reads.now().waiting == 0 {
		time.Sleep(time.Millisecond)
	}
	metrics := send(t, h, "GET", "/metrics", "").body
	for _, line := range []string{`accountant_requests_waiting{lane="read"} 1`, `accountant_requests_waiting{lane="spend"} 0`, `accountant_wait_seconds_count{lane="read"} 1`} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("no %s in\n%s", line, metrics)
		}
	}
	done()
	leave()
	asked.Wait()
	if metrics = send(t, h, "GET", "/metrics", "").body; !strings.Contains(metrics, `accountant_wait_seconds_count{lane="read"} 2`) {
		t.Error(metrics)
	}
}

// TestLoggedBytes: a ledger of few entries with long plans is not listed either, and the listing ends there.
func TestLoggedBytes(t *testing.T) {
	for _, c := range []struct {
		entries int
		ok      bool
	}{{31, true}, {33, false}} {
		listed := 0
		_, err := logged(t.Context(), "a.ledger", func(ledger.Entry) { listed++ }, func(ctx context.Context, _ string, each func(ledger.Entry)) (ledger.Config, error) {
			for range c.entries {
				each(ledger.Entry{Plan: strings.Repeat("x", 1<<20)})
			}
			return ledger.Config{}, ctx.Err()
		})
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "bytes of plans") || listed > 32 {
			t.Errorf("%d entries: %d listed, %v", c.entries, listed, err)
		}
	}
}
