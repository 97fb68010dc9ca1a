package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/profiles"
)

// A served is a running accountant serve --http.
type served struct {
	cmd *exec.Cmd
	url string
}

// serveFolder starts a server for a folder of ledgers.
func serveFolder(t *testing.T, program, dir string) served {
	t.Helper()
	cmd := exec.Command(program, "serve", "--http", "127.0.0.1:0", "--ledgers", dir)
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		var entry struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "listening" {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return served{cmd, "http://" + entry.Address}
		}
		t.Log(lines.Text())
	}
	t.Fatal("the server has not begun to listen: ", lines.Err())
	return served{}
}

const smallSpend = `{"ledger":"x.ledger","plan":{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":100}}}]},"key":%q}`

// post returns the status and the body of a spend, or an error if there was no answer.
func (s served) post(body string) (int, string, error) {
	resp, err := http.Post(s.url+"/v1/ledger-spend", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// TestServeHTTPKilled kills a server while clients spend from it, again and again. Clients repeat what
// was not answered with the same key: in the end each key is in the ledger once, and each that was
// reported before a kill still is.
func TestServeHTTPKilled(t *testing.T) {
	program, dir := linkedProgram(t), t.TempDir()
	path := filepath.Join(dir, "x.ledger")
	if _, err := ledger.Create(t.Context(), ledger.File(path), ledger.Config{Neighbors: profiles.AddRemove, Epsilon: 100, Delta: 1e-5, Mode: ledger.Adaptive}); err != nil {
		t.Fatal(err)
	}
	const kills, clients = 10, 4
	rng := rand.New(rand.NewPCG(5, 6))
	next := make([]int, clients) // the number of each client's next key
	repeated := 0
	for round := range kills + 1 {
		s := serveFolder(t, program, dir)
		var all sync.WaitGroup
		var mu sync.Mutex
		granted, until := 0, 3+rng.IntN(20)
		wait := time.Duration(rng.IntN(2000)) * time.Microsecond
		last := round == kills
		for c := range clients {
			all.Go(func() {
				for n := 0; !last || n < 5; n++ {
					status, body, err := s.post(fmt.Sprintf(smallSpend, fmt.Sprintf("%d-%d", c, next[c])))
					if err != nil {
						return // killed: the key is tried again by the next server
					}
					if status != 200 {
						t.Errorf("%d %s", status, body)
						return
					}
					next[c]++
					mu.Lock()
					if strings.Contains(body, "again") {
						repeated++
					}
					if granted++; granted == until && !last {
						time.AfterFunc(wait, func() { _ = s.cmd.Process.Kill() })
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if last && runtime.GOOS == "windows" { // which has no SIGTERM
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
		} else if last {
			if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := s.cmd.Wait(); err != nil {
				t.Errorf("after SIGTERM: %v", err)
			}
		} else {
			_ = s.cmd.Wait()
		}
		times := map[string]int{}
		if _, err := ledger.Log(t.Context(), ledger.File(path), func(e ledger.Entry) { times[e.Key]++ }); err != nil {
			t.Fatal(err)
		}
		sum := 0
		for c, n := range next {
			sum += n
			for k := range n {
				if key := fmt.Sprintf("%d-%d", c, k); times[key] != 1 {
					t.Fatalf("round %d: the key %s, which was reported, is in the ledger %d times", round, key, times[key])
				}
			}
		}
		// A client has at most one spend that it does not know of.
		if len(times) < sum || len(times) > sum+clients || last && len(times) != sum {
			t.Fatalf("round %d: %d keys in the ledger, %d reported", round, len(times), sum)
		}
	}
	if _, err := ledger.Verify(t.Context(), ledger.File(path), ""); err != nil {
		t.Error(err)
	}
	t.Logf("%v spends reported, %d of them granted before their server was killed", next, repeated)
}

// TestServeHTTPUsage: what does not go together is refused before anything listens.
func TestServeHTTPUsage(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"serve", 2, "missing --stdio or --http"},
		{"serve --stdio --http 0", 2, "exclude each other"},
		{"serve --stdio --ledgers x", 2, "--ledgers is for --http"},
		{"serve --http 0 --ledgers no-such-folder", 1, "--ledgers: "},
		{"serve --http 0 --clients no-such-file", 1, "--clients: "},
		{"serve --http 0 --tls-cert x", 1, "--tls-cert: and --tls-key must be given together"},
		{"serve --http 0 --client-ca x", 1, "--tls-cert: and --tls-key must be given together"},
		{"serve --http 0 --running -1", 1, "--running: "},
		{"serve --http 0 --max-body 99999999", 1, "--max-body: "},
		{"serve --http 0.0.0.0:0", 1, "--clients or --client-ca is needed"},
	} {
		code, out, errs := command("", strings.Fields(c.args)...)
		if code != c.code || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%s: %d %s %s, want %s", c.args, code, out, errs, c.want)
		}
	}
	if code, out, errs := command("", "serve", "--openapi"); code != 0 || !json.Valid([]byte(out)) || errs != "" {
		t.Errorf("--openapi: %d %s", code, errs)
	}
}
